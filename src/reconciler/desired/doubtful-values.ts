import { NATIVE_SERVERS } from '../model/field.ts';
import { MCP_LISTS } from '../model/mcp.ts';
import { findRepeats, KEYED_LISTS, toPlanPath } from '../model/keyed-lists.ts';
import { formatPath } from '../model/path.ts';
import { isRecord, type Value } from '../model/value.ts';
import { createFindingForNode, type FilePath } from './blocks/block.ts';
import {
  findNode,
  locate,
  member,
  plainValue,
  readNodeText,
  type MapNode,
  type PlacedFinding,
} from './node.ts';

/*
 * Values that have the right form, and with which something does not work: what servers refuse because of a rule of theirs, and what they store although
 * no agent works with it.
 */

/** Returns the value at a path from the map around a value, or from a map further up: 0 is the one around it. */
type FindNear = (up: number, ...path: readonly string[]) => Value | undefined;

/** A value, each place below a block of the file where it may be (`*` is any item), and what is wrong with it; null if nothing is. */
interface Rule {
  readonly places: readonly FilePath[];
  readonly judge: (value: Value, near: FindNear) => readonly [message: string, hint: string] | null;
  /** True if no server accepts the value: then it is an error. */
  readonly isRefused?: true;
}

/** Models whose context is known to be too small for the agents of app-servers and Agent Servers, in tokens. Source: real servers. */
const SMALL_MODELS: ReadonlyMap<Value, string> = new Map([
  ['gpt-4', '8,192'],
  ['openai/gpt-4', '8,192'],
  ['ollama/llama2', '4,096'],
]);

const AGENT = ['settings', 'agent_settings'];
const FILE_SECRETS = [...AGENT, 'acp_file_secrets', '*'];

const RULES: readonly Rule[] = [
  {
    places: [
      ['settings', 'language'],
      ['settings', 'misc_settings', 'app_preferences', 'language'],
    ],
    judge: (value) =>
      typeof value !== 'string' || namesLanguage(value)
        ? null
        : ['No language has this code.', 'Write a code such as en, de or zh-CN.'],
  },
  {
    // At its native place, empty text is refused.
    places: [['settings', 'llm_model']],
    judge: (value) =>
      typeof value === 'string' && value.trim() === ''
        ? [
            'Without a model, no agent of the server answers.',
            'Write the name of a model, or remove the key to leave it alone.',
          ]
        : null,
  },
  {
    places: [
      ['settings', 'llm_model'],
      [...AGENT, 'llm', 'model'],
      ['llm_profiles', '*', 'model'],
    ],
    judge: (value, near) => {
      const window = SMALL_MODELS.get(value);
      const declared =
        near(0, 'max_input_tokens') ?? near(0, 'agent_settings', 'llm', 'max_input_tokens');
      if (window === undefined || declared !== undefined) return null;
      return [
        `The context of this model has ${window} tokens, and app-servers and Agent Servers refuse less than 16,384.`,
        'Name a model with a larger context, or declare max_input_tokens of the llm.',
      ];
    },
  },
  {
    places: [[...AGENT, 'condenser', 'keep_first']],
    judge: (value, near) => {
      const most = near(0, 'max_size') ?? near(2, 'condenser_max_size') ?? USUAL_MAX_SIZE;
      if (typeof value !== 'number' || typeof most !== 'number') return null;
      if (value < Math.floor(most / 2) - 1) return null;
      return [
        `A history of ${most} events leaves no room beside this, and new conversations fail.`,
        'Keep it below half of max_size, less one.',
      ];
    },
  },
  {
    isRefused: true,
    places: [[...FILE_SECRETS, 'filename']],
    judge: (value) =>
      typeof value === 'string' && /[/\\]|^\.\.?$/.test(value)
        ? ['The name of this file has a path.', 'Write the name alone; subdir is its folder.']
        : null,
  },
  {
    isRefused: true,
    places: [[...FILE_SECRETS, 'subdir']],
    judge: (value) =>
      typeof value === 'string' && /^\/|^\s*\.?\s*$|(?:^|\/)\.\.(?:\/|$)/.test(value)
        ? ['This is not a folder below that of the agent.', 'Write a name such as codex.']
        : null,
  },
  {
    isRefused: true,
    places: [
      ['mcp_servers', '*', 'auth'],
      ['settings', ...NATIVE_SERVERS, '*', 'auth'],
      ...MCP_LISTS.map((list) => ['settings', 'mcp_config', list, '*', 'auth']),
    ],
    judge: (value, near) => {
      const headers = near(0, 'headers');
      const isSent = isRecord(value) && value['strategy'] !== 'none';
      if (!isSent || !isRecord(headers)) return null;
      const isTwice = Object.entries(headers).some(
        ([name, one]) => one !== null && /^authorization$/i.test(name),
      );
      return isTwice
        ? ['This server has auth and a header Authorization.', 'Keep one of the two.']
        : null;
    },
  },
];

