/** Why something that differs is not brought into the file. */
export const REASONS = {
  reference: 'written as a reference',
  secret: 'a secret, and secrets are not written',
  sensitive: 'what the service has may hold a secret',
  tainted: 'the service has what a reference stands for elsewhere',
  inexpressible: 'what the service has cannot stand in a settings file',
  unlike: 'what the service has would not read back the same',
  twice: 'the service has this entry more than once',
  unknown: 'this version of setpoint does not know it',
  empty: 'nothing is stored on the service yet',
  unreadable: 'it cannot be read back; declare it by hand',
} as const;
