import { asSetpointError } from '../model/error.ts';
import type { Path } from '../model/path.ts';
import type { ObservedService } from '../pull/target.ts';
import { interruption } from '../reconcile/work.ts';
import { isObject, type JsonObject } from '../yaml-edit/source.ts';
import type { Json } from '../model/value.ts';
import { withTarget } from './open-target.ts';
import type { Options } from './options.ts';
import type { Prepared } from './prepare.ts';
import { readCollections } from './read-collections.ts';
import type { Running } from './redacting.ts';

/** Reads the settings and every list. A list that cannot be read leaves its collection out. Throws a SetpointError if the settings cannot be read. */
export async function observeAll(
  prepared: Prepared,
  request: Running<Options>,
): Promise<ObservedService> {
  const { signal } = request;
  try {
    return await withTarget(
      prepared,
      request,
      async ({ settings, reader }) => {
        const observed = await settings.observe(signal);
        const { desired } = prepared;
        const isWanted = () => true;
        const collections = await readCollections({ reader, observed, desired, isWanted, signal });
        return { observed, collections };
      },
      true,
    );
  } catch (thrown) {
    throw interruption(signal) ?? asSetpointError(thrown);
  }
}

/** The settings without what activation writes, and without parts that have nothing else. */
export function withoutCopies(
  settings: JsonObject,
  isCopy: (path: Path) => boolean,
  above: Path = [],
): JsonObject {
  const kept = Object.entries(settings).flatMap(([key, value]): [string, Json][] => {
    const path = [...above, key];
    if (isCopy(path)) return [];
    if (!isObject(value)) return [[key, value]];
    const inner = withoutCopies(value, isCopy, path);
    const isEmptied = Object.keys(inner).length === 0 && Object.keys(value).length > 0;
    return isEmptied ? [] : [[key, inner]];
  });
  return Object.fromEntries(kept);
}
