import type { ValueRecord } from '../../model/value.ts';
import { concealNative } from '../conceal-native.ts';

const TERMS = {
  dialect: 'agent-server',
  // The server answers headers in clear.
  secrets: new Set(['secrets', 'extra_headers', 'api_key', 'critic_api_key']),
} as const;

/** An answer with its secrets wrapped. */
export function conceal(record: ValueRecord): ValueRecord {
  return concealNative(record, TERMS);
}
