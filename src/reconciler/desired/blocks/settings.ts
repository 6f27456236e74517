import {
  member,
  type MapNode,
  type Node,
  type PlacedFinding,
  plainValue,
  readNodeText,
} from '../node.ts';
import {
  createFindingForNode,
  type FilePath,
  type Block,
  type TextKind,
  isNumberOrWord,
  isPlainAddress,
  isPlainWord,
} from './block.ts';
import { findTransportFaults } from './transports.ts';
import { fieldNamed, NATIVE_PARTS, NATIVE_SERVERS } from '../../model/field.ts';
import { bareUrl } from '../../model/address.ts';
import { identityMember, MCP_LISTS, type McpList } from '../../model/mcp.ts';
import { isSecretNode } from '../../model/native-schema.ts';
import { isSensitiveName } from '../../model/secret-words.ts';
import { isList, isRecord, createRecord, type Value } from '../../model/value.ts';
import { envPairs, splitShellLine } from '../lines.ts';
import {
  findExpectation,
  isNamedKey,
  settingsNodes,
  takesText,
  isReferenceNode,
} from '../schema-lookup.ts';

export const settings: Block<'settings'> = {
  name: 'settings',
  pulled: true,
  textKind,
  check: (holder, path) => [
    ...notSettable(holder, path),
    ...duplicateEntries(holder, path),
    ...findTransportFaults(holder, path),
  ],
  isQuotable: isQuotableSetting,
  textForm,
  data: normalizeMcpEntries,
};

function textKind([name, ...rest]: FilePath): TextKind {
  if (name === undefined) return 'plain';
  if (name === 'secrets_store') return 'secret';
  if (name === 'mcp_config') return entryTextKind(rest);
  if (NATIVE_PARTS.has(name)) return nativeTextKind([name, ...rest]);
  const field = fieldNamed(name);
  if (field === undefined) return isSensitiveName(name) ? 'secret' : 'text';
  if (field.secret) return 'secret';
  return field.type === 'string' ? 'text' : 'typed';
}

function entryTextKind([, , memberName = '', key, ...inner]: FilePath): TextKind {
  if (memberName === 'api_key') return 'secret';
  if (memberName === 'timeout') return 'typed';
  if (!OWN_MEMBERS.has(memberName))
    return nativeTextKind([
      ...NATIVE_SERVERS,
      '',
      memberName,
      ...(key === undefined ? [] : [key]),
      ...inner,
    ]);
  if (memberName === 'args' && key === undefined) return 'words';
  if (memberName !== 'env') return 'text';
  if (key === undefined) return 'pairs';
  return isSensitiveName(key) ? 'secret' : 'text';
}

/** Members of the entries of the specification; the others are those of a server under its name. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(['', 'name', 'url', 'command', 'args', 'env']);

/** Returns the meaning of text at a native path: the type that its place takes, and a secret under the name of one. */
export function nativeTextKind(path: FilePath): TextKind {
  const nodes = settingsNodes(path);
  // A member that no server has is reported by its key.
  if (nodes.length === 0) return 'text';
  if (isSecretNode(nodes)) return 'secret';
  if (isSensitiveName(path.at(-1) ?? '') && !isNamedKey(path)) return 'secret';
  return takesText(nodes) || nodes.every(isReferenceNode) ? 'text' : 'typed';
}

const QUOTABLE_MEMBERS: ReadonlySet<string> = new Set(['url', 'name', 'command', 'timeout']);

function isQuotableSetting(value: string, [name = '', list, index, memberName = 'url']: FilePath) {
  if (name !== 'mcp_config')
    return (fieldNamed(name)?.readable === true || NATIVE_PARTS.has(name)) && isNumberOrWord(value);
  if (index === undefined || !QUOTABLE_MEMBERS.has(memberName)) return false;
  if (memberName === 'timeout' || /^(null|~|\d{1,9})$/.test(value)) return isNumberOrWord(value);
  if (memberName === 'url') return list !== 'stdio_servers' && isPlainAddress(value);
  return isPlainWord(value);
}

