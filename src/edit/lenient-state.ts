import { member, textOf, type Node } from '../desired/node.ts';
import {
  isMalformed,
  mayHoldReference,
  parseTemplate,
  type Reference,
} from '../desired/references.ts';
import { resolveSettings } from '../desired/resolve.ts';
import type { Target } from '../desired/target.ts';
import { looksLikeMask } from '../model/field.ts';
import { identityMember, identityOf, isMcpList, MCP_LISTS } from '../model/mcp.ts';
import type { Unknown } from '../model/plan.ts';
import type { ReferenceSource } from '../model/ports.ts';
import type { DesiredState } from '../model/state.ts';
import { isRecord, secretsIn, type Value } from '../model/value.ts';
import { entriesOf } from './pulled-mcp.ts';

/** What a file asks for, as far as it can be told for comparing it with what the service has. */
export interface LenientState {
  readonly desired: DesiredState;
  /** Mcp entries that hold a reference without a value. */
  readonly unknown: readonly Unknown[];
  /** Whether a text reads something that has no value, so that nothing is known of what it stands for. */
  readonly isUnset: (ref: string) => boolean;
}

/**
 * The desired state, where one reference without a value does not hide the whole of `mcp_config`, as it does for a plan: its
 * place is filled, so that the other members of its entry and the other entries can be compared. A reference that entries
 * are known by must have its value.
 */
export function lenientState(target: Target, source: ReferenceSource): LenientState {
  const desired = resolveSettings(target, source);
  const strict: LenientState = { desired, unknown: [], isUnset: () => false };
  const node = member(target.settings, 'mcp_config');
  if (node === undefined || desired.unresolved.every(({ field }) => field.name !== 'mcp_config'))
    return strict;
  const isMissing = (reference: Reference): boolean => valueOf(reference, source) === null;
  const isUnset = (text: string): boolean => referencesIn(text).some(isMissing);
  if (identities(node).some(isUnset)) return strict;
  const filled: ReferenceSource = {
    variable: (name) => usable(source.variable(name)) ?? `setpoint-unset-${name}`,
    file: (path) => {
      const file = source.file(path);
      return 'text' in file && usable(file.text) !== null ? file : { text: 'setpoint-unset' };
    },
  };
  const mcp = resolveSettings(target, filled).fields.find(
    ({ field }) => field.name === 'mcp_config',
  );
  if (mcp === undefined) return strict;
  return {
    desired: {
      ...desired,
      fields: [...desired.fields, mcp],
      unresolved: desired.unresolved.filter(({ field }) => field.name !== 'mcp_config'),
    },
    unknown: unsetEntries(mcp.value, isUnset),
    isUnset,
  };
}

function unsetEntries(config: Value, isUnset: (ref: string) => boolean): Unknown[] {
  if (!isRecord(config)) return [];
  return MCP_LISTS.flatMap((list) =>
    entriesOf(config[list]).flatMap((entry): Unknown[] => {
      const refs = secretsIn(entry).flatMap(({ ref }) => (ref !== null && isUnset(ref) ? ref : []));
      if (refs.length === 0) return [];
      const path = ['mcp_config', list, identityOf(list, entry).shown];
      const ref = [...new Set(refs)].join(', ');
      return [{ path, reason: 'a reference in it has no value', ref }];
    }),
  );
}

function identities(config: Node): string[] {
  if (config.kind !== 'map') return [];
  return [...config.members.values()].flatMap(({ key: list, node }) =>
    node.kind === 'list' && isMcpList(list)
      ? node.items.flatMap(
          (item) => textOf(item) ?? textOf(member(item, identityMember(list))) ?? [],
        )
      : [],
  );
}

function referencesIn(text: string): Reference[] {
  const parts = mayHoldReference(text) ? parseTemplate(text) : [];
  return isMalformed(parts) ? [] : parts.filter((part) => typeof part === 'object');
}

function valueOf(reference: Reference, source: ReferenceSource): string | null {
  if (reference.kind === 'env')
    return usable(source.variable(reference.name)) ?? reference.fallback;
  const file = source.file(reference.path);
  return 'text' in file ? usable(file.text) : null;
}

function usable(text: string | undefined): string | null {
  return text === undefined || text.trim() === '' || looksLikeMask(text) ? null : text;
}
