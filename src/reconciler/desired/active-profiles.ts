import {
  ACTIVE_FORM,
  AGENT_PROFILES_FORM,
  LLM_PROFILES_FORM,
  META_PROFILES_FORM,
} from '../model/collection-forms.ts';
import type { DesiredItem } from '../model/collection.ts';
import { ACTIVE_PROFILE, fieldsWithin, MODEL_PART } from '../model/field.ts';
import { findSchemaFaults, describeSchema } from '../model/json-schema.ts';
import { formatPath, isWithin, samePath, type Path } from '../model/path.ts';
import { Secret } from '../model/secret.ts';
import { isShowable } from '../model/secret-words.ts';
import type { DeclaredItem, DesiredField } from '../model/state.ts';
import { createRecord } from '../model/value.ts';
import type { Blocks } from './blocks.ts';
import {
  isNull,
  listMembers,
  member,
  findMember,
  plainValue,
  readNodeText,
  type MapNode,
  type Member,
  type Node,
  type PlacedFinding,
} from './node.ts';
import { mayHoldReference } from './references.ts';
import { settingsNodes, findSettingsSchema } from './schema-lookup.ts';

/* What profiles and settings have in common: the members of an llm, and the pointers to what is active. */

/** The pointer of the settings to the active profile of a kind, and the block of these profiles. */
interface Pointer {
  readonly kind: string;
  readonly path: Path;
  readonly block: keyof Blocks;
}

const POINTERS: readonly Pointer[] = [
  { kind: 'llm_profile', path: ACTIVE_PROFILE, block: LLM_PROFILES_FORM.block },
  { kind: 'meta_profile', path: ['active_meta_profile'], block: META_PROFILES_FORM.block },
];

/** The settings that activating a profile writes, by the kind of profile. Deactivation writes only the pointers. */
const ACTIVATION: Readonly<
  Record<string, { readonly pointers: readonly Path[]; readonly copies: readonly Path[] }>
> = {
  llm_profile: {
    pointers: [ACTIVE_PROFILE],
    copies: [MODEL_PART, ...fieldsWithin(MODEL_PART).map(({ path }) => path)],
  },
  meta_profile: {
    pointers: [
      ['active_meta_profile'],
      ['agent_settings', 'active_meta_profile'],
      ['agent_settings', 'enable_classify_and_switch_llm_tool'],
    ],
    copies: [['agent_settings', 'meta_profile']],
  },
  agent_profile: { pointers: [['active_agent_profile_id']], copies: [] },
};

/**
 * Reports whether a path of the settings is only written by the active items of these kinds, or is the pointer to the active item of a kind
 * of `left`, which is not declared.
 */
export function createCopyMatcher(
  kinds: readonly string[],
  left: readonly string[] = [],
): (path: Path) => boolean {
  const written = kinds.flatMap((kind) => {
    const { pointers = [], copies = [] } = ACTIVATION[kind] ?? {};
    return [...pointers, ...copies];
  });
  written.push(...POINTERS.flatMap(({ kind, path }) => (left.includes(kind) ? [path] : [])));
  return (path) => written.some((own) => isWithin(path, own));
}

/**
 * The declarations of a target item by item, and field by field, with a pointer of the settings in its place: next to the profiles that it
 * names, it is another spelling of `active`, since a profile can be made active only once it exists.
 */
export function addPointerItems(
  fields: readonly DesiredField[],
  items: ReadonlyMap<string, readonly DeclaredItem[]>,
  blocks: Blocks,
): {
  readonly fields: readonly DesiredField[];
  readonly items: ReadonlyMap<string, readonly DeclaredItem[]>;
} {
  const moved = POINTERS.flatMap(({ kind, path, block }) => {
    const field = managesBlock(blocks, block)
      ? fields.find((one) => samePath(one.field.path, path))
      : undefined;
    // The name in a reference is not known to what names profiles: it stays a setting.
    return field === undefined || field.value instanceof Secret ? [] : [{ kind, field }];
  });
  if (moved.length === 0) return { fields, items };
  const own = moved.map(({ kind, field }): DesiredItem => {
    const { value, source } = field;
    const members = value === null ? null : createRecord({ [ACTIVE_FORM.main]: value });
    return { name: kind, members, values: [], source: source() };
  });
  const gone = new Set(moved.map(({ field }) => field));
  const active = [...(items.get(ACTIVE_FORM.block) ?? []), ...own];
  return {
    fields: fields.filter((field) => !gone.has(field)),
    items: new Map([...items, [ACTIVE_FORM.block, active]]),
  };
}

/** Reports whether a file declares items of a block, or removes those that it does not name. */
function managesBlock({ collections, ...blocks }: Blocks, block: Pointer['block']): boolean {
  return (
    (block !== 'collections' && blocks[block] !== undefined) ||
    member(collections, block) !== undefined
  );
}

/** Returns the place in a target's settings that names the active profile of a kind, instead of `active`; null if they do not name one. */
export function pointerPlace({ active, settings }: Blocks, kind: string): Path | null {
  const path = POINTERS.find((one) => one.kind === kind)?.path;
  const isOwn = member(active, kind) !== undefined;
  if (isOwn || path === undefined || settings?.kind !== 'map') return null;
  return findMember(settings, path) === null ? null : path;
}

