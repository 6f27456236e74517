import type { Path } from '../model/path.ts';
import type { Ask } from './ask.ts';
import { jsonOf } from './json-reply.ts';
import { isRecord, type Value } from '../model/value.ts';

/** Where services of a dialect name their release: the path of a GET, and the place in its answer. */
export interface ReleaseNaming {
  readonly path: string;
  readonly at: Path;
}

/** The description of its API has a server's release, and asks no key. */
export const OPENAPI: ReleaseNaming = { path: '/openapi.json', at: ['info', 'version'] };

/** The release that a service names if it is asked; null if it names none. Throws a SetpointError if there is no answer. */
export async function namedRelease(ask: Ask, { path, at }: ReleaseNaming): Promise<string | null> {
  const { place, reply } = await ask(path);
  const read = reply.status === 200 ? jsonOf(place, reply) : null;
  const named = read !== null && 'json' in read ? valueAt(read.json, at) : undefined;
  return typeof named === 'string' && RELEASE.test(named) ? named : null;
}

/** `1.11.0`, `1.2.0rc1`, `1.57.0+local`: what a server says here is shown as it is, so that nothing else may be in it. */
const RELEASE = /^\d{1,5}(\.\d{1,5}){1,3}([-+.]?[A-Za-z0-9]{1,12}){0,3}$/;

function valueAt(value: Value, path: Path): Value | undefined {
  return path.reduce<Value | undefined>(
    (inner, key) => (isRecord(inner) ? inner[key] : undefined),
    value,
  );
}
