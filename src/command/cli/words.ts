/** The values of -o; not every command has every format. */
export const FORMATS = [
  'text',
  'json',
  'markdown',
  'github',
  'html',
  'sarif',
  'prometheus',
  'kubernetes',
] as const;
export type Format = (typeof FORMATS)[number];

/** The values of --fail-on. */
export const FAIL_ON = ['drift', 'pending', 'any'] as const;

/** The shells that completion knows. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The schemas of the package; a test compares them with the folder. */
export const SCHEMAS = [
  'settings',
  'plan',
  'outcome',
  'validation',
  'observed',
  'smoke',
  'explain',
  'doctor',
  'pull',
  'init',
  'history',
  'watched',
  'notify',
  'notices',
] as const;
