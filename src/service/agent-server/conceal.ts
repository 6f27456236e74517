import type { ValueRecord } from '../../model/value.ts';
import { concealNative } from '../conceal-native.ts';
import { PLACES } from './dialect.ts';

const TERMS = {
  dialect: 'agent-server',
  // The server answers headers in clear.
  secrets: new Set(['secrets', 'extra_headers', 'api_key', 'critic_api_key']),
  places: PLACES,
} as const;

/** An answer with its secrets wrapped. */
export function conceal(record: ValueRecord): ValueRecord {
  return concealNative(record, TERMS);
}
