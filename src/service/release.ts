import type { ObservedState } from '../model/state.ts';
import type { Path } from '../model/path.ts';
import { isRecord, type Value } from '../model/value.ts';
import { SetpointError } from '../model/error.ts';
import { askFor } from './ask.ts';
import type { Connection } from './connect.ts';
import { DIALECTS } from './dialects.ts';
import { jsonOf } from './json-reply.ts';
import type { TimeLimits } from './retry.ts';

/** Where services of a dialect name their release: the path of a GET, and the place in its answer. */
export interface ReleaseNaming {
  readonly path: string;
  readonly at: Path;
}

/**
 * The release of a service, exact if it answers the one GET that this sends; else what its settings have shown. Nothing
 * depends on it but what people read, so that a service that does not answer is no error.
 */
export async function askedRelease(
  connection: Connection,
  { dialect, release }: ObservedState,
  limits: TimeLimits,
  signal?: AbortSignal,
): Promise<string | null> {
  const { path, at } = DIALECTS[dialect.name].release;
  try {
    const { place, reply } = await askFor(connection, limits, signal)(path);
    const read = reply.status === 200 ? jsonOf(place, reply) : null;
    const named = read !== null && 'json' in read ? valueAt(read.json, at) : undefined;
    return typeof named === 'string' && RELEASE.test(named) ? named : release;
  } catch (thrown) {
    if (thrown instanceof SetpointError) return release;
    throw thrown;
  }
}

/** `1.11.0`, `1.2.0rc1`, `1.57.0+local`: what a server says here is shown as it is, so that nothing else may be in it. */
const RELEASE = /^\d{1,5}(\.\d{1,5}){1,3}([-+.]?[A-Za-z0-9]{1,12}){0,3}$/;

function valueAt(value: Value, path: Path): Value | undefined {
  return path.reduce<Value | undefined>(
    (inner, key) => (isRecord(inner) ? inner[key] : undefined),
    value,
  );
}
