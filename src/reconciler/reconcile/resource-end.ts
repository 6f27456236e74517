import { SetpointError } from '../model/error.ts';
import type { Result } from '../model/outcome.ts';
import type { Change } from '../model/plan.ts';
import type { ResourceEnd } from './contract.ts';

/** The end of two resources, the second written after the first. What was written of the first stays written. */
export function joinResourceEnds(
  first: ResourceEnd,
  second: ResourceEnd,
  isStopped: boolean,
): ResourceEnd {
  const { error } = second;
  const isPartial = first.status === 'applied' && second.status === 'failed' && error !== null;
  return {
    status: isPartial ? 'partial' : second.status === 'in-sync' ? first.status : second.status,
    results: new Map([...first.results, ...second.results]),
    started: new Map([...first.started, ...second.started]),
    remaining: [...first.remaining, ...second.remaining],
    unknown: [...first.unknown, ...second.unknown],
    warnings: [...first.warnings, ...second.warnings],
    error: first.error ?? (isPartial && !isStopped ? toPartialError(error) : error),
  };
}

/** The end of a resource for which nothing was sent: there was nothing to do, or one before it failed. */
export function createUnsentEnd(
  changes: readonly Change[],
  warnings: ResourceEnd['warnings'],
): ResourceEnd {
  return {
    status: 'in-sync',
    results: sameResult(changes, 'not-sent'),
    started: new Map(),
    remaining: [],
    unknown: [],
    warnings,
    error: null,
  };
}

/** The error of a run after another part was applied. */
export function toPartialError({ message, hint, cause }: SetpointError): SetpointError {
  return new SetpointError('applied-in-part', `Not everything was applied. ${message}`, {
    hint,
    cause,
  });
}

export function sameResult(
  changes: readonly Change[],
  result: Result,
): ReadonlyMap<Change, Result> {
  return new Map(changes.map((change) => [change, result]));
}
