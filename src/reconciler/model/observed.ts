export const OBSERVABLE = [
  'server',
  'settings',
  'sandboxes',
  'specs',
  'conversations',
  'secrets',
] as const;
export type Resource = (typeof OBSERVABLE)[number];
