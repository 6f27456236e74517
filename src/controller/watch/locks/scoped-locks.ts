import { usageError } from '../../../reconciler/model/error.ts';
import type { Locks } from './locks.ts';

const SCOPE = /^[a-z\d](?:[a-z\d.-]{0,38}[a-z\d])?$/;

/** The locks of one scope: those of the same name in another scope, or in none, are others. Throws a usage error if it is no name. */
export function scopedLocks(locks: Locks, scope: string): Locks {
  if (!SCOPE.test(scope))
    throw usageError(
      '--lock-scope takes a name of at most 40 small letters, digits, hyphens and dots.',
      'Name what the controller watches, such as team-a.',
    );
  return {
    take: (name) => locks.take(`${scope}/${name}`),
    close: () => locks.close(),
  };
}
