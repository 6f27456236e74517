import {
  ACTIVE_FORM,
  AGENT_PROFILES_FORM,
  CONNECTIONS_FORM,
  LLM_PROFILES_FORM,
  META_PROFILES_FORM,
  PLUGINS_FORM,
  SECRETS_FORM,
  SKILLS_FORM,
} from '../model/collection-forms.ts';
import { MCP_LISTS } from '../model/mcp.ts';
import { formatPath } from '../model/path.ts';
import type { Warning } from '../model/plan.ts';
import { isShowable } from '../model/secret-words.ts';
import { suggest } from '../model/wording.ts';
import type { BlockName, Blocks } from './blocks.ts';
import { moveFindings } from './blocks/moved.ts';
import { declaredBeside, incompleteNamed, NAMED_SETTINGS } from './named-settings.ts';
import {
  isNull,
  itemsIn,
  locate,
  member,
  nodeAt,
  textOf,
  type Member,
  type Node,
  type PlacedFinding,
} from './node.ts';
import { profileFindings, twoWriters } from './profiles.ts';
import { incompleteItems, nodesListed } from './incomplete-items.ts';
import { mayHoldReference } from './references.ts';

/* What shows in a target as a whole alone, and in no block of a file: items that name each other. */

/** The blocks that these checks are about. */
const CHECKED = [
  SECRETS_FORM,
  SKILLS_FORM,
  PLUGINS_FORM,
  CONNECTIONS_FORM,
  LLM_PROFILES_FORM,
  META_PROFILES_FORM,
  AGENT_PROFILES_FORM,
  ACTIVE_FORM,
].map(({ block }): BlockName => block);

const ALL_CHECKED: readonly BlockName[] = [...CHECKED, ...NAMED_SETTINGS, 'moved'];

/** Whether an environment declares something that these checks are about. */
export function changesCrossings(own: Blocks, shared: Blocks): boolean {
  const isIn = (blocks: Blocks): boolean =>
    ALL_CHECKED.some((block) => blocks[block] !== undefined);
  return isIn(own) || (own.settings !== undefined && isIn(shared));
}

/** What of a target does not go together. A name that it does not declare, although it declares others of the kind, is a warning. */
export function crossFindings(blocks: Blocks): PlacedFinding[] {
  return [
    ...mentionsIn(blocks).flatMap((one) => unknownName(one, blocks)),
    ...twoWriters(blocks),
    ...profileFindings(blocks.llm_profiles),
    ...incompleteItems(blocks),
    ...declaredBeside(blocks),
    ...incompleteNamed(blocks),
    ...moveFindings(blocks),
  ];
}

/** The names that a target does not declare, as a plan warns of them unless the service has them: each with the path that the item would have. */
export function unknownNames(blocks: Blocks): readonly Warning[] {
  return mentionsIn(blocks).flatMap((one): Warning[] => {
    const [found] = unknownName(one, blocks);
    const name = textOf(one.node);
    if (found === undefined || name === undefined) return [];
    const { file, line } = locate(found.file, found.at);
    const message = `${formatPath(one.path)} (${file}:${line}): ${found.finding.message}`;
    return [{ code: 'unknown-name', message, path: [BLOCKS_OF[one.kind], name] }];
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

function mentionsIn(blocks: Blocks): readonly Mention[] {
  const { llm_profiles: llms, meta_profiles: metas, agent_profiles: agents, active } = blocks;
  return [
    ...itemsIn(llms).flatMap((one) =>
      mention('connection', one, LLM_PROFILES_FORM.block, 'connection'),
    ),
    ...itemsIn(metas).flatMap((one) => [
      ...mention('LLM profile', one, META_PROFILES_FORM.block, 'classifier'),
      ...nodesListed(one.node, 'classes').map((entry, index): Mention => ({
        kind: 'LLM profile',
        node: member(entry, 'model'),
        path: [META_PROFILES_FORM.block, one.key, 'classes', String(index), 'model'],
      })),
    ]),
    ...itemsIn(agents).flatMap((one) => [
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

/** A server makes this agent profile by itself. */
const OF_THE_SERVER: Readonly<Partial<Record<Kind, string>>> = { 'agent profile': 'default' };

function unknownName({ kind, node, path }: Mention, blocks: Blocks): PlacedFinding[] {
  const name = textOf(node);
  const declared = declaredOf(kind, blocks);
  if (node === undefined || name === undefined || declared === null) return [];
  if (mayHoldReference(name) || name === OF_THE_SERVER[kind]) return [];
  const isRemoved = declared.get(name);
  if (isRemoved === false) return [];
  const near = suggest(name, [...declared.keys()].filter(isShowable));
  const what = isShowable(name) ? `the ${kind} ${name}` : `a ${kind}`;
  const finding = {
    severity: 'warning',
    code: 'unknown-name',
    message:
      isRemoved === true
        ? `This names ${what}, which the file removes.`
        : `This names ${what}, which the file does not declare.`,
    hint: near === null ? LEFT_SO : `Did you mean ${near}? ${LEFT_SO}`,
    path,
  } as const;
  return [{ file: node.file, at: node.at, finding }];
}

const LEFT_SO = 'If the server has it from elsewhere, leave it so.';

/** The names that a target declares of a kind, and whether it removes each; null if it declares none of that kind. */
function declaredOf(kind: Kind, blocks: Blocks): ReadonlyMap<string, boolean> | null {
  switch (kind) {
    case 'connection':
      return namesIn(blocks.provider_connections);
    case 'LLM profile':
      return namesIn(blocks.llm_profiles);
    case 'meta profile':
      return namesIn(blocks.meta_profiles);
    case 'agent profile':
      return namesIn(blocks.agent_profiles);
    case 'secret':
      return namesIn(blocks.secrets);
    case 'mcp server':
      return namesIn(blocks.mcp_servers) ?? serverNames(blocks.settings);
  }
}

function namesIn(block: Node | undefined): ReadonlyMap<string, boolean> | null {
  if (block?.kind !== 'map') return null;
  return new Map(itemsIn(block).map(({ key, node }) => [key, isNull(node)]));
}

/** The names of mcp servers in the settings; null if there are none, or one has no name, so that the server gives it one. */
function serverNames(settings: Node | undefined): ReadonlyMap<string, boolean> | null {
  const native = nodeAt(settings, ['agent_settings', 'mcp_config']);
  const lists = MCP_LISTS.map((list) => nodeAt(settings, ['mcp_config', list]));
  const entries = lists.flatMap((list) => (list?.kind === 'list' ? list.items : []));
  const names = entries.map((entry) => textOf(member(entry, 'name')));
  if (names.includes(undefined) || (native === undefined && entries.length === 0)) return null;
  const own = names.map((name = '') => [name, false] as const);
  return new Map([...(namesIn(native) ?? []), ...own]);
}
