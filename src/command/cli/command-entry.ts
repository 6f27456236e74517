import type { Completion, FlagName } from './flag-table.ts';
import type { Format } from './words.ts';

/** The facts of a command that the command line, the help and completion need. Its work is in commands/, loaded when it runs. */
export interface CommandEntry {
  /** Its argument as the help shows it: `[optional]`, `<required>`, `<several...>`. */
  readonly argument?: { readonly form: string; readonly completion: Completion };
  readonly summary: string;
  readonly example: string;
  readonly flags: readonly FlagName[];
  /** Its own words for a flag; null leaves out of the help one that it takes and that changes nothing. */
  readonly about?: Readonly<Partial<Record<FlagName, string | null>>>;
  /** The value of a flag, if it differs from that of other commands. */
  readonly takes?: Readonly<Partial<Record<FlagName, string>>>;
  /** The formats that -o accepts. */
  readonly formats?: readonly Format[];
  /** The exit codes that it can end with; 143 is listed with 130. */
  readonly exits: Readonly<Record<number, string>>;
}

export const BASIC_FORMATS = ['text', 'json'] as const;
export const ALL_FORMATS = ['text', 'json', 'markdown', 'github', 'html'] as const;

/** The exit codes of commands that request services, the additional ones of an apply, and those of a command that requests none. */
export const CONNECTED = {
  0: 'done',
  1: 'failed',
  3: 'usage, settings or references not valid',
  4: 'the service refused the key',
  9: 'timed out',
  130: 'interrupted',
} as const;
export const APPLYING = {
  5: 'a guard or the policy refused the plan',
  6: 'the saved plan does not cover this',
  7: 'applied in part',
  8: 'applied, but not converged',
} as const;
export const LOCAL = { 0: 'done', 3: 'usage not valid' } as const;

/** The effect of -v in commands that show environments. */
export const IN_FULL = 'long values, unmanaged paths and environments in sync in full';

/** Every command that reports takes -v; the text of some is the same with it. */
export const NOT_VERBOSE = { '--verbose': null } as const;

/* The flags that commands have in common. */

export const SELECTION = ['--file', '--env', '--selector'] as const;
export const CONNECTION = ['--server', '--timeout', '--max-file-size', '--dotenv'] as const;
export const ENVIRONMENTS = [...SELECTION, '--all', ...CONNECTION, '--parallel'] as const;
export const STARTED = [...ENVIRONMENTS, '--wait-ready'] as const;
export const LIMITED = [...STARTED, '--shard', '--max-failures'] as const;
export const VERDICT = ['--exit-code', '--strict'] as const;
export const PLANNING = [
  '--check',
  '--base',
  '--policy',
  '--rotate',
  '--without',
  '--only',
  '--allow',
] as const;
export const REPORTING = ['--output', '--out', '--no-color', '--quiet', '--verbose'] as const;

export const ABOUT_SMOKE = {
  ...NOT_VERBOSE,
  '--parallel': null,
  '--wait': 'how long to wait for the conversation to start (default: 300s)',
} as const;
