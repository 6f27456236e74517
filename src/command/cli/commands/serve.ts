import { emulatorDialects, isEmulatorDialect } from '../../../emulator/options.ts';
import {
  gitProducts,
  type GitProvider,
  isGitProduct,
} from '../../../emulator/collections/git-check.ts';
import {
  isServedState,
  memberRoles,
  servedStates,
  type ServedMember,
  type ServedOrganization,
} from '../../../emulator/options.ts';
import { startEmulator, type EmulatorOptions } from '../../../emulator/start.ts';
import { readText } from '../../../reconciler/host/read-text.ts';
import { writePlace } from '../../../reconciler/host/write-aside.ts';
import { SetpointError, usageError } from '../../../reconciler/model/error.ts';
import type { Flags } from '../command-table.ts';
import { write, type Io } from '../io.ts';
import { reportFailure } from '../reporter.ts';

/** `setpoint serve`: runs the embedded service until a signal stops it. Its url is the first line on stdout. */
export async function serveCommand(flags: Flags<'serve'>, io: Io): Promise<number> {
  try {
    const { port, host, data, apiKey = io.env['SESSION_API_KEY'], serverMcp, allowHost } = flags;
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
      throw usageError('--port takes a number from 0 to 65535.');
    const emulator = await startEmulator({
      port: Number(port),
      host,
      ...(data === undefined ? {} : { data: writePlace(data) }),
      ...(apiKey === undefined || apiKey === '' ? {} : { apiKey }),
      ...(serverMcp === undefined ? {} : { serverMcp: jsonFile(serverMcp) }),
      ...(allowHost === undefined ? {} : { allowHosts: allowHost }),
      ...organizationFrom(flags),
      ...behaviourFrom(flags),
    }).catch((thrown: unknown) => {
      const message =
        thrown instanceof Error ? thrown.message : 'The embedded service could not start.';
      throw new SetpointError('usage', message, {
        hint: remedyFor(thrown),
        cause: thrown,
      });
    });
    await write(io.stdout, `${emulator.url}\n`);
    await write(
      io.stderr,
      `The embedded service is running. It keeps settings and sandboxes ${data === undefined ? 'in memory' : `in ${data}`} and runs no agents. Press Ctrl-C to stop it.\n`,
    );
    await new Promise<void>((resolve) => {
      if (io.signal.aborted) resolve();
      io.signal.addEventListener('abort', () => resolve());
    });
    await emulator.close();
    return 0;
  } catch (thrown) {
    return reportFailure(thrown, {}, io);
  }
}

/** The hint for a service that could not start. */
function remedyFor(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : '';
  if (code === 'EADDRINUSE')
    return 'Stop the program that listens there, or choose another port: --port 0 takes a free one.';
  return 'Choose another --host, --port or --data; a host off loopback needs --api-key.';
}

/** The options of behaviour that the flags give. */
function behaviourFrom(flags: Flags<'serve'>): EmulatorOptions {
  const { becomes, dialect, gitProvider, model, mcpServer, requireIds, spec } = flags;
  if (dialect !== undefined && !isEmulatorDialect(dialect))
    throw usageError(`--dialect takes one of ${emulatorDialects.join(', ')}.`);
  if (becomes !== undefined && !isServedState(becomes))
    throw usageError(`--becomes takes one of ${servedStates.join(', ')}.`);
  if (spec?.includes('') === true) throw usageError('--spec takes the id of a sandbox spec.');
  return {
    ...(dialect === undefined ? {} : { dialect }),
    ...wholeNumber('startMs', '--start-ms', flags.startMs, { unit: ' of milliseconds' }),
    ...(becomes === undefined ? {} : { becomes }),
    ...wholeNumber('maxRunning', '--max-running', flags.maxRunning, { least: 1 }),
    ...wholeNumber('emptyLists', '--empty-lists', flags.emptyLists),
    ...wholeNumber('pageSize', '--page-size', flags.pageSize, { least: 1, most: 100 }),
    ...(requireIds === undefined ? {} : { requireIds }),
    ...wholeNumber('runMs', '--run-ms', flags.runMs, { unit: ' of milliseconds' }),
    ...(spec === undefined ? {} : { specs: spec }),
    ...(gitProvider === undefined ? {} : { gitProviders: gitProvider.map(gitProviderIn) }),
    ...(model === undefined
      ? {}
      : {
          models: model.map((flag) => {
            const [name, accepts] = standInOf('--model', flag);
            return { model: name, accepts };
          }),
        }),
    ...(mcpServer === undefined
      ? {}
      : {
          mcpServers: mcpServer.map((flag) => {
            const [at, accepts] = standInOf('--mcp-server', flag);
            return { at, accepts };
          }),
        }),
  };
}

/** The organisation that the flags give. */
function organizationFrom({ organization: name, member }: Flags<'serve'>): {
  readonly organization?: ServedOrganization;
} {
  if (name === undefined && member === undefined) return {};
  if (name === undefined || member === undefined)
    throw usageError('An organisation takes --organization NAME and a --member ROLE=KEY for each.');
  return { organization: { name, members: member.map(memberOfFlag) } };
}

function memberOfFlag(flag: string): ServedMember {
  const [role, key] = standInOf('--member', flag, 'a role and a key: ROLE=KEY');
  const named = memberRoles.find((one) => one === role);
  if (named === undefined) throw usageError(`--member takes a role of ${memberRoles.join(', ')}.`);
  return { role: named, key };
}

/** The git provider in a text such as `github@git.example.com=good`. */
function gitProviderIn(flag: string): GitProvider {
  const [, product, host, accepts = ''] = /^([^@=]*)(?:@([^=]+))?=(.+)$/.exec(flag) ?? [];
  if (isGitProduct(product)) return { product, ...(host === undefined ? {} : { host }), accepts };
  const names = gitProducts.join(', ');
  throw usageError(
    `--git-provider takes a name, its host, and a text: NAME@HOST=TEXT. The names are ${names}.`,
  );
}

/** What a stand-in is, and the text that it takes; an address may have the sign in it. */
function standInOf(
  flag: string,
  text: string,
  form = 'what works, and a text that its key contains: NAME=TEXT',
): readonly [string, string] {
  const at = text.lastIndexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usageError(`${flag} takes ${form}.`);
}

function wholeNumber<Name extends string>(
  name: Name,
  flag: string,
  text: string | undefined,
  { unit = '', least = 0, most = 999_999_999 } = {},
): Partial<Readonly<Record<Name, number>>> {
  if (text === undefined) return {};
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most)
    return { [name]: number } as Record<Name, number>;
  throw usageError(`${flag} takes a whole number${unit} from ${least} to ${most}.`);
}

const SERVER_MCP_LIMIT = 1024 * 1024;

function jsonFile(path: string): Record<string, never> {
  const read = readText(path, SERVER_MCP_LIMIT);
  try {
    if ('text' in read) return JSON.parse(read.text) as Record<string, never>;
  } catch {
    // The parser's message would quote the text.
  }
  throw new SetpointError('file-unreadable', `${path} is not JSON, or larger than 1 MiB.`);
}
