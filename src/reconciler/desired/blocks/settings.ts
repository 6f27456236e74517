import {
  findNode,
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
import { mayHoldReference } from '../references.ts';
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
    ...duplicateMarketplaces(holder, path),
    ...findDoubtfulValues(holder, path),
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

/** Marketplaces that a list names again: a server refuses the list. */
function duplicateMarketplaces(holder: MapNode, path: FilePath): PlacedFinding[] {
  const list = member(member(holder, 'settings'), MARKETPLACES_FIELD);
  const names = new Set<string>();
  return (list?.kind === 'list' ? list.items : []).flatMap((entry, index) => {
    const named = member(entry, 'name');
    const name = readNodeText(named)?.trim() ?? '';
    if (named === undefined || name === '' || mayHoldReference(name)) return [];
    if (!names.has(name)) {
      names.add(name);
      return [];
    }
    return [
      createFindingForNode(named, {
        code: 'declared-twice',
        message: 'Another entry of the list has this name.',
        hint: 'Keep one of the two: a marketplace is identified by its name.',
        path: [...path, 'settings', MARKETPLACES_FIELD, String(index), 'name'],
      }),
    ];
  });
}

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

/* Values that have the right form, and with which something does not work. */

/** A value, each place below a block of the file where it may be (`*` is any item), and what is wrong with it; null if nothing is. */
interface Rule {
  readonly places: readonly FilePath[];
  readonly judge: (value: string) => readonly [message: string, hint: string] | null;
  /** Places that settle the matter if they are declared, too. A `*` is the item of the place itself. */
  readonly settledBy?: readonly FilePath[];
}

/** Models whose context is known to be too small for the agents of app-servers and Agent Servers, in tokens. Source: real servers. */
const SMALL_MODELS: ReadonlyMap<string, string> = new Map([
  ['gpt-4', '8,192'],
  ['openai/gpt-4', '8,192'],
  ['ollama/llama2', '4,096'],
]);

const RULES: readonly Rule[] = [
  {
    places: [
      ['settings', 'language'],
      ['settings', 'misc_settings', 'app_preferences', 'language'],
    ],
    judge: (value) =>
      namesLanguage(value)
        ? null
        : ['No language has this code.', 'Write a code such as en, de or zh-CN.'],
  },
  {
    // At its native place, empty text is refused.
    places: [['settings', 'llm_model']],
    judge: (value) =>
      value.trim() === ''
        ? [
            'Without a model, no agent of the server answers.',
            'Write the name of a model, or remove the key to leave it alone.',
          ]
        : null,
  },
  {
    places: [
      ['settings', 'llm_model'],
      ['settings', 'agent_settings', 'llm', 'model'],
      ['llm_profiles', '*', 'model'],
    ],
    settledBy: [
      ['settings', 'agent_settings', 'llm', 'max_input_tokens'],
      ['llm_profiles', '*', 'max_input_tokens'],
    ],
    judge: (value) => {
      const window = SMALL_MODELS.get(value);
      if (window === undefined) return null;
      return [
        `The context of this model has ${window} tokens, and app-servers and Agent Servers refuse less than 16,384.`,
        'Name a model with a larger context, or declare max_input_tokens of the llm.',
      ];
    },
  },
];

/** Warns of declared values with which something does not work. */
export function findDoubtfulValues(holder: MapNode, path: FilePath): PlacedFinding[] {
  return RULES.flatMap(({ places, judge, settledBy = [] }) =>
    places
      .flatMap((pattern) => expandPlace(holder, pattern))
      .flatMap((place): PlacedFinding[] => {
        const node = findNode(holder, place);
        if (node?.kind !== 'scalar' || typeof node.value !== 'string' || node.value.includes('${'))
          return [];
        const found = judge(node.value);
        const isSettled = settledBy.some(
          (other) =>
            other[0] === place[0] &&
            findNode(
              holder,
              other.map((name, index) => (name === '*' ? (place[index] ?? name) : name)),
            ) !== undefined,
        );
        if (found === null || isSettled) return [];
        const [message, hint] = found;
        return [
          createFindingForNode(node, {
            severity: 'warning',
            code: 'doubtful-value',
            message,
            hint,
            path: [...path, ...place],
          }),
        ];
      }),
  );
}

/** The places of a pattern: `*` stands for each member that is there. */
function expandPlace(holder: MapNode, pattern: FilePath): readonly FilePath[] {
  const at = pattern.indexOf('*');
  if (at === -1) return [pattern];
  const items = findNode(holder, pattern.slice(0, at));
  return items?.kind === 'map'
    ? [...items.members.keys()].map((name) => pattern.with(at, name))
    : [];
}

/** The codes that the user interface of the servers offers. To ask `Intl` takes longer than everything else that validate does. */
const OFFERED = new Set('en ja zh-CN zh-TW ko-KR no ar de fr it pt es ca tr uk'.split(' '));

/** Reports whether text is a code of a language, such as `en` or `zh-CN`. Empty text clears a setting. */
function namesLanguage(code: string): boolean {
  if (code === '' || OFFERED.has(code)) return true;
  try {
    const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
    return names.of(code) !== undefined;
  } catch {
    return false; // It does not have the form of one.
  }
}