/** The events that servers keep of a conversation if the settings have no number. */
const USUAL_MAX_SIZE = 240;

/** Finds declared values with which something does not work: errors if every server refuses them, else warnings. */
export function findDoubtfulValues(holder: MapNode, path: FilePath): PlacedFinding[] {
  return RULES.flatMap(({ places, judge, isRefused }) =>
    places
      .flatMap((pattern) => expandPlace(holder, pattern))
      .flatMap((place): PlacedFinding[] => {
        const node = findNode(holder, place);
        const value = node === undefined ? undefined : plainValue(node);
        if (node === undefined || value === undefined || isReferring(value)) return [];
        const found = judge(value, (up, ...inner) => {
          const near = findNode(holder, [...place.slice(0, place.length - 1 - up), ...inner]);
          return near === undefined ? undefined : plainValue(near);
        });
        if (found === null) return [];
        const [message, hint] = found;
        const code = isRefused === true ? ('bad-value' as const) : ('doubtful-value' as const);
        const severity = isRefused === true ? ('error' as const) : ('warning' as const);
        const finding = { severity, code, message, hint, path: [...path, ...place] };
        return [createFindingForNode(node, finding)];
      }),
  );
}

/** Finds entries of a list that are the same to a server. A plan judges those that a reference names. */
export function findRepeatedEntries(holder: MapNode, path: FilePath): PlacedFinding[] {
  return KEYED_LISTS.flatMap(({ place, key, noun, normalize }) =>
    expandPlace(holder, place).flatMap((at): PlacedFinding[] => {
      const list = findNode(holder, at);
      const named = (list?.kind === 'list' ? list.items : []).map((entry) => member(entry, key));
      const keys = named
        .map(readNodeText)
        .map((text = '') => (text === '' || isReferring(text) ? null : normalize(text)));
      return findRepeats(keys).flatMap(({ again, first }) => {
        const [own, other] = [named[again], named[first]];
        if (own === undefined || other === undefined) return [];
        const [entry, earlier] = [again, first].map((index) =>
          formatPath(toPlanPath([...at, String(index)])),
        );
        const { file, line } = locate(other.file, other.at);
        return [
          createFindingForNode(own, {
            code: 'declared-twice',
            message: `${entry} is the same ${noun} as ${earlier} (${file}:${line}).`,
            hint: `Keep one of the two: a server takes each ${noun} once.`,
            path: [...path, ...at, String(again), key],
          }),
        ];
      });
    }),
  );
}

function isReferring(value: Value): boolean {
  return typeof value === 'string' && value.includes('${');
}

/** The places of a pattern: `*` stands for each member or entry that is there. */
function expandPlace(holder: MapNode, pattern: FilePath): readonly FilePath[] {
  const at = pattern.indexOf('*');
  if (at === -1) return [pattern];
  const items = findNode(holder, pattern.slice(0, at));
  if (items === undefined || items.kind === 'scalar') return [];
  const keys = items.kind === 'list' ? items.items.keys() : items.members.keys();
  return [...keys].flatMap((key) => expandPlace(holder, pattern.with(at, String(key))));
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
