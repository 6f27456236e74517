import type { ManagedResource } from '../reconcile/contract.ts';
import { ACTIVE } from './active.ts';
import { AUTOMATIONS } from './automations/resource.ts';
import { AGENT_PROFILES } from './agent-profiles.ts';
import { CANVAS_EXTENSIONS, PLUGINS, SKILLS } from './installed.ts';
import { LLM_PROFILES } from './llm-profiles/resource.ts';
import { META_PROFILES } from './meta-profiles.ts';
import { PROVIDER_CONNECTIONS } from './provider-connections.ts';
import { GIT_PROVIDERS } from './git-providers.ts';
import { SANDBOXES } from './sandboxes/resource.ts';
import { SECRETS } from './secrets.ts';
import { SETTINGS_RESOURCE } from './settings/resource.ts';
import { WORKSPACE_PARENTS, WORKSPACES } from './workspaces.ts';
import { WEBHOOKS } from './automations/webhooks.ts';

/** The resources of a settings file, in the order of writing: the one registration. */
export const RESOURCES: readonly ManagedResource[] = [
  SETTINGS_RESOURCE,
  SECRETS,
  SKILLS,
  PLUGINS,
  CANVAS_EXTENSIONS,
  GIT_PROVIDERS,
  PROVIDER_CONNECTIONS,
  LLM_PROFILES,
  META_PROFILES,
  AGENT_PROFILES,
  ACTIVE,
  WORKSPACE_PARENTS,
  WORKSPACES,
  WEBHOOKS,
  AUTOMATIONS,
  SANDBOXES,
];
