import { usageError } from '../../reconciler/model/error.ts';
import { isObjectName } from '../../reconciler/kubernetes/names.ts';
import type { FlagValues } from './flag-table.ts';

/** A name that the API server would refuse is refused before it is printed. */
export function checkNames(flags: FlagValues<'--namespace' | '--secret'>): void {
  for (const flag of ['namespace', 'secret'] as const) {
    const name = flags[flag];
    if (name === undefined || isObjectName(name)) continue;
    throw usageError(
      `--${flag} takes a name of Kubernetes.`,
      'It has small letters, digits and - only, a letter or digit first and last.',
    );
  }
}
