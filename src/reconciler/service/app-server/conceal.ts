import type { ValueRecord } from '../../model/value.ts';
import { concealNative } from '../conceal-native.ts';
import { TOKEN_NAMES } from './dialect.ts';

const TERMS = {
  dialect: 'app-server',
  // A flag reports whether a secret is stored.
  isSecret: (record: ValueRecord, name: string) => typeof record[`${name}_set`] === 'boolean',
  harmless: new Set([TOKEN_NAMES]),
} as const;

/** An answer with its secrets wrapped. */
export function conceal(record: ValueRecord): ValueRecord {
  return concealNative(record, TERMS);
}
