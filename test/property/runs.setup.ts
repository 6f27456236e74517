import fc from 'fast-check';
import { propertyRuns } from '../fixture/property-runs.ts';

const seed = process.env['SETPOINT_PROPERTY_SEED'];

// For every property that sets no number of its own.
fc.configureGlobal({
  numRuns: propertyRuns(100),
  ...(seed === undefined ? {} : { seed: Number(seed) }),
});
