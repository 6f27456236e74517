export const OBSERVABLE = [
  'server',
  'settings',
  'sandboxes',
  'specs',
  'conversations',
  'secrets',
  'git_providers',
  'skills',
  'plugins',
  'provider_connections',
  'meta_profiles',
  'agent_profiles',
  'llm_profiles',
  'active',
] as const;
export type Resource = (typeof OBSERVABLE)[number];

/** The command that takes a snapshot; a file behind it. */
export const SNAPSHOT_COMMAND = 'setpoint get settings,sandboxes -o json=';
