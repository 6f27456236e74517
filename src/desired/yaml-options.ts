/**
 * How every settings file is read, whatever the file says of itself: YAML 1.2 core, plain data, problems with their places. The
 * parser compares each key with each for uniqueness, which a file of many keys makes last; duplicateKeys finds them instead.
 */
export const YAML_OPTIONS = {
  version: '1.2',
  schema: 'core',
  strict: true,
  uniqueKeys: false,
  stringKeys: true,
  merge: false,
  logLevel: 'error',
  prettyErrors: false,
} as const;