function textForm(path: FilePath): readonly [string, string] | null {
  const [name = '', list, , memberName = 'url'] = path;
  if (NATIVE_PARTS.has(name)) {
    const { pattern } = findExpectation(['settings', ...path]);
    return pattern === null
      ? null
      : [
          `text of the form ${pattern}`,
          'Write it in this form, or remove the key to leave it alone.',
        ];
  }
  if (name !== 'mcp_config') return null;
  if (memberName === 'command') return ['one word', 'Put the arguments of the program into args.'];
  if (memberName === 'name')
    return ['made of letters, digits, _ and -', 'Remove the other characters.'];
  return memberName === 'url' && list !== 'stdio_servers'
    ? [
        'an address with http, https, ws or wss and a host',
        'Write it like https://mcp.example.com/mcp.',
      ]
    : null;
}

function notSettable(holder: MapNode, path: FilePath): PlacedFinding[] {
  const consent = member(member(holder, 'settings'), 'user_consents_to_analytics');
  if (consent?.kind !== 'scalar' || consent.value !== null || consent.bare) return [];
  return [
    createFindingForNode(consent, {
      code: 'bad-value',
      message: 'The service cannot set this back to null: it ignores a null.',
      hint: 'Write true or false, or remove the key to leave it alone.',
      path: [...path, 'settings', 'user_consents_to_analytics'],
    }),
  ];
}

function duplicateEntries(holder: MapNode, path: FilePath): PlacedFinding[] {
  const seen = new Map<string, Set<string>>();
  return listMcpEntries(holder, path).flatMap(({ list, entry, path: entryPath }) => {
    const key = identityMember(list);
    const known = member(entry, key) ?? entry;
    const text = readNodeText(known)?.trim() ?? '';
    const identity = key === 'name' ? text : bareUrl(text);
    if (identity === '') return [];
    const names = seen.get(`${list} ${identity}`) ?? new Set();
    seen.set(`${list} ${identity}`, names);
    // Servers at one address are distinguished by their names, if each has one.
    const name = readNodeText(member(entry, 'name'))?.trim() ?? '';
    const isOther = names.size === 0 || !(name === '' || names.has('') || names.has(name));
    names.add(name);
    if (isOther) return [];
    return [
      createFindingForNode(known, {
        code: 'declared-twice',
        message: `Another entry of the list has this ${key}.`,
        hint:
          key === 'name'
            ? 'Keep one of the two: an entry is identified by its name.'
            : 'Keep one of the two, or give each its own name. Without a name, an entry is identified by its url without userinfo, query and fragment.',
        path: known === entry ? entryPath : [...entryPath, key],
      }),
    ];
  });
}

export const MARKETPLACES_FIELD = 'registered_marketplaces';

/** The entries of the mcp lists. */
function listMcpEntries(
  holder: MapNode,
  path: FilePath,
): { readonly list: McpList; readonly entry: Node; readonly path: FilePath }[] {
  const mcp = member(member(holder, 'settings'), 'mcp_config');
  return MCP_LISTS.flatMap((list) => {
    const entries = member(mcp, list);
    return entries?.kind !== 'list'
      ? []
      : entries.items.map((entry, index) => ({
          list,
          entry,
          path: [...path, 'settings', 'mcp_config', list, String(index)],
        }));
  });
}

/** Mcp entries in the one form that is compared and sent, however the file writes them. */
function normalizeMcpEntries(node: Node): Value {
  const plain = plainValue(node);
  if (!isRecord(plain) || !isRecord(plain['mcp_config'])) return plain;
  const config = Object.entries(plain['mcp_config']).map(
    ([list, entries]) => [list, isList(entries) ? entries.map(entryData) : entries] as const,
  );
  return createRecord({ ...plain, mcp_config: createRecord(config) });
}

/** A bare url as a map, lines of arguments and variables as list and map, blanks around words dropped. */
function entryData(entry: Value): Value {
  if (typeof entry === 'string') return createRecord({ url: entry.trim() });
  if (!isRecord(entry)) return entry;
  return createRecord(
    Object.entries(entry).map(([name, value]) => [
      name,
      typeof value === 'string' ? (SPELLED_OUT.get(name)?.(value) ?? value) : value,
    ]),
  );
}

const trimText = (text: string): Value => text.trim();

const SPELLED_OUT: ReadonlyMap<string, (text: string) => Value> = new Map([
  ['url', trimText],
  ['name', trimText],
  ['command', trimText],
  ['args', splitShellLine],
  [
    'env',
    (line) => createRecord(envPairs(line).map(({ name, text }) => [name, text ?? ''] as const)),
  ],
]);
