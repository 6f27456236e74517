import { itemNamed, type CollectionForm, type Holder } from './collection.ts';
import type { DesiredState } from './state.ts';

/* The collections that a settings file declares by name, whichever service has them. */

/** The values that a service hands to what runs in its sandboxes. */
export const SECRETS_FORM = {
  resource: 'secret',
  block: 'secrets',
  table: { columns: [{ title: 'DESCRIPTION', members: ['description'] }] },
  noun: 'custom secrets',
  main: 'value',
  isWhole: false,
  isRenamed: true,
  isRevealed: true,
  ofService: ['OPENHANDS_API_KEY'],
} as const satisfies CollectionForm;

/** The form of things that are installed from the place of their code. A list names the commit, and no branch or tag. */
const INSTALLED = {
  naming: [
    'Invalid name for an installed item.',
    'Use the name that its source gives it: small letters and digits, with single - between.',
  ],
  releases: 'An Agent Server has them from 1.29.3.',
  untold: {
    member: 'ref',
    tells: (ref) => typeof ref === 'string' && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(ref),
  },
  isWhole: true,
  table: {
    columns: [
      { title: 'ENABLED', members: ['enabled'] },
      { title: 'SOURCE', members: ['source'] },
      { title: 'FOLDER', members: ['repo_path'] },
      { title: 'COMMIT', members: ['ref'] },
    ],
  },
} as const satisfies Partial<CollectionForm>;

/** Skills that the agents of a service can use. */
export const SKILLS_FORM = {
  resource: 'skill',
  block: 'skills',
  noun: 'skills',
  ...INSTALLED,
} as const satisfies CollectionForm;

/** Plugins that the agents of a service can use. */
export const PLUGINS_FORM = {
  resource: 'plugin',
  block: 'plugins',
  noun: 'plugins',
  ...INSTALLED,
} as const satisfies CollectionForm;

/** Apps in the pages of Agent Canvas. */
export const CANVAS_EXTENSIONS_FORM = {
  ...INSTALLED,
  resource: 'canvas extension',
  block: 'canvas_extensions',
  noun: 'canvas extensions',
  releases: 'An Agent Server has them from 1.49.1 at the latest.',
} as const satisfies CollectionForm;

/** The tokens by which a service reads and writes the repositories of its users, by the product. */
export const GIT_PROVIDERS_FORM = {
  resource: 'git provider',
  block: 'git_providers',
  table: { columns: [{ title: 'HOST', members: ['host'] }] },
  noun: 'git providers',
  naming: [
    'No service knows this git provider.',
    'Use github, gitlab, bitbucket, bitbucket_data_center, forgejo, azure_devops or enterprise_sso.',
  ],
  isWhole: false,
  ofService: ['enterprise_sso'],
} as const satisfies CollectionForm;

/** Addresses and keys that LLM profiles share. */
export const CONNECTIONS_FORM = {
  resource: 'provider connection',
  block: 'provider_connections',
  table: {
    head: 'CONNECTION',
    columns: [
      { title: 'PROVIDER', members: ['provider'] },
      { title: 'KEY', members: ['api_key'] },
      { title: 'ADDRESS', members: ['base_url'] },
    ],
  },
  noun: 'provider connections',
  naming: [
    'Invalid provider connection name.',
    'Use 1 to 128 characters, and no blank at either end.',
  ],
  releases: 'An Agent Server has them from 1.43.1.',
  isWhole: false,
  isRenamed: true,
} as const satisfies CollectionForm;

const PROFILE_NAMING = [
  'Invalid profile name: not every server accepts it.',
  'Use at most 64 letters, digits, ., _ and -, begin with a letter or digit, and do not end in .json.',
] as const;

/** Models with their settings; one of them is active. A member has its meaning in the llm of the settings. */
export const LLM_PROFILES_FORM = {
  resource: 'LLM profile',
  block: 'llm_profiles',
  table: {
    columns: [
      { title: 'MODEL', members: ['model'] },
      { title: 'KEY', members: ['api_key'] },
      { title: 'ADDRESS', members: ['connection', 'base_url'] },
    ],
  },
  noun: 'LLM profiles',
  naming: PROFILE_NAMING,
  releases: 'An app-server has them from 1.7.0, an Agent Server from 1.22.1.',
  isWhole: true,
  isRenamed: true,
  isRevealed: true,
} as const satisfies CollectionForm;

/** Which model answers which kind of task. */
export const META_PROFILES_FORM = {
  resource: 'meta profile',
  block: 'meta_profiles',
  table: {
    columns: [
      { title: 'CLASSIFIER', members: ['classifier'] },
      { title: 'CLASSES', members: ['classes'], otherwise: '0' },
    ],
  },
  noun: 'meta profiles',
  naming: PROFILE_NAMING,
  releases: 'An Agent Server has them from 1.49.6.',
  isWhole: true,
} as const satisfies CollectionForm;

/** Agents by name: the model, the servers and the secrets that each works with. */
export const AGENT_PROFILES_FORM = {
  resource: 'agent profile',
  block: 'agent_profiles',
  table: {
    columns: [
      { title: 'KIND', members: ['agent_kind'], otherwise: 'openhands' },
      { title: 'MODEL', members: ['llm_profile', 'acp_server'] },
    ],
  },
  noun: 'agent profiles',
  naming: PROFILE_NAMING,
  releases: 'An Agent Server has them from 1.29.3.',
  isWhole: true,
  isRenamed: true,
} as const satisfies CollectionForm;

