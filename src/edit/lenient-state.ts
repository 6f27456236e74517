import { resolveSettings } from '../desired/resolve.ts';
import type { Target } from '../desired/target.ts';
import { entriesOf, identityOf, MCP_LISTS } from '../model/mcp.ts';
import type { Unknown } from '../model/plan.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { UnseenSecret } from '../model/secret.ts';
import type { DesiredState } from '../model/state.ts';
import { isRecord, secretsIn, type Value } from '../model/value.ts';

/** What a file declares, as far as it can be compared with what the service has. */
export interface LenientState {
  readonly desired: DesiredState;
  /** What cannot be compared at all, and is therefore not in `desired`. */
  readonly unknown: readonly Unknown[];
  /** Whether a text of the file reads something that has no value. */
  readonly isUnset: (ref: string) => boolean;
}

/**
 * The desired state for an edit of the file. If a reference without a value hides what an mcp entry is known by, `mcp_config` is
 * left out: which entry of the file to edit would be a guess.
 */
export function lenientState(target: Target, source: ReferenceSource): LenientState {
  const desired = resolveSettings(target, source);
  const unset = new Set(
    desired.fields
      .flatMap(({ value }) => secretsIn(value))
      .flatMap((secret) => (secret instanceof UnseenSecret ? (secret.ref ?? []) : [])),
  );
  const isUnset = (ref: string): boolean => unset.has(ref);
  const config = desired.fields.find(({ field }) => field.name === 'mcp_config')?.value;
  if (!hidesIdentity(config)) return { desired, unknown: [], isUnset };
  const fields = desired.fields.filter(({ field }) => field.name !== 'mcp_config');
  const unknown = desired.missing.filter(({ path }) => path[0] === 'mcp_config');
  return { desired: { ...desired, fields }, unknown, isUnset };
}

function hidesIdentity(config: Value | undefined): boolean {
  if (!isRecord(config)) return false;
  return MCP_LISTS.some((list) =>
    entriesOf(config[list]).some((entry) => identityOf(list, entry).key === null),
  );
}
