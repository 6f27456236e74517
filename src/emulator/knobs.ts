import type { EmulatorOptions } from './emulator-options.ts';
import {
  isSandboxOutcome,
  sandboxOutcomes,
  type SandboxOutcome,
} from './sandboxes/sandbox-outcome.ts';

/** The options that say how the service behaves, each with its value; what they mean is said at `EmulatorOptions`. */
export interface Knobs {
  readonly startMs: number;
  readonly becomes: SandboxOutcome;
  readonly maxRunning: number | undefined;
  readonly emptyLists: number;
  readonly pageSize: number;
  readonly requireIds: boolean;
  readonly runMs: number;
  /** Never empty: the default, then the others. */
  readonly specs: readonly [string, ...string[]];
}

const defaultSpecs = [
  'ghcr.io/example/agent-server:1.0-python',
  'ghcr.io/example/agent-server:1.0-node',
];
const most = 999_999_999;

/** The knobs of some options; throws an Error that names the option that does not fit. */
export function readKnobs(options: EmulatorOptions): Knobs {
  const { becomes = 'running', maxRunning, requireIds = false } = options;
  if (!isSandboxOutcome(becomes)) throw misfit('becomes', `one of ${sandboxOutcomes.join(', ')}`);
  const [spec, ...others] = options.specs ?? defaultSpecs;
  if (spec === undefined || [spec, ...others].includes(''))
    throw misfit('specs', 'ids, at least one');
  return {
    startMs: whole('startMs', options.startMs ?? 500, 0),
    becomes,
    maxRunning: maxRunning === undefined ? undefined : whole('maxRunning', maxRunning, 1),
    emptyLists: whole('emptyLists', options.emptyLists ?? 0, 0),
    pageSize: whole('pageSize', options.pageSize ?? 100, 1, 100),
    requireIds,
    runMs: whole('runMs', options.runMs ?? 2000, 0),
    specs: [spec, ...others],
  };
}

function whole(option: string, value: number, least: number, greatest = most): number {
  if (Number.isInteger(value) && value >= least && value <= greatest) return value;
  throw misfit(option, `a whole number from ${least} to ${greatest}`);
}

function misfit(option: string, wanted: string): Error {
  return new Error(`The embedded service's ${option} is not ${wanted}.`);
}
