import { fieldNamed, isFlag } from '../model/field.ts';
import type { ObservedState } from '../model/state.ts';
import { isList, isRecord, recordOf, type Value, type ValueRecord } from '../model/value.ts';
import { holdsMask } from './holds-mask.ts';
import { mergedEntry } from './mcp-entry.ts';

/**
 * The body of a write. The service's POST replaces the whole record, so the body is what was read, with the declared fields
 * laid over it. Flags and the loaded secrets_store are never sent back; a password field is sent only when it is laid over,
 * because what a load answers for it is not its value.
 */
export function recordToStore(
  observed: ObservedState,
  overlay: ReadonlyMap<string, Value>,
): ValueRecord {
  const carried = Object.entries(observed.record).filter(
    ([name, value]) => isCarried(name) && !overlay.has(name) && !hidesSecret(name, value),
  );
  const values = carried.map(
    ([name, value]) => [name, name === 'mcp_config' ? carriedMcp(value) : value] as const,
  );
  return recordOf([...values, ...overlay]);
}

/** A field of a later version whose secret comes back as a mask: the mask is not its value. */
function hidesSecret(name: string, value: Value): boolean {
  return fieldNamed(name) === undefined && holdsMask(value);
}

/** Whether a member of an answer is sent back as it was read. */
export function isCarried(name: string): boolean {
  const field = fieldNamed(name);
  return field === undefined ? !isFlag(name) : field.readable;
}

/** The config as it was read, without what is a mask. */
function carriedMcp(config: Value): Value {
  if (!isRecord(config)) return config;
  const members = Object.entries(config).map(
    ([name, value]) =>
      [
        name,
        isList(value)
          ? value.map((entry) => (isRecord(entry) ? mergedEntry({}, entry) : entry))
          : value,
      ] as const,
  );
  return recordOf(members);
}
