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

/** The name of all kinds of profiles together. */
export const PROFILES = 'profiles';

/** What a name asks for, of one resource or of several. Empty if it is not known. */
export function observableAt(name: string): readonly Resource[] {
  return name === PROFILES
    ? OBSERVABLE.filter((one) => one.endsWith(`_${PROFILES}`))
    : OBSERVABLE.filter((one) => one === name);
}

/** The command that takes a snapshot; a file behind it. */
export const SNAPSHOT_COMMAND = 'setpoint get settings,sandboxes -o json=';
