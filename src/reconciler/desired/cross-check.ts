import {
  AGENT_PROFILES_FORM,
  COLLECTION_FORMS,
  CONNECTIONS_FORM,
  LLM_PROFILES_FORM,
  META_PROFILES_FORM,
  SECRETS_FORM,
} from '../model/collection-forms.ts';
import { NATIVE_SERVERS } from '../model/field.ts';
import { MCP_LISTS } from '../model/mcp.ts';
import { nativeNodes } from '../model/native-schema.ts';
import { memberFacts } from '../model/path-facts.ts';
import { formatPath, type Path } from '../model/path.ts';
import type { Warning } from '../model/error.ts';
import { isShowable } from '../model/secret-words.ts';
import type { BlockName, Blocks } from './blocks.ts';
import { moveFindings, movesByFormer, type Move } from './blocks/moved.ts';
import { incompleteNamed } from './blocks/transports.ts';
import { findBlockAndSettingDoubles, NAMED_SETTINGS } from './named-settings.ts';
import {
  isNull,
  listMembers,
  locate,
  member,
  findNode,
  readNodeText,
  type Member,
  type Node,
  type PlacedFinding,
} from './node.ts';
import {
  findReactivatedDefault,
  pointerPlace,
  profileFindings,
  twoWriters,
} from './active-profiles.ts';
import { mayHoldReference } from './references.ts';

/* What shows in a target as a whole alone, and in no block of a file: items that name each other. */

/** The blocks that these checks are about. */
const ALL_CHECKED: readonly BlockName[] = [
  ...COLLECTION_FORMS.map(({ block }) => block),
  ...NAMED_SETTINGS,
  'moved',
  'collections',
];

/** Reports whether an environment declares anything that these checks cover. */
export function changesCrossings(own: Blocks, shared: Blocks): boolean {
  const isIn = (blocks: Blocks): boolean =>
    ALL_CHECKED.some((block) => blocks[block] !== undefined);
  const { settings } = own;
  return (
    isIn(own) ||
    (settings !== undefined && (isIn(shared) || findNode(settings, NATIVE_SERVERS) !== undefined))
  );
}

/** Finds contradictions in a target. A name that it does not declare, although it declares others of the kind, is a warning. */
export function crossFindings(blocks: Blocks): PlacedFinding[] {
  return [
    ...unknownMentions(blocks).map((one) => findUnknownName(one, blocks)),
    ...twoWriters(blocks),
    ...profileFindings(blocks.llm_profiles),
    ...incompleteItems(blocks),
    ...findBlockAndSettingDoubles(blocks),
    ...incompleteNamed(blocks),
    ...moveFindings(blocks),
    ...findReactivatedDefault(blocks),
  ];
}

/** The names that a target does not declare, as a plan warns of them unless the service has them: each with the path that the item would have. */
export function findUndeclaredNames(blocks: Blocks): readonly Warning[] {
  return unknownMentions(blocks).map((one): Warning => {
    const { node, kind, path, name } = one;
    const { file, line } = locate(node.file, node.at);
    const message = `${formatPath(path)} (${file}:${line}): ${whyUnknown(one, blocks).message}`;
    return { code: 'unknown-name', message, path: [BLOCKS_OF[kind], name] };
  });
}

const BLOCKS_OF: Readonly<Record<Kind, string>> = {
  connection: CONNECTIONS_FORM.block,
  'LLM profile': LLM_PROFILES_FORM.block,
  'meta profile': META_PROFILES_FORM.block,
  'agent profile': AGENT_PROFILES_FORM.block,
  secret: SECRETS_FORM.block,
  'mcp server': 'mcp_servers',
};

type Kind =
  | 'connection'
  | 'LLM profile'
  | 'meta profile'
  | 'agent profile'
  | 'secret'
  | 'mcp server';

/** A place of the file that names an item of another block. */
interface Mention {
  readonly kind: Kind;
  readonly node: Node | undefined;
  readonly path: readonly string[];
}

