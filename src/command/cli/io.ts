import type { Variables } from '../../reconciler/model/ports.ts';
import type { Readable, Writable } from 'node:stream';
import type { Style } from '../../reconciler/render/text.ts';

/** Everything of the process that a command touches, so that a command is a function of it. */
export interface Io {
  /** The command that was used, if it is one. */
  readonly command?: string;
  /** The settings, if `-f -` has them read from stdin. */
  readonly settings?: string;
  /** The possible author of the settings files, if it is not the user who runs the command: keys then go only where a list permits it. */
  readonly author?: 'agent';
  readonly env: Variables;
  /** Opened when it is asked for, which loads Node's streams: most commands read nothing from it. */
  readonly stdin: () => Readable & { readonly isTTY?: boolean };
  readonly stdout: Stream;
  readonly stderr: Stream;
  /** Aborts at the first signal to stop; its reason is the signal's name. */
  readonly signal: AbortSignal;
  /** Aborts at the second. */
  readonly abandon: AbortSignal;
}

/** The hint of an error, with the name of the command that was used. */
export function hintForCommand(
  { code, hint }: { readonly code: string; readonly hint: string },
  { command }: Pick<Io, 'command'>,
): string {
  if (code !== 'usage' || command === undefined) return hint;
  return hint.replace('help COMMAND', `help ${command}`);
}

/** A stream that accepts text. */
export interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** The amount that is not written yet. */
  readonly writableLength?: number;
  readonly write: (text: string | Uint8Array, done?: () => void) => boolean;
}

/** A stream that a person reads. */
export type Terminal = Stream & Writable & { readonly isTTY: true };

export function isTerminal(stream: Stream): stream is Terminal {
  return stream.isTTY === true;
}

/** Functions that erase the lines drawn at the end of a terminal, by the streams that lead to it. */
const drawn = new WeakMap<Stream, () => void>();

/** Has `erase` called before anything else is written to a terminal of these streams. */
export function eraseBefore(streams: readonly Stream[], erase: () => void): void {
  for (const stream of streams) if (stream.isTTY === true) drawn.set(stream, erase);
}

/** Resolves once the stream has taken the text. A reader that is gone does not stop a command. */
export function writeText(stream: Stream, text: string): Promise<void> {
  drawn.get(stream)?.();
  return new Promise((resolve) => {
    stream.write(text, () => resolve());
  });
}

/** The style of a stream's text: --no-color and NO_COLOR win over FORCE_COLOR, which wins over whether it is a terminal. */
export function styleFor(
  stream: Stream,
  env: Io['env'],
  flags: { noColor: boolean; verbose: boolean },
): Style {
  const terminal = stream.isTTY === true && env['TERM'] !== 'dumb';
  const forced = (env['FORCE_COLOR'] ?? '0') !== '0';
  const refused = flags.noColor || (env['NO_COLOR'] ?? '') !== '';
  return {
    color: !refused && (forced || terminal),
    width: terminal ? (stream.columns ?? null) : null,
    verbose: flags.verbose,
  };
}
