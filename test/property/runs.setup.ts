import fc from 'fast-check';
import { propertyRuns } from '../fixture/property-runs.ts';

// SETPOINT_CI_SEED fixes the random runs and leaves the campaigns that number their seeds as they are.
const seed = process.env['SETPOINT_PROPERTY_SEED'] ?? process.env['SETPOINT_CI_SEED'];

// For every property that sets no number of its own.
fc.configureGlobal({
  numRuns: propertyRuns(100),
  ...(seed === undefined ? {} : { seed: Number(seed) }),
});
