import { member, plainValue, type Node } from '../desired/node.ts';
import { MCP_DEFAULTS } from '../model/mcp.ts';
import type { LeftAlone } from '../model/pulled.ts';
import { Secret } from '../model/secret.ts';
import { masked, type Json, type ValueRecord } from '../model/value.ts';
import { asWritten } from './as-written.ts';
import { isExpressible } from './is-expressible.ts';
import { isHidden } from './is-hidden.ts';
import { isObject } from './json-value.ts';
import { pulledArguments, pulledVariables } from './pulled-stdio.ts';
import { REASONS } from './reasons.ts';
import { settled, type Stub } from './stub.ts';
import { urlStub, type EntryPlace } from './written-entry.ts';

/** A declared mcp entry that differs, as the file will write it. */
export interface EntryPull {
  readonly value: Json;
  readonly stubs: readonly Stub[];
  readonly left: readonly LeftAlone[];
}

/** The entry with the members that differ brought in; what is a reference or a secret stays, and is said. */
export function pulledEntry(
  place: EntryPlace,
  node: Node,
  [declared, actual]: readonly [ValueRecord, ValueRecord],
  differing: readonly string[],
  overReferences: boolean,
): EntryPull {
  const written = masked(plainValue(node));
  const members = new Map(Object.entries(isObject(written) ? written : { url: written }));
  const stubs: Stub[] = [];
  const left: LeftAlone[] = [];
  const path = ['mcp_config', place.list, place.segment];
  for (const name of differing) {
    const found = actual[name] ?? MCP_DEFAULTS[place.list][name] ?? null;
    const stay = (reason: string, ref: string | null = null, inner: readonly string[] = []) =>
      left.push({ path: [...path, name, ...inner], reason, ref });
    if (name === 'args' || name === 'env') {
      const pull = name === 'args' ? pulledArguments : pulledVariables;
      const pulled = pull(
        place,
        member(node, name),
        declared[name] ?? null,
        actual,
        overReferences,
      );
      if (pulled === null) stay(REASONS.inexpressible);
      if (pulled !== null && pulled.value !== null) members.set(name, pulled.value);
      stubs.push(...(pulled?.stubs ?? []));
      for (const { key, ref } of pulled?.kept ?? [])
        stay(REASONS.reference, ref, key === null ? [] : [key]);
      continue;
    }
    const own = declared[name];
    const ref = own instanceof Secret ? own.ref : null;
    if (ref !== null && !overReferences) stay(REASONS.reference, ref);
    else if (found instanceof Secret && (name === 'api_key' || name === 'url') && overReferences) {
      const stub = found.isEmpty() ? null : urlStub(place, actual, name, found);
      members.set(name, stub?.written ?? null);
      stubs.push(...(stub === null ? [] : [stub]));
    } else {
      const known = name === 'name' || isHidden(found, place.hidden);
      const value = known ? null : asWritten(found);
      if (value !== null) members.set(name, value.written);
      else if (known) stay(name === 'name' ? REASONS.unlike : REASONS.tainted);
      else stay(name === 'api_key' ? REASONS.secret : REASONS.sensitive);
    }
  }
  const value = isObject(written) ? Object.fromEntries(members) : (members.get('url') ?? written);
  if (isExpressible({ mcp_config: { [place.list]: [settled(value, () => 'X')] } }))
    return { value, stubs, left };
  return { value: written, stubs: [], left: [{ path, reason: REASONS.inexpressible, ref: null }] };
}