function listMentions(blocks: Blocks): readonly Mention[] {
  const { llm_profiles: llms, meta_profiles: metas, agent_profiles: agents, active } = blocks;
  return [
    ...listMembers(llms).flatMap((one) =>
      mention('connection', one, LLM_PROFILES_FORM.block, 'connection'),
    ),
    ...listMembers(metas).flatMap((one) => [
      ...mention('LLM profile', one, META_PROFILES_FORM.block, 'classifier'),
      ...nodesListed(one.node, 'classes').map((entry, index): Mention => ({
        kind: 'LLM profile',
        node: member(entry, 'model'),
        path: [META_PROFILES_FORM.block, one.key, 'classes', String(index), 'model'],
      })),
    ]),
    ...listMembers(agents).flatMap((one) => [
      ...mention('LLM profile', one, AGENT_PROFILES_FORM.block, 'llm_profile'),
      ...mention('meta profile', one, AGENT_PROFILES_FORM.block, 'meta_profile'),
      ...mentions('mcp server', one, 'mcp_servers'),
      ...mentions('secret', one, 'secrets'),
    ]),
    ...(active === undefined ? [] : ACTIVE).map(([key, kind]): Mention => ({
      kind,
      node: member(active, key),
      path: ['active', key],
    })),
    ...ACTIVE.flatMap(([key, kind]): Mention[] => {
      const path = pointerPlace(blocks, key);
      if (path === null) return [];
      return [{ kind, node: findNode(blocks.settings, path), path: ['settings', ...path] }];
    }),
  ];
}

const ACTIVE = [
  ['llm_profile', 'LLM profile'],
  ['agent_profile', 'agent profile'],
  ['meta_profile', 'meta profile'],
] as const;

function mention(kind: Kind, { key, node }: Member, block: string, name: string): Mention[] {
  return [{ kind, node: member(node, name), path: [block, key, name] }];
}

function mentions(kind: Kind, { key, node }: Member, name: string): Mention[] {
  const block = AGENT_PROFILES_FORM.block;
  return nodesListed(node, name).map((item, index) => ({
    kind,
    node: item,
    path: [block, key, name, String(index)],
  }));
}

/** A server creates this agent profile automatically. */
const OF_THE_SERVER: Readonly<Partial<Record<Kind, string>>> = { 'agent profile': 'default' };

/** A mention of an item that the target does not declare. */
interface UnknownMention extends Mention {
  readonly node: Node;
  readonly name: string;
  /** The names of the kind that may be meant. */
  readonly declared: readonly string[];
  readonly moves: ReadonlyMap<string, Move>;
}

function unknownMentions(blocks: Blocks): readonly UnknownMention[] {
  const kinds = new Map<Kind, ReturnType<typeof collectDeclaredNames>>();
  const moves = movesByFormer(blocks.moved);
  return listMentions(blocks).flatMap((one): UnknownMention[] => {
    const { kind, node } = one;
    const name = readNodeText(node);
    if (node === undefined || name === undefined) return [];
    const names = kinds.get(kind) ?? collectDeclaredNames(kind, blocks);
    kinds.set(kind, names);
    const { isRemoved, shown } = names;
    if (isRemoved === null || isRemoved.get(name) === false) return [];
    const isMade = name === OF_THE_SERVER[kind] && isRemoved?.get(name) !== true;
    return mayHoldReference(name) || isMade ? [] : [{ ...one, node, name, declared: shown, moves }];
  });
}

function collectDeclaredNames(kind: Kind, blocks: Blocks) {
  const isRemoved = readDeclaredNames(kind, blocks);
  return {
    isRemoved,
    shown: [...(isRemoved?.keys() ?? [])].filter(isShowable),
  };
}

function findUnknownName(one: UnknownMention, blocks: Blocks): PlacedFinding {
  const { node, path, name, declared } = one;
  const { message, isGone } = whyUnknown(one, blocks);
  const { file, at } = node;
  const code = 'unknown-name';
  if (isGone) {
    const hint = 'Name an item that exists after the apply, or keep this one.';
    return { file, at, finding: { code, message, hint, path } };
  }
  const meant = file.suggestions.didYouMean(name, declared);
  const hint = meant === '' ? LEFT_SO : `${meant} ${LEFT_SO}`;
  return {
    file,
    at,
    finding: { severity: 'warning', code, message, hint, path },
  };
}

function whyUnknown({ kind, name, moves }: UnknownMention, blocks: Blocks) {
  const what = isShowable(name) ? `the ${kind} ${name}` : `a ${kind}`;
  const gone = findRemoval(BLOCKS_OF[kind], name, blocks, moves);
  return {
    message: `This names ${what}, which the file ${gone ?? 'does not declare'}.`,
    isGone: gone !== null,
  };
}

