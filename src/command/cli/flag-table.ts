import { RULES } from '../../reconciler/model/guard.ts';
import { SERVE_FLAGS } from './serve-flags.ts';
import { WATCH_FLAGS } from './watch-flags.ts';
import { FAIL_ON } from './words.ts';

/** The words that can follow a flag or a command, for completion: listed here, or computed when they are needed. */
export type Completion =
  | {
      readonly words: readonly string[];
      /** True if several values can be given, comma-separated. */
      readonly list?: true;
    }
  | 'environments'
  | 'labels'
  | 'files'
  | 'formats'
  | 'secrets'
  | 'fields'
  | 'paths'
  | 'dialects';

export interface FlagSpec {
  readonly short?: `-${string}`;
  /** The name of its value in the help; a flag without it takes no value. */
  readonly value?: string;
  readonly repeatable?: true;
  readonly default?: string;
  readonly about: string;
  readonly completion?: Completion;
}

/** Every flag, once. Which commands take it, and in which words their help explains it, is in the table of commands. */
export const FLAGS = {
  '--file': {
    short: '-f',
    value: 'path',
    repeatable: true,
    about:
      'settings file, folder, or pattern such as envs/**/settings.yaml; - is stdin; repeatable (default: settings.yaml, setpoint.yaml or *.setpoint.yaml)',
    completion: 'files',
  },
  '--env': {
    short: '-e',
    value: 'name',
    repeatable: true,
    about: 'environment, or a pattern such as prod-*; repeatable or comma-separated',
    completion: 'environments',
  },
  '--selector': {
    short: '-l',
    value: 'labels',
    repeatable: true,
    about:
      "environments with these labels: ring=0, 'tier!=canary', 'region in (eu,us)'; repeatable",
    completion: 'labels',
  },
  '--shard': {
    value: 'i/n',
    about: 'one of n equal parts of the environments, i from 0: 0/4',
  },
  '--all': { about: 'all environments' },
  '--server': { value: 'url', about: "an address instead of the file's" },
  '--timeout': { value: 'time', about: 'time limit of one request (default: 30s)' },
  '--parallel': { value: 'n', about: 'environments in parallel (default: 8; 32 from 100 on)' },
  '--max-file-size': {
    value: 'size',
    about: 'largest settings file (default: 1MiB, at most 16MiB)',
  },
  '--dotenv': {
    value: 'file',
    about: 'read variables from FILE (existing ones win); refused in CI',
    completion: 'files',
  },
  '--snapshot': {
    value: 'snapshot.json',
    about: 'plan against a snapshot, without a key',
    completion: 'files',
  },
  '--max-age': { value: 'age', about: 'refuse an older snapshot' },
  '--base': {
    value: 'file',
    about: 'the file as last applied, to distinguish drift from edits',
    completion: 'files',
  },
  '--policy': {
    value: 'file',
    about: 'JSON Schema that the declared settings must fit',
    completion: 'files',
  },
  '--rotate': {
    value: 'path',
    repeatable: true,
    about:
      'write again: the path of a secret, or all; or of an automation that the service switched off, to switch it on; repeatable',
    completion: 'secrets',
  },
  '--without': {
    value: 'path',
    repeatable: true,
    about:
      'skip a setting, mcp entry, item or one of its fields in this run; its value is not needed; repeatable',
    completion: 'secrets',
  },
  '--only': {
    value: 'path',
    repeatable: true,
    about:
      'limit this run to a setting, mcp entry, item or block, and leave out the rest; repeatable',
    completion: 'secrets',
  },
  '--allow': {
    value: 'rule',
    repeatable: true,
    about: `lift a guard for this run: ${RULES.join(', ')}; repeatable or comma-separated`,
    completion: { words: RULES },
  },
  '--yes': { short: '-y', about: 'do not ask' },
  '--dry-run': { about: 'show the plan and stop; only reads' },
  '--if-empty': { about: 'write only if nothing is stored yet; otherwise exit 0' },
  '--max-failures': {
    value: 'n|p%',
    about:
      'start no more environments after more failures than this, a number or a share (default: no limit; for apply 0)',
  },
  '--wait': {
    value: 'time',
    about: 'how long to wait for sandboxes to run; 0s does not (default: 300s)',
  },
  '--wait-ready': {
    value: 'time',
    about: 'wait so long for a service that is starting (default: do not wait)',
  },
  '--exit-code': {
    about: 'exit 2 if there are differences, 5 if a guard would refuse them',
  },
  '--fail-on': {
    value: 'what',
    about: 'exit 2 for drift, pending or any difference (default: any)',
    completion: { words: FAIL_ON },
  },
  '--strict': { about: 'count what could not be compared as a difference' },
  '--adopt': {
    value: 'path',
    repeatable: true,
    about: 'import an unmanaged field, item or block too: its path, or all; repeatable',
    completion: 'fields',
  },
  '--check': {
    about:
      'have the service try changed models, mcp servers and agent profiles: it calls the models and starts the programs; exit 1 if one does not work; refused on pull requests',
  },
  '--from': {
    value: 'file',
    repeatable: true,
    about:
      'read FILE instead of a service: config.toml, settings.json, .env, compose files, objects of Kubernetes, mcp.json and the like, or a folder such as ~/.openhands; repeatable, the last one wins',
    completion: 'files',
  },
  '--force': { about: 'edit a file that has changes git has not committed' },
  '--offline': { about: 'read no service: only the files and the schema' },
  '--pr': { value: 'number', about: 'the pull request (default: that of GITHUB_EVENT_PATH)' },
  '--namespace': { value: 'name', about: "the namespace of the objects (default: the client's)" },
  '--secret': {
    value: 'name',
    about: 'the Secret that has the values of all references that the file does not place',
  },
  '--allow-apply': {
    about:
      'also offer the tool apply, which applies a plan that a person approved with setpoint approve',
  },
  ...WATCH_FLAGS,
  ...SERVE_FLAGS,
  '--output': {
    short: '-o',
    value: 'format[=file]',
    repeatable: true,
    about: 'text or json, to stdout or to a file; repeatable',
    completion: 'formats',
  },
  '--out': {
    value: 'file',
    repeatable: true,
    about: 'the same as -o json=FILE',
    completion: 'files',
  },
  '--no-color': { about: 'no colour (NO_COLOR and FORCE_COLOR work too)' },
  '--quiet': { short: '-q', about: 'no text, only errors' },
  '--verbose': { short: '-v', about: 'long values in full' },
} as const satisfies Readonly<Record<`--${string}`, FlagSpec>>;

