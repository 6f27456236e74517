import {
  type Node,
  member,
  findMember,
  overlay,
  type MapNode,
  type Member,
  type PlacedFinding,
} from './node.ts';
import { inBlock, type Block, type FilePath, type TextKind } from './blocks/block.ts';
import {
  collections,
  createCollectionBlocks,
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
import { isUnmanaged, type Path } from '../model/path.ts';

/** The blocks of settings.yaml, in the order in which documents list them: the one registration. */
export const BLOCKS = [
  labels,
  server,
  settings,
  ...createCollectionBlocks(),
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

/** The node of each block in a file, an environment or a target. */
export type Blocks = { readonly [Name in BlockName]: Node | undefined };

/** A value for each block. */
export function eachBlock(of: (block: Block<BlockName>) => Node | undefined): Blocks {
  // A copy that has all names: an object that gets one after another takes several times as long, for each of thousands of environments.
  const blocks: { -readonly [Name in BlockName]: Node | undefined } = { ...NO_BLOCKS };
  for (const block of BLOCKS) {
    const node = of(block);
    if (node !== undefined) blocks[block.name] = node;
  }
  return blocks;
}

const NO_BLOCKS = Object.fromEntries(BLOCKS.map(({ name }) => [name, undefined])) as Blocks;

export function isBlockName(key: string): key is BlockName {
  return BLOCKS.some(({ name }) => name === key);
}

/** The parts of a file in which references have a meaning. */
export function partsWithReferences(blocks: Blocks): readonly (Node | undefined)[] {
  return REFERRING.map((name) => blocks[name]);
}

/** The names of these parts. */
export const REFERRING = BLOCKS.filter((block: Block) => block.textKind !== undefined).map(
  ({ name }) => name,
);

/** The block that a path of the file leads into, however it is spelled, and the path inside it; null for what no block holds. */
export function findBlock(
  path: FilePath,
): { readonly block: Block; readonly path: FilePath } | null {
  const [name, ...rest] = inOwnBlock(inBlock(path));
  const block = BLOCKS.find((one) => one.name === name);
  return block === undefined ? null : { block, path: rest };
}

/** Returns the meaning of text at a path of the file. */
export function findTextKind(path: FilePath): TextKind {
  const found = findBlock(path);
  return found?.block.textKind?.(found.path) ?? 'plain';
}

/** The blocks that the specification declares in `settings.secrets_store`, by its names for them there. */
const SPELLED = { provider_tokens: 'git_providers', custom_secrets: 'secrets' } as const;

const PLACES = Object.entries(SPELLED) as readonly (readonly [
  keyof typeof SPELLED,
  (typeof SPELLED)[keyof typeof SPELLED],
])[];

/** Returns the items of a block without those that the file lists as unmanaged by their name in the specification. */
export function excludeUnmanagedItems<T>(
  items: ReadonlyMap<string, T>,
  unmanaged: readonly Path[],
): ReadonlyMap<string, T> {
  const left = PLACES.filter(([place]) => isUnmanaged(unmanaged, ['secrets_store', place]));
  if (left.length === 0) return items;
  return new Map([...items].filter(([name]) => left.every(([, block]) => block !== name)));
}

/** The path, inside an environment or the top of the file, by which a block knows it that the specification spells in another way. */
export function inOwnBlock(path: FilePath): FilePath {
  const [block, field, place, ...rest] = path;
  if (block !== 'settings' || field !== 'secrets_store') return path;
  const own = PLACES.find(([name]) => name === place);
  return own === undefined ? path : [own[1], ...rest];
}

/** The path at which a file writes what is at a path of a block: the one that the specification has for it, if the file spells it so. */
export function createPathSpeller(root: Node | undefined): (path: FilePath) => FilePath {
  const spelled =
    root?.kind === 'map' && root.file.text.includes('secrets_store')
      ? PLACES.filter(
          ([place]) => listPlacesForPath(root, ['settings', 'secrets_store', place]).length > 0,
        )
      : [];
  return ([block = '', ...rest]) => {
    const own = spelled.find(([, name]) => name === block);
    return own === undefined ? [block, ...rest] : ['settings', 'secrets_store', own[0], ...rest];
  };
}

/** The blocks that a place of the specification stands for; null if there is no such place. */
export function listBlocksForPlace(path: FilePath): readonly string[] | null {
  const [block, field, ...rest] = path;
  return block === 'settings' && field === 'secrets_store' && rest.length === 0
    ? PLACES.map(([, name]) => name)
    : null;
}

/** Merges the blocks into one node, in the words of the specification; undefined if they declare nothing. */
export function mergeStoreBlocks(blocks: Partial<OwnBlocks>): Node | undefined {
  const members = PLACES.flatMap(([key, block]): [string, Member][] => {
    const node = blocks[block];
    return node === undefined ? [] : [[key, { key, keyFile: node.file, keyAt: node.at, node }]];
  });
  const [first] = members;
  if (first === undefined) return undefined;
  const { file, at, reported } = first[1].node;
  return { kind: 'map', file, at, reported, members: new Map(members) };
}

/** The blocks of a file or an environment, with what the specification spells under the settings where it belongs. */
export function withOwnBlocks<B extends OwnBlocks>(blocks: B): B {
  const { settings } = blocks;
  const store = member(settings, 'secrets_store');
  if (settings?.kind !== 'map' || store === undefined) return blocks;
  const members = new Map(settings.members);
  members.delete('secrets_store');
  const own = PLACES.map(
    ([place, block]) => [block, overlay(blocks[block], member(store, place))] as const,
  );
  return { ...blocks, ...Object.fromEntries(own), settings: { ...settings, members } };
}

type OwnBlocks = Readonly<Record<'settings' | (typeof PLACES)[number][1], Node | undefined>>;

/** Finds values that a file declares in both ways, at each place: two writers of one thing. */
export function findDoubleSpellings(root: MapNode): PlacedFinding[] {
  if (!root.file.text.includes('secrets_store')) return [];
  return PLACES.flatMap(([place, block]) => {
    const specified = ['settings', 'secrets_store', place];
    const [own, others] = [listPlacesForPath(root, [block]), listPlacesForPath(root, specified)];
    if (own.length === 0 || others.length === 0) return [];
    const found = ({ key, path }: PlacedKey, elsewhere: string): PlacedFinding => ({
      file: key.keyFile,
      at: key.keyAt,
      finding: {
        code: 'declared-twice',
        message: `This is ${elsewhere}, which the file declares too.`,
        hint: 'Keep one of the two: both name the same.',
        path,
      },
    });
    return [
      ...own.map((one) => found(one, specified.join('.'))),
      ...others.map((one) => found(one, block)),
    ];
  });
}

interface PlacedKey {
  readonly key: Member;
  readonly path: FilePath;
}

/** Lists the keys at a path at the top of a file, and in its environments. */
function listPlacesForPath(root: MapNode, path: FilePath): readonly PlacedKey[] {
  const environments = member(root, 'environments');
  const names = environments?.kind === 'map' ? [...environments.members.keys()] : [];
  return [[], ...names.map((name) => ['environments', name])].flatMap((holder) => {
    const key = findMember(root, [...holder, ...path]);
    return key === null ? [] : [{ key, path: [...holder, ...path] }];
  });
}
