import { usageError } from '../model/error.ts';
import type { Options } from './options.ts';

const READS = 8;
const READS_OF_MANY = 32;
/** From this number of environments on, the time is that of answers more than that of this machine. */
const MANY = 100;
const MOST = 999;

/** How many environments a command that only reads works on at a time. Throws a usage error if `parallel` is no such number. */
export function parallelReads(request: Pick<Options, 'parallel'>, environments: number): number {
  return checked(request) ?? (environments < MANY ? READS : READS_OF_MANY);
}

/** How many environments an apply works on at a time. A person is asked one thing at a time. */
export function parallelWrites(request: Pick<Options, 'parallel'>, asks: boolean): number {
  const parallel = checked(request) ?? 1;
  return asks ? 1 : parallel;
}

function checked({ parallel }: Pick<Options, 'parallel'>): number | undefined {
  if (parallel === undefined) return undefined;
  if (Number.isInteger(parallel) && parallel >= 1 && parallel <= MOST) return parallel;
  throw usageError(`--parallel takes a whole number from 1 to ${MOST}.`);
}
