/** How every settings file is read, whatever the file says of itself: YAML 1.2 core, plain data, problems with their places. */
export const YAML_OPTIONS = {
  version: '1.2',
  schema: 'core',
  strict: true,
  uniqueKeys: true,
  stringKeys: true,
  merge: false,
  logLevel: 'error',
  prettyErrors: false,
} as const;
