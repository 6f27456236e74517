import {
  type CollectionForm,
  isSecretItemMember,
  secondName,
  toMemberPath,
  secretLeaves,
  untoldLeaf,
  type DesiredItem,
  type Leaf,
} from '../../model/collection.ts';
import {
  COLLECTION_FORMS,
  SECRETS_FORM,
  type CollectionBlock,
} from '../../model/collection-forms.ts';
import { type Source, samePath, type Path } from '../../model/path.ts';
import {
  locate,
  member,
  readNodeText,
  type MapNode,
  type Node,
  type PlacedFinding,
  type Member,
} from '../node.ts';
import {
  createFindingForNode,
  type Block,
  type FilePath,
  isPlainWord,
  type Resolve,
} from './block.ts';
import { NATIVE_SERVERS } from '../../model/field.ts';
import { MARKETPLACES_FIELD, nativeTextKind } from './settings.ts';
import { Secret } from '../../model/secret.ts';
import { createRecord, type Value, type ValueRecord } from '../../model/value.ts';

/* The blocks that declare by name what a service keeps beside its settings. What they hold is a matter of the schema. */

/** The blocks whose items are collections, in the order of writing: each follows from its form. */
export function createCollectionBlocks(): readonly Block<CollectionBlock>[] {
  return COLLECTION_FORMS.map((form) => {
    const block = createNamedBlock(form);
    return form.block === SECRETS_FORM.block ? { ...block, ...OF_SECRETS } : block;
  });
}