export type FlagName = keyof typeof FLAGS;

/** A flag as the table has it, for code that treats all alike. */
export function flagSpec(name: FlagName): FlagSpec {
  return FLAGS[name];
}

/** The values of some flags, as commander hands them over: `--max-age` as `maxAge`. */
export type FlagValues<Name extends FlagName> = {
  readonly [A in Attribute<Exclude<Name, FlagWithDefault>>]?: Value<FlagWithAttribute<Name, A>>;
} & {
  readonly [A in Attribute<Extract<Name, FlagWithDefault>>]: Value<FlagWithAttribute<Name, A>>;
};

type Table = typeof FLAGS;
type FlagWithDefault = {
  [N in FlagName]: Table[N] extends { readonly default: string } ? N : never;
}[FlagName];
type Value<N> = N extends FlagName
  ? Table[N] extends { readonly repeatable: true }
    ? readonly string[]
    : Table[N] extends { readonly value: string }
      ? string
      : boolean
  : never;
type Attribute<N> = N extends `--no-${infer Word}`
  ? CamelCase<Word>
  : N extends `--${infer Word}`
    ? CamelCase<Word>
    : never;
type FlagWithAttribute<N, A> = N extends FlagName ? (Attribute<N> extends A ? N : never) : never;
type CamelCase<Word extends string> = Word extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Word;
