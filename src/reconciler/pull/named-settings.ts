import type { Node } from '../desired/node.ts';
import { noneOf } from '../desired/named-settings.ts';
import type { Target } from '../desired/target.ts';
import { entriesOf, MCP_LISTS, segmentsIn } from '../model/mcp.ts';
import { formatPath, isWithin, samePath, type Path } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { DesiredField, DesiredState, ObservedState } from '../model/state.ts';
import { isList, isRecord, type Value } from '../model/value.ts';
import { nodesHere, shownHere } from '../plan/field-here.ts';
import { leftServers, pathsOfField } from '../plan/named-settings.ts';
import { refersIn } from './written-item.ts';
import { pulledMarketplaces } from './marketplaces.ts';
import { leaving, NOTHING_PULLED, type Adopted, type Pulled, type PullRules } from './mcp.ts';
import { joined, newServer, pulledServers } from './servers.ts';
import { REASONS, whyUnwritten } from './writable.ts';
import { openValue } from './written-deep.ts';

/* Blocks beside the settings that name what is kept inside them. */

/** The fields that blocks beside the settings declare, and those that the settings do. */
export function splitNamed(desired: DesiredState): {
  readonly own: DesiredState;
  readonly named: readonly DesiredField[];
} {
  const named = desired.fields.filter(({ block }) => block !== undefined);
  if (named.length === 0) return { own: desired, named };
  return {
    own: { ...desired, fields: desired.fields.filter((one) => !named.includes(one)) },
    named,
  };
}

/** Whether a path of a plan is of one of these fields. */
export function isOfNamed(path: Path, named: readonly DesiredField[]): boolean {
  return named.flatMap(pathsOfField).some((own) => samePath(own, path) || isWithin(path, own));
}

/** What the file gets of what blocks beside the settings declare. */
export function pulledNamed(
  target: Target,
  named: readonly DesiredField[],
  observed: ObservedState,
  rules: PullRules,
): Pulled {
  const parts = named.map((declared): Pulled => {
    const changes = rules.changes.filter(({ path }) => isOfNamed(path, [declared]));
    const [change] = changes;
    const name = declared.block?.name;
    // A file that names none declares all of them where it says that others go.
    const node = name === undefined ? undefined : (target[name] ?? noneOf(target.collections));
    if (change === undefined || node === undefined) return NOTHING_PULLED;
    const config = observed.values['mcp_config'] ?? null;
    if (name === 'mcp_servers')
      return pulledServers({ place: [name], node, value: declared.value }, config, rules);
    if (rules.excluded.has(formatPath(change.path))) return leaving(change, REASONS.unlike);
    if (nodesHere(change.path, observed).length === 0) return leaving(change, REASONS.unmanageable);
    const actual = shownHere(observed, change.path) ?? null;
    return name === 'disabled_skills'
      ? pulledSkills(change, node, actual, rules)
      : pulledMarketplaces(change, { node, value: declared.value }, actual, rules);
  });
  return joined(parts);
}

function pulledSkills(change: Change, node: Node, actual: Value, rules: PullRules): Pulled {
  const path = ['disabled_skills'];
  if (refersIn(node)) return leaving(change, REASONS.reference);
  const written = openValue(isList(actual) ? actual : [], path, rules.hidden);
  if (written === null) return leaving(change, whyUnwritten(actual, rules.hidden));
  return { edits: [{ path, ...written }], made: [['change', change]], left: [] };
}

/** The servers that a block of servers by name does not speak of, and that it is to name. */
export function adoptedServers(
  target: Target,
  desired: DesiredState,
  observed: ObservedState,
  adopt: 'all' | readonly Path[],
  { entryMembers, hidden }: PullRules,
): readonly (Adopted & { readonly path: Path })[] {
  const node = target.mcp_servers;
  const config = observed.values['mcp_config'];
  if (node === undefined || !isRecord(config)) return [];
  const wanted = leftServers(desired, observed).filter(
    (path) => adopt === 'all' || adopt.some((one) => samePath(one, path)),
  );
  return MCP_LISTS.flatMap((list) => {
    const entries = entriesOf(config[list]);
    const segments = segmentsIn(list, entries);
    return entries.flatMap((entry, index) => {
      const { name } = entry;
      const segment = segments[index] ?? '';
      const path = typeof name === 'string' ? ['mcp_servers', name] : ['mcp_config', list, segment];
      if (!wanted.some((one) => samePath(one, path))) return [];
      const members = entryMembers?.[list] ?? null;
      const observedEntry = { list, index, segment, entry, members, hidden };
      const written = newServer(observedEntry, { place: ['mcp_servers'], node });
      return written === null
        ? [{ path, edits: [], left: [{ path, reason: REASONS.inexpressible, ref: null }] }]
        : [{ path, edits: [written.edit], left: written.left }];
    });
  });
}

/** Whether what is to be adopted would be under the settings what a block beside them names. */
export function isBesideNamed([first = '']: Path, named: readonly DesiredField[]): boolean {
  const isServers = named.some(({ block }) => block?.name === 'mcp_servers');
  return isServers && (first === 'mcp_servers' || first === 'mcp_config');
}
