import { usageError } from '../../reconciler/model/error.ts';
import type { CommandName } from './command-table.ts';
import type { Io } from './io.ts';

const MOST = 16 * 1024 * 1024;

/** All that stdin has, as text. Throws a usage error if a person would have to type it: `what` it reads, and `hint`. */
export async function readInput(io: Io, what: string, hint: string): Promise<string> {
  const stdin = io.stdin();
  if (stdin.isTTY === true) throw usageError(`${what} from stdin.`, hint);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk as Uint8Array | string);
    length += bytes.length;
    if (length > MOST) throw usageError('stdin is larger than 16 MiB.');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Commands that write the file, or read it again and again. */
const NEED_A_FILE: ReadonlySet<CommandName> = new Set(['pull', 'init', 'watch', 'schema']);

/** The same Io with the settings from stdin, if `-f -` asks for them. */
export async function withSettings(
  name: CommandName,
  { file }: { readonly file?: readonly string[] | string },
  io: Io,
): Promise<Io> {
  const files = [file ?? []].flat();
  if (!files.includes('-')) return io;
  if (files.length > 1) throw usageError('-f - takes no other file.', 'Leave the others out.');
  if (NEED_A_FILE.has(name))
    throw usageError(`${name} takes no settings from stdin.`, 'Name a file with -f.');
  const settings = await readInput(
    io,
    '-f - reads the settings',
    'Pipe them in: cat settings.yaml | setpoint validate -f -',
  );
  return Object.create(io, { settings: { value: settings } }) as Io;
}
