import { SetpointError } from '../model/error.ts';
import { choicesHint } from '../model/suggest.ts';
import { isAddress } from '../desired/resolve-server.ts';
import { withDotenv } from '../host/dotenv.ts';
import type { Options } from '../operations/options.ts';
import { FORMATS, type Format } from './formats.ts';
import type { Io } from './io.ts';

/** The flags as commander hands them over. */
export interface Flags {
  readonly file?: readonly string[];
  readonly env?: readonly string[];
  readonly all?: boolean;
  readonly output?: readonly string[];
  readonly out?: readonly string[];
  readonly server?: string;
  readonly timeout?: string;
  /** False where --no-wait was given. */
  readonly wait?: string | boolean;
  readonly message?: string;
  readonly parallel?: string;
  readonly keepGoing?: boolean;
  readonly rotate?: readonly string[];
  readonly allow?: readonly string[];
  readonly exitCode?: boolean;
  readonly detailedExitcode?: boolean;
  readonly strict?: boolean;
  readonly offline?: boolean;
  /** What a completion script asks for while a line is completed. */
  readonly list?: string;
  readonly base?: string;
  readonly snapshot?: string;
  readonly dotenv?: string;
  readonly maxAge?: string;
  readonly adopt?: readonly string[];
  readonly check?: boolean;
  readonly force?: boolean;
  readonly policy?: string;
  readonly failOn?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly maxFileSize?: string;
  readonly color?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** The options of an operation: flag, then variable, then what the file or setpoint says by itself. */
export function optionsFrom(flags: Flags, io: Io, reads: 'reads' | 'writes'): Options {
  const env = withDotenv(io.env, flags.dotenv);
  const named =
    flags.all === true ? undefined : (namesIn(flags.env) ?? listOf(env['SETPOINT_ENV']));
  const targets = named === undefined ? undefined : [...new Set(named)];
  if (flags.all === true && flags.env !== undefined)
    throw usage('--all and -e exclude each other.');
  return {
    file: flags.file ?? listOf(env['SETPOINT_FILE']),
    env,
    targets,
    targetsFrom: flags.env === undefined ? 'SETPOINT_ENV' : undefined,
    base: flags.base,
    policy: flags.policy,
    server: flags.server ?? (reads === 'reads' ? serverIn(env) : undefined),
    timeout: timeoutOf(flags, env),
    wait: flags.wait === false ? 0 : waitOf(flags.wait),
    parallel: flags.parallel === undefined ? undefined : wholeNumber('--parallel', flags.parallel),
    maxFileSize: flags.maxFileSize === undefined ? undefined : bytes(flags.maxFileSize),
    signal: io.signal,
  };
}

/** What -e names: each flag one, or several separated by commas, which no name holds. */
export function namesIn(env: Flags['env']): readonly string[] | undefined {
  return env?.flatMap((text) => listOf(text) ?? [text]);
}

function timeoutOf({ timeout }: Flags, env: Options['env']): number | undefined {
  if (timeout !== undefined) return duration('--timeout', timeout);
  const variable = env['SETPOINT_TIMEOUT'] ?? '';
  return variable === '' ? undefined : duration('SETPOINT_TIMEOUT', variable);
}

/** Where a format goes: to a file, or, where `path` is null, to stdout. */
export interface Output {
  readonly format: Format;
  readonly path: string | null;
}

/** The outputs asked for, of the formats a command has; text on stdout where nothing else goes there. */
export function outputsFrom(
  flags: Flags,
  env: Io['env'],
  formats: readonly Format[],
): readonly Output[] {
  const named = flags.output === undefined ? 'SETPOINT_OUTPUT' : '-o';
  const outputs = askedOutputs(flags, env).map((asked) => outputOf(asked, formats, named));
  const toStdout = outputs.filter(({ path }) => path === null);
  if (toStdout.length > 1)
    throw usage('One format goes to stdout; give the others a file: -o FORMAT=FILE.');
  return toStdout.length === 0 ? [{ format: 'text', path: null }, ...outputs] : outputs;
}

interface AskedOutput {
  /** A format, or a word that is none. */
  readonly name: string;
  readonly path: string | null;
}

/** What -o and --out say, or else the variable. */
export function askedOutputs(flags: Flags, env: Io['env']): readonly AskedOutput[] {
  const asked = (flags.output ?? listOf(env['SETPOINT_OUTPUT']) ?? []).map((text) => {
    const [name = '', ...rest] = text.split('=');
    return { name, path: rest.length === 0 ? null : rest.join('=') };
  });
  return [...asked, ...(flags.out ?? []).map((path) => ({ name: 'json', path }))];
}

/** Whether the document itself is asked for: what is printed or saved as JSON can be read back. */
export function asksForJson(flags: Flags, env: Io['env']): boolean {
  return askedOutputs(flags, env).some(({ name }) => name === 'json');
}

function outputOf(
  { name, path }: AskedOutput,
  formats: readonly Format[],
  named: '-o' | 'SETPOINT_OUTPUT',
): Output {
  const format = formats.find((known) => known === name);
  if (format === undefined) {
    const known = FORMATS.some((other) => other === name);
    throw usage(
      known ? `This command does not print ${name}.` : `${named} takes a format.`,
      known ? `Available: ${formats.join(', ')}.` : choicesHint(name, formats),
    );
  }
  if (path === '') throw usage(`${named} FORMAT= needs a file after the sign.`);
  return { format, path };
}

function waitOf(wait: Flags['wait']): number | undefined {
  if (typeof wait !== 'string') return undefined;
  return /^0(ms|s|m)?$/.test(wait) ? 0 : duration('--wait', wait);
}

function duration(flag: string, text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text);
  const unit = { ms: 1, s: 1000, m: 60_000 }[match?.[2] ?? 's'] ?? 1000;
  const milliseconds = Number(match?.[1]) * unit;
  if (!(milliseconds >= 1) || milliseconds > 3_600_000)
    throw usage(`${flag} takes a time such as 30s, 500ms or 2m, up to an hour.`);
  return milliseconds;
}

function wholeNumber(flag: string, text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw usage(`${flag} takes a whole number from 1 to 999.`);
  return Number(text);
}

function bytes(text: string): number {
  const match = /^(\d+)\s*(KiB|MiB|k|M)?$/i.exec(text);
  const unit = /^m/i.test(match?.[2] ?? '') ? 1024 ** 2 : /^k/i.test(match?.[2] ?? '') ? 1024 : 1;
  const size = Number(match?.[1]) * unit;
  if (!(size >= 1) || size > 16 * 1024 ** 2)
    throw usage('--max-file-size takes a size such as 4MiB, up to 16MiB.');
  return size;
}

function listOf(text: string | undefined): readonly string[] | undefined {
  const entries = (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return entries.length === 0 ? undefined : entries;
}

function serverIn(env: Options['env']): string | undefined {
  const url = env['SETPOINT_SERVER'] ?? '';
  if (url === '') return undefined;
  if (isAddress(url.trim().replace(/\/+$/, ''))) return url;
  throw usage(
    'SETPOINT_SERVER takes an address: http, https or embedded:, without userinfo, query and fragment.',
  );
}

export function usage(message: string, hint?: string): SetpointError {
  return new SetpointError('usage', message, hint === undefined ? {} : { hint });
}