/** Describes how and where the file removes or renames an item, which invalidates this name; null if it does neither. */
function findRemoval(
  block: string,
  name: string,
  blocks: Blocks,
  moves: UnknownMention['moves'],
): string | null {
  const own = blocks[block as BlockName];
  const item = own === undefined ? undefined : findMemberByName(own, name);
  const at = (node: { readonly file: Node['file']; readonly at: number }): string => {
    const { file, line } = locate(node.file, node.at);
    return `${file}:${line}`;
  };
  if (item !== undefined)
    return isNull(item.node) ? `removes (${at({ file: item.keyFile, at: item.keyAt })})` : null;
  const move = moves.get(formatPath([block, name]));
  if (move === undefined) return null;
  return `renames to ${formatPath(move.to.path ?? [])} (${at(move.from.node)})`;
}

function findMemberByName(node: Node, name: string): Member | undefined {
  return node.kind === 'map' ? node.members.get(name) : undefined;
}

const LEFT_SO = 'If the server has it from elsewhere, leave it so.';

/** The names that a target declares of a kind, and whether it removes each; null if it declares none of that kind. */
function readDeclaredNames(kind: Kind, blocks: Blocks): ReadonlyMap<string, boolean> | null {
  switch (kind) {
    case 'connection':
      return listBlockNames(blocks.provider_connections);
    case 'LLM profile':
      return listBlockNames(blocks.llm_profiles);
    case 'meta profile':
      return listBlockNames(blocks.meta_profiles);
    case 'agent profile':
      return listBlockNames(blocks.agent_profiles);
    case 'secret':
      return listBlockNames(blocks.secrets);
    case 'mcp server':
      return listBlockNames(blocks.mcp_servers) ?? serverNames(blocks.settings);
  }
}

function listBlockNames(block: Node | undefined): ReadonlyMap<string, boolean> | null {
  if (block?.kind !== 'map') return null;
  return new Map(listMembers(block).map(({ key, node }) => [key, isNull(node)]));
}

/** The names of mcp servers in the settings; null if there are none, or one has no name and gets it from the server. */
function serverNames(settings: Node | undefined): ReadonlyMap<string, boolean> | null {
  const native = findNode(settings, ['agent_settings', 'mcp_config']);
  const lists = MCP_LISTS.map((list) => findNode(settings, ['mcp_config', list]));
  const entries = lists.flatMap((list) => (list?.kind === 'list' ? list.items : []));
  const names = entries.map((entry) => readNodeText(member(entry, 'name')));
  if (names.includes(undefined) || (native === undefined && entries.length === 0)) return null;
  const own = names.map((name = '') => [name, false] as const);
  return new Map([...(listBlockNames(native) ?? []), ...own]);
}

/** Finds items of a target that lack members, or have contradicting ones. An environment may add members that a base leaves out. */
function incompleteItems(blocks: Blocks): PlacedFinding[] {
  return [
    ...COLLECTION_FORMS.filter(isInstalled).flatMap(({ block }) =>
      listMembers(blocks[block]).flatMap((one) => sourceless(one, block)),
    ),
    ...listMembers(blocks.provider_connections).flatMap(keylessConnection),
    ...listMembers(blocks.meta_profiles).flatMap(incompleteMetaProfile),
    ...listMembers(blocks.agent_profiles).flatMap(incompleteAgentProfile),
  ];
}

function nodesListed(node: Node, name: string): readonly Node[] {
  const list = member(node, name);
  return list?.kind === 'list' ? list.items : [];
}

function createMentionFinding(
  { keyFile, keyAt, key }: Member,
  block: string,
  finding: Omit<PlacedFinding['finding'], 'path'>,
): PlacedFinding[] {
  return [{ file: keyFile, at: keyAt, finding: { ...finding, path: [block, key] } }];
}

/** A key may be stored already, so this is not an error; no server accepts a new connection without one. */
function keylessConnection(one: Member): PlacedFinding[] {
  const key = member(one.node, 'api_key');
  if (one.node.kind !== 'map' || (key !== undefined && !isNull(key))) return [];
  return createMentionFinding(one, CONNECTIONS_FORM.block, {
    severity: 'warning',
    code: 'missing-key',
    message: 'api_key is missing here: no server makes a new connection without one.',
    hint: 'Add api_key: ${env:API_KEY}. A connection that exists on the server keeps its key.',
  });
}

