import type { Style } from '../render/style.ts';
import type { Io, Stream } from './io.ts';

/** How a stream wants its text: --no-color and NO_COLOR win over FORCE_COLOR, which wins over what the stream is. */
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
