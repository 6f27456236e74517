import type { SetpointError } from '../../reconciler/model/error.ts';
import { OverLimit } from './declared.ts';
import { formatPath } from '../../reconciler/model/path.ts';
import { formatDiagnosticPlace, textOfProblem } from '../watch/source.ts';

const FORBIDDEN: ReadonlySet<string> = new Set([
  'unauthorized',
  'forbidden',
  'not-allowed',
  'policy-violated',
]);

/** The reason of an object that is not read until it is corrected, allowed, or has room. */
export function findStalledReason(problem: {
  readonly code: string;
}): 'Forbidden' | 'Invalid' | 'OverLimit' {
  if (problem instanceof OverLimit) return 'OverLimit';
  return FORBIDDEN.has(problem.code) ? 'Forbidden' : 'Invalid';
}

/** Returns why an object is not valid, in a sentence or two. The first place is a path in it, or in its ConfigMap. */
export function whyInvalid(problem: SetpointError): string {
  return textOfProblem(problem, (one) => {
    if (one.file.startsWith('SettingsTarget ')) return formatPath(['spec', ...one.path]);
    return one.path.length === 0
      ? formatDiagnosticPlace(one)
      : `${one.file}: ${formatPath(one.path)}`;
  });
}
