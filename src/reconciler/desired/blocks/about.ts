import { KEY_FORM, VALUE_FORM } from '../../model/selector.ts';
import {
  readNodeText,
  type Node,
  member,
  type MapNode,
  type PlacedFinding,
  type SourceFile,
} from '../node.ts';
import {
  type Block,
  isNumberOrWord,
  isPlainWord,
  createFindingForNode,
  type FilePath,
  isPlainPath,
} from './block.ts';
import { RULES, type GuardSettings, type Rule } from '../../model/guard.ts';
import {
  fieldAtNative,
  fieldNamed,
  fields,
  fieldsWithin,
  isNativePath,
  NATIVE_PARTS,
  NATIVE_SERVERS,
} from '../../model/field.ts';
import { bareUrl } from '../../model/address.ts';
import { identityMember, isMcpList, MCP_LISTS } from '../../model/mcp.ts';
import { formatPath, isWithin, parsePath, type Path } from '../../model/path.ts';
import type { SchemaLock } from '../../model/native-schema.ts';
import { mayHoldReference } from '../references.ts';
import { settingsNodes } from '../schema-lookup.ts';

export const labels: Block<'labels'> = {
  name: 'labels',
  pulled: false,
  isQuotable: (value) => isNumberOrWord(value) || isPlainWord(value),
  textForm: () => [
    `text of ${VALUE_FORM}`,
    'A letter or digit comes first and last; "" is also valid.',
  ],
  keyForm: () => ['This is not a valid key of a label.', `Write ${KEY_FORM}.`],
};

export const kubernetes: Block<'kubernetes'> = {
  name: 'kubernetes',
  pulled: false,
  isQuotable: isPlainWord,
  textForm: (path) =>
    path.at(-1) === 'key'
      ? ['a key of a Secret', 'It has letters, digits and -._ only.']
      : ['a name of Kubernetes', 'It has small letters, digits and - only.'],
  keyForm: () => ['Invalid reference.', 'Write it without ${ and }, as in env:LLM_API_KEY.'],
};

/** The labels of a target. */
export function readLabels(node: Node | undefined): ReadonlyMap<string, string> {
  if (node?.kind !== 'map') return new Map();
  return new Map(
    [...node.members.values()].map(({ key, node: value }) => [key, readNodeText(value) ?? '']),
  );
}

export const guards: Block<'guards'> = {
  name: 'guards',
  pulled: false,
  isQuotable: isNumberOrWord,
};

/** Rules that are on in every file, unless their name turns them off. */
const ALWAYS_ON: ReadonlySet<Rule> = new Set([
  'reset-agent',
  'secrets-gone',
  'remove-others',
  'shared-key',
]);

/** Rules that only their name turns on: what they want costs something. */
const BY_NAME: ReadonlySet<Rule> = new Set(['unproven']);

/** The guards that a block turns on: a rule by its name, or all by `protected` except those that are turned off by name. */
export function parseGuardBlock(node: Node | undefined): GuardSettings {
  return node === undefined ? WITHOUT_BLOCK : readGuards(node);
}

function readGuards(node: Node | undefined): GuardSettings {
  const flag = (key: string): boolean | undefined => {
    const value = member(node, key);
    return value?.kind === 'scalar' && typeof value.value === 'boolean' ? value.value : undefined;
  };
  const all = flag('protected') === true;
  const isOn = (rule: Rule): boolean =>
    flag(rule.replaceAll('-', '_')) ?? ((all && !BY_NAME.has(rule)) || ALWAYS_ON.has(rule));
  const maxChanges = member(node, 'max_changes');
  return {
    on: new Set(RULES.filter(isOn)),
    maxChanges:
      maxChanges?.kind === 'scalar' && typeof maxChanges.value === 'number'
        ? maxChanges.value
        : null,
    frozen: readNodeText(member(node, 'frozen')) ?? null,
  };
}

const WITHOUT_BLOCK = readGuards(undefined);

export const unmanaged: Block<'unmanaged'> = {
  name: 'unmanaged',
  pulled: true,
  check: findUnmanagedProblems,
  isQuotable: isPlainPath,
};

const NONE: readonly Path[] = [];

/** The paths that a target lists as unmanaged. */
export function readUnmanagedPaths(node: Node | undefined): readonly Path[] {
  if (node?.kind !== 'list') return NONE;
  return node.items.flatMap((item) => {
    const path = parsePath(readNodeText(item) ?? '');
    if (path === null) return [];
    return isNativePath(path) ? nativePaths(path) : [path];
  });
}

/** A native path, and the fields of the specification that are in that place. */
function nativePaths(path: Path): Path[] {
  const named = fieldsWithin(path).map(({ name }) => [name]);
  return fieldAtNative(path) === undefined ? [path, ...named] : named;
}

function findUnmanagedProblems(holder: MapNode, path: FilePath): PlacedFinding[] {
  const list = member(holder, 'unmanaged');
  if (list?.kind !== 'list') return [];
  return list.items.flatMap((item, index) => {
    const text = readNodeText(item);
    const hint = text === undefined ? null : problemOfPath(text, item.file);
    if (hint === null) return [];
    return [
      createFindingForNode(item, {
        code: 'unknown-key',
        message: 'This path leads to no field and no mcp entry.',
        hint,
        path: [...path, 'unmanaged', String(index)],
      }),
    ];
  });
}

const EXAMPLE = 'Write a field (language) or an mcp entry (mcp_config.sse_servers[https://x/sse]).';

function problemOfPath(text: string, { lock, suggestions }: SourceFile): string | null {
  const segments = parsePath(text);
  if (segments === null) return EXAMPLE;
  const [name = '', list, identity, ...rest] = segments;
  if (name === 'mcp_servers' && identity === undefined) return null;
  if (name === 'marketplaces')
    return list === undefined ? null : 'Write marketplaces: there is one list of them.';
  if (NATIVE_PARTS.has(name)) return problemOfNative(segments, lock, suggestions);
  if (fieldNamed(name) === undefined) {
    const names = [...fields().map((field) => field.name), ...NATIVE_PARTS];
    return suggestions.didYouMean(name, names) || EXAMPLE;
  }
  if (list === undefined) return null;
  if (name !== 'mcp_config') return EXAMPLE;
  if (!isMcpList(list)) return suggestions.didYouMean(list, MCP_LISTS) || EXAMPLE;
  if (identity === undefined) return null;
  if (rest.length > 0) return EXAMPLE;
  const known = identity.replace(/#\d+$/, '');
  const isUrl = identityMember(list) === 'url';
  return !isUrl || bareUrl(known) === known || mayHoldReference(known)
    ? null
    : 'Write the url without userinfo, query and fragment.';
}

function problemOfNative(
  path: Path,
  lock: SchemaLock | undefined,
  suggestions: SourceFile['suggestions'],
): string | null {
  if (isWithin(path, NATIVE_SERVERS) && path.length > NATIVE_SERVERS.length)
    return 'Write the entry of its list: mcp_config.shttp_servers[https://x/mcp].';
  const wrong = path.findIndex(
    (_, index) => settingsNodes(path.slice(0, index + 1), lock).length === 0,
  );
  if (wrong === -1) return null;
  const above = path.slice(0, wrong);
  const names = settingsNodes(above).flatMap(({ properties = {} }) => Object.keys(properties));
  const near = suggestions.suggest(path[wrong] ?? '', names);
  return near === null
    ? `Nothing else is under ${formatPath(above)}.`
    : `Did you mean ${formatPath([...above, near, ...path.slice(wrong + 1)])}?`;
}
