import { MARKETPLACES_FIELD } from '../desired/blocks/named-settings.ts';
import { member, type Node } from '../desired/node.ts';
import { entriesOf } from '../model/mcp.ts';
import type { Path } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import {
  isList,
  isRecord,
  recordOf,
  sameValue,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { refersIn } from './written-item.ts';
import type { Pulled, PullRules } from './mcp.ts';
import type { PullEdit } from './place-edits.ts';
import { REASONS, whyUnwritten } from './writable.ts';
import { openValue } from './written-deep.ts';

/** The members that a file declares of a marketplace, each with what it is by itself. */
const MEMBERS: readonly (readonly [string, Value])[] = [
  ['source', null],
  ['ref', null],
  ['repo_path', null],
  ['auto_load', false],
];

/** A list of marketplaces without what a server adds to each, and without defaults; any other value as it is. */
export function bareMarketplaces(path: Path, value: Value): Value {
  if (path.at(-1) !== MARKETPLACES_FIELD || !isList(value)) return value;
  return value.map((item) => {
    if (!isRecord(item)) return item;
    const own = MEMBERS.flatMap(([key, absent]): [string, Value][] => {
      const found = item[key] ?? absent;
      return sameValue(found, absent) ? [] : [[key, found]];
    });
    return recordOf([['name', item['name'] ?? null], ...own]);
  });
}

/** Every marketplace of the service by its name, and no others. */
export function pulledMarketplaces(
  change: Change,
  { node, value }: { readonly node: Node; readonly value: Value },
  actual: Value,
  { hidden }: PullRules,
): Pulled {
  const own = entriesOf(value);
  const there = entriesOf(actual);
  const edits: PullEdit[] = [];
  const left: Pulled['left'][number][] = [];
  for (const item of there) {
    const name = nameOf(item);
    const before = own.find((one) => nameOf(one) === name);
    for (const [key, absent] of MEMBERS) {
      const found = item[key] ?? absent;
      const isDefault = sameValue(found, absent);
      if (before === undefined ? isDefault : sameValue(found, before[key] ?? absent)) continue;
      const at = member(member(node, name), key);
      const written = openValue(found, [MARKETPLACES_FIELD, '0', key], hidden);
      const isReference = at !== undefined && refersIn(at);
      if (isReference || written === null) {
        const reason = isReference ? REASONS.reference : whyUnwritten(found, hidden);
        left.push({ path: [...change.path, name, key], reason, ref: null });
        continue;
      }
      const edit = { path: ['marketplaces', name, key], item: 2, ...written };
      edits.push(isDefault ? { ...edit, leaves: true } : edit);
    }
  }
  for (const name of own.map(nameOf).filter((one) => !there.some((it) => nameOf(it) === one)))
    edits.push({ path: ['marketplaces', name], value: null, placeholders: [], leaves: true });
  return { edits, made: edits.length > 0 ? [['change', change]] : [], left };
}

function nameOf({ name }: ValueRecord): string {
  return typeof name === 'string' ? name : '';
}
