export const RESOURCES = [
  'server',
  'settings',
  'sandboxes',
  'specs',
  'conversations',
  'secrets',
] as const;
export type Resource = (typeof RESOURCES)[number];
