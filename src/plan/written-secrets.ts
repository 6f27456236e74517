import type { WrittenSecret } from '../model/fingerprint.ts';
import { Secret } from '../model/secret.ts';
import type { DesiredState } from '../model/state.ts';
import type { ValueRecord } from '../model/value.ts';

/** The password fields that a record has written, each with what the file declares: null where it was cleared. */
export function writtenSecrets({ fields }: DesiredState, record: ValueRecord): WrittenSecret[] {
  return fields
    .filter(({ field }) => field.secret && field.name in record)
    .map(({ field, value }) => ({
      path: [field.name],
      value: value instanceof Secret ? value : null,
    }));
}
