import type { Node } from './node.ts';
import { inBlock, type Block, type FilePath, type TextKind } from './blocks/block.ts';
import { inOwnBlock } from './secrets-store.ts';
import {
  active,
  agentProfiles,
  collections,
  gitProviders,
  llmProfiles,
  metaProfiles,
  plugins,
  providerConnections,
  skills,
  secrets,
  disabledSkills,
  marketplaces,
  mcpServers,
} from './blocks/collections.ts';
import { moved } from './blocks/moved.ts';
import { sandboxes } from './blocks/sandboxes.ts';
import { server } from './blocks/server.ts';
import { settings } from './blocks/settings.ts';
import { guards, kubernetes, labels, unmanaged } from './blocks/about.ts';
import { watch } from './blocks/watch.ts';

/** The blocks of settings.yaml, in the order in which documents list them: the one registration. */
export const BLOCKS = [
  labels,
  server,
  settings,
  secrets,
  skills,
  plugins,
  gitProviders,
  providerConnections,
  llmProfiles,
  metaProfiles,
  agentProfiles,
  active,
  collections,
  moved,
  mcpServers,
  marketplaces,
  disabledSkills,
  sandboxes,
  guards,
  watch,
  kubernetes,
  unmanaged,
] as const;
export type BlockName = (typeof BLOCKS)[number]['name'];

/** What a file, an environment or a target has of each block. */
export type Blocks = { readonly [Name in BlockName]: Node | undefined };

/** A value for each block. */
export function eachBlock(of: (block: Block<BlockName>) => Node | undefined): Blocks {
  return {
    labels: of(labels),
    server: of(server),
    settings: of(settings),
    secrets: of(secrets),
    skills: of(skills),
    plugins: of(plugins),
    git_providers: of(gitProviders),
    provider_connections: of(providerConnections),
    llm_profiles: of(llmProfiles),
    meta_profiles: of(metaProfiles),
    agent_profiles: of(agentProfiles),
    active: of(active),
    collections: of(collections),
    moved: of(moved),
    mcp_servers: of(mcpServers),
    marketplaces: of(marketplaces),
    disabled_skills: of(disabledSkills),
    sandboxes: of(sandboxes),
    guards: of(guards),
    watch: of(watch),
    kubernetes: of(kubernetes),
    unmanaged: of(unmanaged),
  };
}

export function isBlock(key: string): key is BlockName {
  return BLOCKS.some(({ name }) => name === key);
}

/** The parts of a file in which references have a meaning. */
export function partsWithReferences(blocks: Blocks): readonly (Node | undefined)[] {
  return REFERRING.map((name) => blocks[name]);
}

const REFERRING = BLOCKS.filter((block: Block) => block.textKind !== undefined).map(
  ({ name }) => name,
);

/** The block that a path of the file leads into, however it is spelled, and the path inside it; null for what no block holds. */
export function blockAt(path: FilePath): { readonly block: Block; readonly path: FilePath } | null {
  const [name, ...rest] = inOwnBlock(inBlock(path));
  const block = BLOCKS.find((one) => one.name === name);
  return block === undefined ? null : { block, path: rest };
}

/** What text means at a path of the file. */
export function textKindAt(path: FilePath): TextKind {
  const found = blockAt(path);
  return found?.block.textKind?.(found.path) ?? 'plain';
}
