import { usageError } from '../../reconciler/model/error.ts';
import { choicesHint } from '../../reconciler/model/wording.ts';
import { parseDuration, isInterval } from '../../reconciler/desired/blocks/watch.ts';
import { pathExists } from '../../reconciler/host/read-text.ts';
import { readDotenv, withDotenv } from '../../reconciler/host/reference-source.ts';
import type { Options } from '../../reconciler/operations/options.ts';
import { computeFailureLimit } from '../../reconciler/operations/parallel.ts';
import type { FlagValues } from './flag-table.ts';
import type { Io } from './io.ts';
import { FORMATS, type Format } from './words.ts';
import { parseShard } from '../../reconciler/operations/flag-values.ts';
import { shardText } from '../../reconciler/render/shard-text.ts';

/** The folder of a controller that --data does not name. */
export const DEFAULT_DATA = '.setpoint/watch';

/** The flags that become options of an operation. */
type OptionFlags = FlagValues<
  | '--file'
  | '--env'
  | '--selector'
  | '--all'
  | '--server'
  | '--timeout'
  | '--parallel'
  | '--max-file-size'
  | '--dotenv'
  | '--base'
  | '--policy'
  | '--wait'
  | '--wait-ready'
>;

/** The flags that direct what a command prints. */
export type ReportFlags = FlagValues<'--output' | '--out' | '--no-color' | '--quiet' | '--verbose'>;

/** The options of an operation: a flag, else undefined, so that the file or a default decides. */
export function parseOperationOptions(flags: OptionFlags, io: Io): Options {
  const env = withDotenv(io.env, flags.dotenv);
  const named = environmentsNamed(flags.env);
  const targets = named === undefined ? undefined : [...new Set(named)];
  const chosen = flags.env === undefined ? (flags.selector === undefined ? null : '-l') : '-e';
  if (flags.all === true && chosen !== null)
    throw usageError(`--all and ${chosen} exclude each other.`, 'Leave one of the two out.');
  return {
    ...(io.settings === undefined ? { file: flags.file } : { text: io.settings }),
    env,
    dotenvHas: (names) => dotenvHas(names, io.env),
    targets,
    ...(flags.selector === undefined ? {} : { selector: flags.selector }),
    base: flags.base,
    policy: flags.policy,
    server: flags.server,
    timeout: parseTimeoutFlag(flags),
    wait: parseWaitFlag('--wait', flags.wait),
    waitReady: parseWaitFlag('--wait-ready', flags.waitReady) || undefined,
    parallel: flags.parallel === undefined ? undefined : wholeNumber('--parallel', flags.parallel),
    maxFileSize: flags.maxFileSize === undefined ? undefined : parseByteSize(flags.maxFileSize),
    signal: io.signal,
    ...(io.author === undefined ? {} : { checkout: { from: io.author, root: '.' } }),
  };
}

/** Reports whether the file of variables that `init` mentions is here and has one of these. A pipeline does not read it. */
function dotenvHas(names: readonly string[], env: Io['env']): boolean {
  if ((env['CI'] ?? '') !== '' || !pathExists('.env')) return false;
  try {
    const held = readDotenv('.env');
    return names.some((name) => (held[name] ?? '').trim() !== '');
  } catch {
    return false; // It is not a file of variables.
  }
}

/** The names that -e gives: each flag one or several, comma-separated; no name has a comma. */
export function environmentsNamed(env: OptionFlags['env']): readonly string[] | undefined {
  return env?.flatMap((text) => commaSeparated(text) ?? [text]);
}

export function parseTimeoutFlag({ timeout }: Pick<OptionFlags, 'timeout'>): number | undefined {
  return timeout === undefined ? undefined : duration('--timeout', timeout);
}

/** A format and the file it is written to; null for stdout. */
export interface Output {
  readonly format: Format;
  readonly path: string | null;
}

/** The outputs of a command, of the formats that it has; text on stdout unless another format goes there. */
export function parseReportOutputs(
  flags: ReportFlags,
  formats: readonly Format[],
): readonly Output[] {
  const outputs = readNamedOutputs(flags).map((output) => checkOutputFormat(output, formats));
  const toStdout = outputs.filter(({ path }) => path === null);
  if (toStdout.length > 1)
    throw usageError('One format goes to stdout; give the others a file: -o FORMAT=FILE.');
  return toStdout.length === 0 ? [{ format: 'text', path: null }, ...outputs] : outputs;
}

/** An output that is not checked yet: `name` may be no format. */
interface NamedOutput {
  readonly name: string;
  readonly path: string | null;
}

/** The outputs that -o and --out name. */
export function readNamedOutputs(flags: ReportFlags): readonly NamedOutput[] {
  const named = (flags.output ?? []).map((text) => {
    const [name = '', ...rest] = text.split('=');
    return { name, path: rest.length === 0 ? null : rest.join('=') };
  });
  return [...named, ...(flags.out ?? []).map((path) => ({ name: 'json', path }))];
}

