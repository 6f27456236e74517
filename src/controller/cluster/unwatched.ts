import type { SetpointError } from '../../reconciler/model/error.ts';
import { formatPath } from '../../reconciler/model/path.ts';
import { lineOf, textOfProblem } from '../watch/source.ts';

const FORBIDDEN: ReadonlySet<string> = new Set([
  'unauthorized',
  'forbidden',
  'origin-not-allowed',
  'policy-violated',
]);

/** The reason of an object that is not read: somebody has to mend it, or to allow it. */
export function stalledReason({ code }: { readonly code: string }): 'Forbidden' | 'Invalid' {
  return FORBIDDEN.has(code) ? 'Forbidden' : 'Invalid';
}

/** Why an object is not valid, in a sentence or two: the first place is a path in it, or a line of its ConfigMap. */
export function whyInvalid(problem: SetpointError): string {
  return textOfProblem(problem, (one) =>
    one.file.startsWith('SettingsTarget ') ? formatPath(one.path) : lineOf(one),
  );
}
