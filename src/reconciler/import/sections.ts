import { settingsNodes } from '../desired/schema-lookup.ts';
import { MODEL_PART } from '../model/field.ts';
import type { Path } from '../model/path.ts';

/** The sections of a config.toml, with what variables of their members begin with. */
export const SECTIONS = {
  core: '',
  llm: 'LLM_',
  sandbox: 'SANDBOX_',
  security: 'SECURITY_',
  condenser: 'CONDENSER_',
} as const;

export type Section = keyof typeof SECTIONS;

const FIELDS: Readonly<Record<Section, Readonly<Record<string, string>>>> = {
  core: {
    default_agent: 'agent',
    max_iterations: 'max_iterations',
    max_budget_per_task: 'max_budget_per_task',
    enable_default_condenser: 'enable_default_condenser',
    search_api_key: 'search_api_key',
    git_user_name: 'git_user_name',
    git_user_email: 'git_user_email',
  },
  llm: { model: 'llm_model', api_key: 'llm_api_key', base_url: 'llm_base_url' },
  sandbox: {
    base_container_image: 'sandbox_base_container_image',
    runtime_container_image: 'sandbox_runtime_container_image',
    remote_runtime_resource_factor: 'remote_runtime_resource_factor',
    api_key: 'sandbox_api_key',
  },
  security: { confirmation_mode: 'confirmation_mode', security_analyzer: 'security_analyzer' },
  condenser: { max_size: 'condenser_max_size' },
};

export function isSection(name: string): name is Section {
  return Object.hasOwn(SECTIONS, name);
}

/** Where the settings have a member of a section; null if they do not have it. */
export function settingAt(section: Section, member: string): Path | null {
  const fields = FIELDS[section];
  const field = Object.hasOwn(fields, member) ? fields[member] : undefined;
  if (field !== undefined) return [field];
  return section === 'llm' && isOfModel(member) ? [...MODEL_PART, member] : null;
}

/** Whether a model of the native settings has a member of this name. */
export function isOfModel(member: string): boolean {
  return settingsNodes([...MODEL_PART, member]).length > 0;
}
