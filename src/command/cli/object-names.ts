import { usageError } from '../../reconciler/model/error.ts';
import { isObjectName } from '../../reconciler/kubernetes/names.ts';

/** A name that the API server would refuse is refused before it is printed. `before` is how its place begins. */
export function checkNames(
  names: { readonly namespace?: string | undefined; readonly secret?: string | undefined },
  before = '--',
): void {
  for (const one of ['namespace', 'secret'] as const) {
    const name = names[one];
    if (name === undefined || isObjectName(name)) continue;
    throw usageError(
      `${before}${one} takes a name of Kubernetes.`,
      'It has small letters, digits and - only, a letter or digit first and last.',
    );
  }
}
