import type { CollectionForm } from '../../model/collection.ts';
import {
  ACTIVE_FORM,
  AGENT_PROFILES_FORM,
  CONNECTIONS_FORM,
  GIT_PROVIDERS_FORM,
  LLM_PROFILES_FORM,
  META_PROFILES_FORM,
  PLUGINS_FORM,
  SKILLS_FORM,
} from '../../model/collection-forms.ts';
import type { Source } from '../../model/path.ts';
import { namedItems } from '../items.ts';
import { locate, member, textOf, type MapNode, type Node, type PlacedFinding } from '../node.ts';
import { findingAt, type Block, type FilePath } from './block.ts';

/* The blocks that declare by name what a service keeps beside its settings. What they hold is a matter of the schema. */

const INSTALLED_NAME = [
  'This is no name of something that a server installs.',
  'Use the name that its source gives it: small letters and digits, with single - between.',
] as const;

export const skills = namedBlock(SKILLS_FORM, { keyForm: () => INSTALLED_NAME });

export const plugins = namedBlock(PLUGINS_FORM, { keyForm: () => INSTALLED_NAME });

export const gitProviders = namedBlock(GIT_PROVIDERS_FORM, {
  keyForm: () => [
    'No service knows this git provider.',
    'Use github, gitlab, bitbucket, bitbucket_data_center, forgejo, azure_devops or enterprise_sso.',
  ],
});

export const providerConnections = namedBlock(CONNECTIONS_FORM, {
  check: (holder, path) => namesAlike(CONNECTIONS_FORM.block, holder, path),
  keyForm: () => [
    'This is no name of a provider connection.',
    'Use 1 to 128 characters, and no blank at either end.',
  ],
});

const PROFILE_NAME = [
  'This is no name of a profile that every server takes.',
  'Use at most 64 letters, digits, ., _ and -, begin with a letter or digit, and do not end in .json.',
] as const;

export const llmProfiles = namedBlock(LLM_PROFILES_FORM, {
  check: (holder, path) => namesAlike(LLM_PROFILES_FORM.block, holder, path),
  keyForm: () => PROFILE_NAME,
});

export const metaProfiles = namedBlock(META_PROFILES_FORM, {
  check: (holder, path) => namesAlike(META_PROFILES_FORM.block, holder, path),
  keyForm: () => PROFILE_NAME,
});

export const agentProfiles = namedBlock(AGENT_PROFILES_FORM, {
  check: (holder, path) => namesAlike(AGENT_PROFILES_FORM.block, holder, path),
  keyForm: () => PROFILE_NAME,
});

export const active = namedBlock(ACTIVE_FORM, {
  keyForm: () => [
    'Nothing of that name is active.',
    'It has llm_profile, agent_profile and meta_profile.',
  ],
});

/** What is done with the items that the file does not name. */
export const collections: Block<'collections'> = {
  name: 'collections',
  pulled: false,
  isQuotable: (value) => /^(["']?)(keep|remove)\1$/.test(value),
};

const NONE: ReadonlyMap<string, Source> = new Map();

/** The blocks that name all that a service may have, each with the place that says so. */
export function exhaustiveIn(node: Node | undefined): ReadonlyMap<string, Source> {
  if (node?.kind !== 'map') return NONE;
  const found = [...node.members.values()].flatMap(({ key, node: inner }): [string, Source][] => {
    const others = member(inner, 'others');
    return others === undefined || textOf(others) !== 'remove'
      ? []
      : [[key, locate(others.file, others.at)]];
  });
  return new Map(found);
}

/** What differs between the blocks that declare a collection by name. */
interface Differing {
  readonly keyForm: NonNullable<Block['keyForm']>;
  readonly check?: NonNullable<Block['check']>;
}

/** A block that declares the items of a collection by name. */
export function namedBlock<Name extends string>(
  form: CollectionForm<Name>,
  differing: Differing,
): Block<Name> {
  const isSecret = ([name, ...inner]: FilePath): boolean =>
    name !== undefined &&
    (inner.length > 0
      ? form.isSecret(inner)
      : form.main !== undefined && form.isSecret([form.main]));
  return {
    name: form.block,
    pulled: true,
    textKind: (path) => (path.length === 0 ? 'plain' : isSecret(path) ? 'secret' : 'text'),
    items: namedItems(form),
    ...differing,
  };
}

/** The keys of a block that differ in upper and lower case alone: not every server tells such names apart. */
export function namesAlike(block: string, holder: MapNode, path: FilePath): PlacedFinding[] {
  const named = member(holder, block);
  if (named?.kind !== 'map') return [];
  const seen = new Map<string, string>();
  return [...named.members.values()].flatMap(({ key, node }) => {
    const first = seen.get(key.toLowerCase());
    seen.set(key.toLowerCase(), key);
    if (first === undefined) return [];
    return [
      findingAt(node, {
        code: 'duplicate-entry',
        message: `${first} and ${key} differ in upper and lower case alone.`,
        hint: 'Keep one of them.',
        path: [...path, block, key],
      }),
    ];
  });
}