/** Finds double declarations of the active profile: by `active` or its pointer in the settings, and by fields that activation itself writes. */
export function twoWriters(blocks: Blocks): PlacedFinding[] {
  const { active, settings } = blocks;
  if (settings?.kind !== 'map') return [];
  const ofBlock = listMembers(active).map((one) => ({
    kind: one.key,
    path: [ACTIVE_FORM.block, one.key],
    member: one,
  }));
  const ofSettings = POINTERS.flatMap(({ kind, path, block }) => {
    const found = managesBlock(blocks, block) ? findMember(settings, path) : null;
    return found === null ? [] : [{ kind, path, member: found }];
  });
  return [...ofBlock, ...ofSettings].flatMap((one) => {
    const [own] = findActivationWrites(one.kind, one.member.node, settings).filter(
      ({ path }) => !samePath(path, one.path),
    );
    if (own === undefined) return [];
    const place = one.path[0] === ACTIVE_FORM.block ? one.path : ['settings', ...one.path];
    return [
      createOverlapFinding(one.member, place, formatPath(own.path)),
      createOverlapFinding(own.member, ['settings', ...own.path], formatPath(one.path)),
    ];
  });
}

function createOverlapFinding(
  { keyFile, keyAt }: Member,
  path: Path,
  other: string,
): PlacedFinding {
  const finding = {
    code: 'declared-twice',
    message: `This and ${other} set the same values: activating a profile replaces the values in the settings.`,
    hint: 'Keep one of the two.',
    path,
  } as const;
  return { file: keyFile, at: keyAt, finding };
}

/** Lists the declared settings of a target that making a profile active also writes. */
function findActivationWrites(
  kind: string,
  node: Node,
  settings: MapNode,
): { readonly path: Path; readonly member: Member }[] {
  const { pointers = [], copies = [] } = ACTIVATION[kind] ?? {};
  return [...pointers, ...(isNull(node) ? [] : copies)].flatMap((path) => {
    const found = findMember(settings, path);
    return found === null ? [] : [{ path, member: found }];
  });
}

/** No active agent profile next to a list of all of them, which makes one active. */
export function findReactivatedDefault({ active, collections }: Blocks): PlacedFinding[] {
  const { block } = AGENT_PROFILES_FORM;
  const pointer = active?.kind === 'map' ? active.members.get('agent_profile') : undefined;
  if (pointer === undefined || !isNull(pointer.node) || member(collections, block) === undefined)
    return [];
  const finding = {
    code: 'declared-twice',
    message: `collections.${block} reads the list of agent profiles, with which a server makes one active.`,
    hint: 'Name the agent profile that is to be active, or keep one of the two.',
    path: [ACTIVE_FORM.block, pointer.key],
  } as const;
  return [{ file: pointer.keyFile, at: pointer.keyAt, finding }];
}

/** Members of LLM profiles that no llm of a server has, or not in that form, and those that a connection brings. */
export function profileFindings(profiles: Node | undefined): PlacedFinding[] {
  const all = listMembers(profiles);
  return all.flatMap(({ key, node }) =>
    node.kind === 'map'
      ? [...node.members.values()].flatMap((one) => memberFindings(key, node, one))
      : [],
  );
}

const BY_CONNECTION: ReadonlySet<string> = new Set(['api_key', 'base_url']);

function memberFindings(profile: string, whole: MapNode, one: Member): PlacedFinding[] {
  const { key, node, keyFile, keyAt } = one;
  if (key === 'connection') return [];
  const path = [LLM_PROFILES_FORM.block, profile, key];
  const nodes = settingsNodes([...MODEL_PART, key]);
  if (nodes.length === 0 || key === 'provider_connection_id') {
    const name = isShowable(key) ? key : 'this member';
    return [
      {
        file: keyFile,
        at: keyAt,
        finding: {
          code: 'unknown-key',
          message: `An LLM profile has no ${name}.`,
          hint:
            key === 'provider_connection_id'
              ? 'Write connection: and the name of the provider connection.'
              : keyFile.suggestions.didYouMean(key, memberNames()) ||
                'Remove it, or check how it is spelled.',
          path,
        },
      },
    ];
  }
  const connection = member(whole, 'connection');
  if (BY_CONNECTION.has(key) && !isNull(node) && connection !== undefined && !isNull(connection))
    return [
      {
        file: keyFile,
        at: keyAt,
        finding: {
          code: 'declared-twice',
          message: `This profile has a connection, which has its own ${key}.`,
          hint: 'Keep one of the two.',
          path,
        },
      },
    ];
  const text = readNodeText(node);
  if (text !== undefined && mayHoldReference(text)) return [];
  const [, defs] = findSettingsSchema('agent_settings');
  const wrong = findSchemaFaults(plainValue(node), { anyOf: nodes }, defs, path);
  return wrong.slice(0, 1).map(({ expected }) => ({
    file: node.file,
    at: node.at,
    finding: {
      code: 'wrong-type',
      message: `${key} must be ${describeSchema(expected, defs)}.`,
      hint: 'Change the value, or remove the key: then it has its default.',
      path,
    },
  }));
}

function memberNames(): readonly string[] {
  return settingsNodes(MODEL_PART).flatMap(({ properties = {} }) => Object.keys(properties));
}
