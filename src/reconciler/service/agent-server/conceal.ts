import type { ValueRecord } from '../../model/value.ts';
import { concealNative } from '../conceal-native.ts';

/** An answer with its secrets wrapped. */
export function conceal(record: ValueRecord): ValueRecord {
  return concealNative(record, { dialect: 'agent-server' });
}