/** The tools that are part of an Agent Server, by the names of their classes. */
const TOOLS_BY_CLASS: ReadonlyMap<string, string> = new Map([
  ['FinishTool', 'finish'],
  ['ThinkTool', 'think'],
  ['InvokeSkillTool', 'invoke_skill'],
  ['SwitchLLMTool', 'switch_llm'],
  ['VisionInspectTool', 'inspect_image_with_vision'],
  ['ClassifyAndSwitchLLMTool', 'route_task_to_model'],
]);

/** Returns the name of the tool that an agent profile names, also by its class: a server stores it once, under this name. */
export function resolveToolName(name: string): string {
  return TOOLS_BY_CLASS.get(name) ?? name;
}

/** Which profile of each kind is active, by its name. */
export const ACTIVE_FORM = {
  resource: 'active profile',
  block: 'active',
  table: { head: 'KIND', columns: [{ title: 'ACTIVE PROFILE', members: ['profile'] }] },
  noun: 'active profiles',
  naming: [
    'Nothing of that name is active.',
    'It has llm_profile, agent_profile and meta_profile.',
  ],
  main: 'profile',
  isWhole: false,
} as const satisfies CollectionForm;

const WORKSPACE = {
  naming: ['Invalid path of a folder.', 'Use at most 4096 characters, and no NUL.'],
  releases: 'An Agent Server has them from 1.27.1 at the latest.',
  isWhole: false,
} as const satisfies Partial<CollectionForm>;

/** Folders whose folders Agent Canvas offers as workspaces, by path. */
export const WORKSPACE_PARENTS_FORM = {
  resource: 'workspace parent',
  block: 'workspace_parents',
  noun: 'workspace parents',
  table: { head: 'PATH', columns: [{ title: 'NAME', members: ['display_name'] }] },
  ...WORKSPACE,
} as const satisfies CollectionForm;

/** Folders that Agent Canvas offers for a conversation, by path. */
export const WORKSPACES_FORM = {
  resource: 'workspace',
  block: 'workspaces',
  noun: 'workspaces',
  table: {
    head: 'PATH',
    columns: [
      { title: 'NAME', members: ['display_name'] },
      { title: 'PARENT', members: ['parent'] },
    ],
  },
  ...WORKSPACE,
} as const satisfies CollectionForm;

/** Sources of the events that start automations. */
export const WEBHOOKS_FORM = {
  resource: 'webhook',
  block: 'webhooks',
  table: {
    head: 'SOURCE',
    columns: [
      { title: 'NAME', members: ['display_name'] },
      { title: 'SIGNATURE', members: ['signature_header'] },
      { title: 'ENABLED', members: ['enabled'] },
    ],
  },
  noun: 'webhooks',
  naming: ['Invalid source of a webhook.', 'Use at most 50 small letters, digits and -.'],
  releases: 'An automation service has them; server.automation_url is its address.',
  isWhole: false,
} as const satisfies CollectionForm;

/** Prompts that an agent runs on a schedule or an event. */
export const AUTOMATIONS_FORM = {
  resource: 'automation',
  block: 'automations',
  table: {
    columns: [
      { title: 'ENABLED', members: ['enabled'] },
      { title: 'STARTS', members: ['cron', 'event'] },
      { title: 'MODEL', members: ['agent_profile', 'model'] },
    ],
  },
  noun: 'automations',
  naming: ['Invalid name of an automation.', 'Use at most 500 characters, and no NUL.'],
  releases: 'An automation service has them; server.automation_url is its address.',
  isWhole: false,
  onRequest: 'enabled',
} as const satisfies CollectionForm;

/** The profile of a kind that a file makes active, such as `llm_profile`; null if it names none in so many words. */
export function activeDeclared(
  desired: Pick<DesiredState, 'items'>,
  kind: 'llm_profile' | 'agent_profile',
): string | null {
  const profile = itemNamed(desired, ACTIVE_FORM, kind)?.members?.[ACTIVE_FORM.main];
  return typeof profile === 'string' ? profile : null;
}

const FORMS = [
  SECRETS_FORM,
  SKILLS_FORM,
  PLUGINS_FORM,
  CANVAS_EXTENSIONS_FORM,
  GIT_PROVIDERS_FORM,
  CONNECTIONS_FORM,
  LLM_PROFILES_FORM,
  META_PROFILES_FORM,
  AGENT_PROFILES_FORM,
  ACTIVE_FORM,
  WORKSPACE_PARENTS_FORM,
  WORKSPACES_FORM,
  WEBHOOKS_FORM,
  AUTOMATIONS_FORM,
] as const;

/** All of them, in the order of writing. */
export const COLLECTION_FORMS: readonly CollectionForm<CollectionBlock>[] = FORMS;
export type CollectionBlock = (typeof FORMS)[number]['block'];

/** The name of an item in messages: `the LLM profile main`. */
export function itemWords({ block, name }: Holder): string {
  const form = COLLECTION_FORMS.find((one) => one.block === block);
  return `the ${form?.resource ?? block} ${name}`;
}

/** Reports whether a block of a file declares one of them. */
export function isCollectionBlock(block: string): boolean {
  return COLLECTION_FORMS.some((form) => form.block === block);
}