/** The treatment of items that the file does not name. */
export const collections: Block<'collections'> = {
  name: 'collections',
  pulled: false,
  isQuotable: (value) => /^(["']?)(keep|remove)\1$/.test(value),
};

const NONE: ReadonlyMap<string, Source> = new Map();

/** The blocks that name all that a service may have, each with the place of that declaration. */
export function findExhaustiveBlocks(node: Node | undefined): ReadonlyMap<string, Source> {
  if (node?.kind !== 'map') return NONE;
  const found = [...node.members.values()].flatMap(({ key, node: inner }): [string, Source][] => {
    const others = member(inner, 'others');
    return others === undefined || readNodeText(others) !== 'remove'
      ? []
      : [[key, locate(others.file, others.at)]];
  });
  return new Map(found);
}

/** A block that declares the items of a collection by name. */
function createNamedBlock(form: CollectionForm<CollectionBlock>): Block<CollectionBlock> {
  const { block, naming } = form;
  const isSecret = ([name, ...inner]: FilePath): boolean =>
    name !== undefined &&
    (inner.length > 0
      ? isSecretItemMember(form, inner)
      : form.main !== undefined && isSecretItemMember(form, [form.main]));
  return {
    name: block,
    pulled: true,
    textKind: (path) => (path.length === 0 ? 'plain' : isSecret(path) ? 'secret' : 'text'),
    items: createItemReader(form),
    check: (holder, path) => namesAlike(block, holder, path),
    ...(naming === undefined ? {} : { keyForm: () => naming }),
  };
}

/** The keys of a block that differ in upper and lower case alone: not every server distinguishes such names. */
function namesAlike(block: string, holder: MapNode, path: FilePath): PlacedFinding[] {
  const named = member(holder, block);
  if (named?.kind !== 'map') return [];
  const seen = new Map<string, string>();
  return [...named.members.values()].flatMap(({ key, node }) => {
    const first = seen.get(key.toLowerCase());
    seen.set(key.toLowerCase(), key);
    if (first === undefined) return [];
    return [
      createFindingForNode(node, {
        code: 'declared-twice',
        message: `${first} and ${key} differ in upper and lower case alone.`,
        hint: 'Keep one of them.',
        path: [...path, block, key],
      }),
    ];
  });
}

const OF_SECRETS: Omit<Partial<Block>, 'name'> = {
  textKind: ([name, key]) =>
    name !== undefined && (key === undefined || key === 'value') ? 'secret' : 'plain',
  check: (holder, path) => clashingNames({ holder, path }),
  keyForm: ([, ...inner]) =>
    inner.length > 0
      ? ['A secret has no such member.', 'It has value and description.']
      : [
          'Invalid secret name: not every server accepts it.',
          'Use at most 64 letters, digits and _, and begin with a letter.',
        ],
};

interface SecretHolder {
  readonly holder: MapNode;
  readonly path: FilePath;
}

/** Names that cannot both be stored. For an environment, also those above it. */
export function clashingNames(own: SecretHolder, above?: Node): PlacedFinding[] {
  const block = member(own.holder, 'secrets');
  if (block?.kind !== 'map') return [];
  const mine = [...block.members.values()];
  const others = above?.kind === 'map' ? [...above.members.values()] : mine;
  const names = new Names(
    others.filter(({ key }) => above === undefined || !block.members.has(key)),
  );
  return mine.flatMap((one) => {
    const { key, keyFile, keyAt } = one;
    const message = names.findClash(one);
    if (message === null) return [];
    const finding = {
      code: 'declared-twice',
      message,
      hint: 'Keep one of them.',
      path: [...own.path, 'secrets', key],
    } as const;
    return [{ file: keyFile, at: keyAt, finding }];
  });
}

/** Names of secrets by what clashes with them. */
class Names {
  readonly #keys: ReadonlySet<string>;
  readonly #bySecond: ReadonlyMap<string, string>;
  /** Two of each, as one is not like itself. */
  readonly #alike = new Map<string, readonly string[]>();

  constructor(members: readonly Member[]) {
    this.#keys = new Set(members.map(({ key }) => key));
    this.#bySecond = new Map(members.map(({ key }) => [secondName(key), key]));
    for (const one of members) {
      const low = one.key.toLowerCase();
      const alike = this.#alike.get(low) ?? [];
      if (!isRemoved(one) && alike.length < 2) this.#alike.set(low, [...alike, one.key]);
    }
  }

  findClash(one: Member): string | null {
    const { key } = one;
    const second = secondName(key);
    const waiting = this.#keys.has(second) ? second : this.#bySecond.get(key);
    if (waiting !== undefined)
      return `${key} and ${waiting}: a value waits under one of these names when that of the other is rotated.`;
    // Some servers distinguish such names, and the programs that run there may not.
    const alike = this.#alike.get(key.toLowerCase())?.find((other) => other !== key);
    if (alike === undefined || isRemoved(one)) return null;
    return `${key} and ${alike} differ in upper and lower case alone.`;
  }
}

function isRemoved({ node }: Member): boolean {
  return node.kind === 'scalar' && node.value === null;
}

/*
 * Blocks that name what is kept inside the settings: they are another spelling of fields there, and are planned and written with the
 * settings.
 */

/** Where the settings of an Agent Server have a marketplace: what any server takes of one, that one takes. */
export const MARKETPLACE_PLACE = ['agent_settings', 'agent_context', MARKETPLACES_FIELD, '0'];

export const mcpServers: Block<'mcp_servers'> = {
  name: 'mcp_servers',
  pulled: true,
  ofSettings: true,
  textKind: (path) => (path.length < 2 ? 'plain' : nativeTextKind([...NATIVE_SERVERS, ...path])),
  check: (holder, path) => namesAlike('mcp_servers', holder, path),
  keyForm: ([, ...inner]) =>
    inner.length > 0
      ? ['This is not a valid key.', 'Write the name of a variable or header.']
      : ['Invalid mcp server name.', 'Write one without a blank at either end.'],
};

export const marketplaces: Block<'marketplaces'> = {
  name: 'marketplaces',
  pulled: true,
  ofSettings: true,
  textKind: ([name, ...inner]) =>
    name === undefined || inner.length === 0
      ? 'plain'
      : nativeTextKind([...MARKETPLACE_PLACE, ...inner]),
  check: (holder, path) => namesAlike('marketplaces', holder, path),
  keyForm: () => [
    'Invalid marketplace name: not every server accepts it.',
    'Use letters, digits, _ and -, and begin with a letter.',
  ],
};

export const disabledSkills: Block<'disabled_skills'> = {
  name: 'disabled_skills',
  pulled: true,
  ofSettings: true,
  textKind: () => 'text',
  isQuotable: isPlainWord,
};

/** Returns a reader for the items that a block of a collection declares by name. */
function createItemReader(
  form: CollectionForm,
): (node: Node, resolve: Resolve) => readonly DesiredItem[] {
  return (node, resolve) =>
    node.kind === 'map'
      ? [...node.members.values()].map((one) => resolveNamedItem(form, one, resolve))
      : [];
}

/** `NAME: {MEMBER: VALUE}`, or `NAME: null` for one that is to be removed; `NAME: VALUE` stands for the main member alone. */
function resolveNamedItem(
  form: CollectionForm,
  { key: name, node, keyFile, keyAt }: Member,
  resolve: Resolve,
): DesiredItem {
  const at = (text: string, member: Path): Value => resolve(text, [form.block, name, ...member]);
  const members = resolveItemMembers(form, node, at);
  const values: readonly CollectionLeaf[] =
    members === null ? [{ member: [], value: null }] : ownLeaves(form, members);
  return {
    name,
    members,
    values: values.map(({ member, ...leaf }) => ({
      path: toMemberPath(form, name, member),
      ...leaf,
    })),
    source: locate(keyFile, keyAt),
  };
}

interface CollectionLeaf extends Leaf {
  readonly isText?: true;
}

/** The members that are rotated, or compared with what was last sent; of the others, text with references. */
function ownLeaves(form: CollectionForm, members: ValueRecord): readonly CollectionLeaf[] {
  const untold = untoldLeaf(form, members);
  const own = [...secretLeaves(form, members), ...(untold === null ? [] : [untold])];
  const isOwn = ({ member }: Leaf): boolean => own.some((leaf) => samePath(leaf.member, member));
  const texts = collectSecretLeaves([], members).filter((leaf) => !isOwn(leaf));
  return [...own, ...texts.map((leaf) => ({ ...leaf, isText: true }) as const)];
}

function collectSecretLeaves(member: Path, value: Value): readonly Leaf[] {
  if (value instanceof Secret) return [{ member, value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    collectSecretLeaves([...member, key], inner),
  );
}

function resolveItemMembers(
  form: CollectionForm,
  node: Node,
  resolve: Resolve,
): ValueRecord | null {
  if (node.kind === 'map')
    return createRecord(
      [...node.members.values()].map(({ key, node: inner }) => [
        key,
        resolveMemberValue(form, [key], inner, resolve),
      ]),
    );
  const { main } = form;
  if (main === undefined || (node.kind === 'scalar' && node.value === null)) return null;
  return createRecord({ [main]: resolveMemberValue(form, [main], node, resolve) });
}

function resolveMemberValue(
  form: CollectionForm,
  member: Path,
  node: Node,
  resolve: Resolve,
): Value {
  if (node.kind === 'list')
    return node.items.map((item, index) =>
      resolveMemberValue(form, [...member, String(index)], item, resolve),
    );
  if (node.kind === 'map')
    return createRecord(
      [...node.members.values()].map(({ key, node: inner }) => [
        key,
        resolveMemberValue(form, [...member, key], inner, resolve),
      ]),
    );
  if (typeof node.value !== 'string') return node.value;
  const value = resolve(node.value, member);
  return typeof value === 'string' && isSecretItemMember(form, member) ? new Secret(value) : value;
}