/** Reports whether the items of a collection are fetched from a source. */
function isInstalled({ block }: { readonly block: BlockName }): boolean {
  return memberFacts(memberFacts('File', block).type, 'source').shows === 'source';
}

function sourceless(one: Member, block: string): PlacedFinding[] {
  if (one.node.kind !== 'map' || member(one.node, 'source') !== undefined) return [];
  return createMentionFinding(one, block, {
    code: 'missing-key',
    message: 'source is missing here.',
    hint: 'Add source: where the server fetches it from, such as github:example/skills.',
  });
}

function incompleteMetaProfile(one: Member): PlacedFinding[] {
  if (one.node.kind !== 'map') return [];
  const block = META_PROFILES_FORM.block;
  if (member(one.node, 'classifier') === undefined)
    return createMentionFinding(one, block, {
      code: 'missing-key',
      message: 'classifier is missing here.',
      hint: 'Add classifier: the LLM profile that decides, by its name.',
    });
  const prompt = member(one.node, 'prompt_template');
  const hasPrompt = prompt !== undefined && !isNull(prompt);
  const hasClasses = nodesListed(one.node, 'classes').length > 0;
  if (!hasPrompt && !hasClasses)
    return createMentionFinding(one, block, {
      severity: 'warning',
      code: 'missing-key',
      message:
        'This has neither classes nor prompt_template: Agent Servers from 1.58 on refuse it.',
      hint: 'Add classes: which LLM profile takes which tasks.',
    });
  if (!hasPrompt || !hasClasses) return [];
  return createMentionFinding(one, block, {
    code: 'declared-twice',
    message: 'This has both classes and prompt_template, but a server accepts only one.',
    hint: 'Keep one of the two.',
  });
}

const OF_BOTH: ReadonlySet<string> = new Set(['agent_kind', 'mcp_servers', 'secrets']);

/** Members of the other kind of agent, and the LLM profile that one of kind openhands needs. */
function incompleteAgentProfile(one: Member): PlacedFinding[] {
  const { key, node } = one;
  if (node.kind !== 'map') return [];
  const block = AGENT_PROFILES_FORM.block;
  const isAcp = readNodeText(member(node, 'agent_kind')) === 'acp';
  const kind = isAcp ? 'acp' : 'openhands';
  const foreign = [...node.members.values()].filter(
    (inner) => !OF_BOTH.has(inner.key) && inner.key.startsWith('acp_') !== isAcp,
  );
  const findings = foreign.map(({ key: name, keyFile, keyAt }): PlacedFinding => ({
    file: keyFile,
    at: keyAt,
    finding: {
      code: 'unknown-key',
      message: `An agent of kind ${kind} has no ${name}.`,
      hint: `Remove it, or set agent_kind: ${isAcp ? 'openhands' : 'acp'}.`,
      path: [block, key, name],
    },
  }));
  findings.push(...findForeignCondenserMembers(one));
  if (isAcp || member(node, 'llm_profile') !== undefined) return findings;
  const missing = createMentionFinding(one, block, {
    code: 'missing-key',
    message: 'llm_profile is missing here.',
    hint: 'Add llm_profile: the LLM profile of the agent, by its name.',
  });
  return [...findings, ...missing];
}

/** Members that a condenser of the declared kind does not have: a server drops them. */
function findForeignCondenserMembers({ key, node }: Member): PlacedFinding[] {
  const condenser = member(node, 'condenser');
  const kind = readNodeText(member(condenser, 'condenser_kind'));
  if (condenser?.kind !== 'map' || kind === undefined) return [];
  const place = ['agent_settings', 'condenser'];
  const kindAt = (at: Path) => (at.at(-1) === 'condenser_kind' ? kind : undefined);
  return [...condenser.members.values()].flatMap(({ key: name, keyFile, keyAt }) => {
    const [all, own] = [undefined, kindAt].map((of) => nativeNodes(DIALECT, [...place, name], of));
    if (all?.length === 0 || own?.length !== 0) return [];
    const message = `A condenser of kind ${kind} has no ${name}: the server would drop it.`;
    const hint = 'Remove it, or choose another condenser_kind.';
    const path = [AGENT_PROFILES_FORM.block, key, 'condenser', name];
    return { file: keyFile, at: keyAt, finding: { code: 'unknown-key', message, hint, path } };
  });
}

/** The servers that have agent profiles. */
const DIALECT = 'agent-server';