/** Reports whether the document is printed or saved as JSON, and can be read back. */
export function hasJsonOutput(flags: ReportFlags): boolean {
  return readNamedOutputs(flags).some(({ name }) => name === 'json');
}

function checkOutputFormat({ name, path }: NamedOutput, formats: readonly Format[]): Output {
  const format = formats.find((known) => known === name);
  if (format === undefined) {
    const known = FORMATS.some((other) => other === name);
    throw usageError(
      known ? `This command does not print ${name}.` : '-o takes a format.',
      known ? `Available: ${formats.join(', ')}.` : choicesHint(name, formats),
    );
  }
  if (path === '') throw usageError('-o FORMAT= needs a file after the sign.');
  return { format, path };
}

function parseWaitFlag(flag: string, wait: OptionFlags['wait']): number | undefined {
  if (typeof wait !== 'string') return undefined;
  return parseDuration(wait, 's') === 0 ? 0 : duration(flag, wait);
}

function duration(flag: string, text: string): number {
  const time = parseDuration(text, 's');
  if (time === null || time < 1 || time > 3_600_000)
    throw usageError(`${flag} takes a time such as 30s, 500ms or 2m, up to an hour.`);
  return time;
}

/** Milliseconds between two reads. */
export function parseIntervalFlag(interval: string | undefined): number {
  const every = parseDuration(interval ?? '5m');
  if (every === null || !isInterval(every))
    throw usageError('--interval takes a time such as 30s, 5m or 1h, from 10s to 24h.');
  return every;
}

/** The place of the locks and their scope, of `--lock lease=team-a`. */
export function parseLockFlag(lock: string | undefined): {
  readonly place: string | undefined;
  readonly scope: string | undefined;
} {
  const [place, scope] = lock?.split('=', 2) ?? [];
  return { place, scope };
}

/** Returns the rollout options: how an edit reaches the environments of a controller. */
export function parseRolloutFlags({ soak, maxFailures }: FlagValues<'--soak' | '--max-failures'>): {
  readonly soak: number | undefined;
  readonly maxFailures: string | undefined;
} {
  const time = soak === undefined ? undefined : parseDuration(soak, soak === '0' ? 's' : undefined);
  if (time === null || (time !== undefined && time > LONGEST_SOAK))
    throw usageError('--soak takes a time such as 30s, 5m or 1h, up to 24h, or 0.');
  // Throws if it is neither a number nor a share.
  if (maxFailures !== undefined) computeFailureLimit(maxFailures, 1);
  return { soak: time, maxFailures };
}

const LONGEST_SOAK = 86_400_000;

/** The last moment with a year of four digits. */
const LATEST = Date.UTC(10_000, 0) - 1;

/** Returns the end of a period that begins at a time in milliseconds since 1970, as ISO 8601 in UTC. */
export function parseUntilFlag(until: string, now: number): string {
  const time = parseDuration(until);
  const at = time === null ? parseIsoTime(until) : now + time;
  if (Number.isNaN(at) || at > LATEST)
    throw usageError(
      '--until takes a time from now on such as 30m, 2h or 3d, or one such as 2026-01-31T18:00:00Z.',
    );
  if (at <= now) throw usageError('--until names a time that has passed.');
  return new Date(at).toISOString();
}

/** Not a number unless it is a time with its zone. */
function parseIsoTime(text: string): number {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
}

/** A whole number from 1 to 999. */
export function parseCountFlag(flag: string, text: string): number {
  return wholeNumber(flag, text);
}

function wholeNumber(flag: string, text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw usageError(`${flag} takes a whole number from 1 to 999.`);
  return Number(text);
}

function parseByteSize(text: string): number {
  const match = /^(\d+)\s*(KiB|MiB|k|M)?$/i.exec(text);
  const unit = /^m/i.test(match?.[2] ?? '') ? 1024 ** 2 : /^k/i.test(match?.[2] ?? '') ? 1024 : 1;
  const size = Number(match?.[1]) * unit;
  if (!(size >= 1) || size > 16 * 1024 ** 2)
    throw usageError('--max-file-size takes a size such as 4MiB, up to 16MiB.');
  return size;
}

function commaSeparated(text: string | undefined): readonly string[] | undefined {
  const entries = (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return entries.length === 0 ? undefined : entries;
}

/**
 * The shard of a run, as options. stderr shows which part of the environments it is, because a run that finds nothing has not read the
 * others.
 */
export function shardOptions(
  flags: FlagValues<'--shard' | '--quiet'>,
  { stderr }: Pick<Io, 'stderr'>,
): Pick<Options, 'shard' | 'onSelected'> {
  if (flags.shard === undefined) return {};
  const shard = parseShard('--shard', flags.shard);
  return {
    shard,
    onSelected: (own, all) => {
      if (flags.quiet !== true) stderr.write(shardText(shard, own, all));
    },
  };
}
