import { fieldAtNative } from '../model/field.ts';
import { factsAt, normalPath, placesWithin, type Facts } from '../model/path-facts.ts';
import { formatPath, type Path } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import { valueAt, type Value } from '../model/value.ts';

/** A place that a change touches, as plans call it, and what is there before the write and after it. */
export interface Touched {
  readonly path: Path;
  readonly facts: Facts;
  readonly before: Value;
  readonly after: Value;
}

/** What a change touches of which something is known: its own place, and, if it is a part, those inside. */
export function touchedBy({ path, before, after }: Change, { values }: ObservedState): Touched[] {
  const depth = normalPath(path).length;
  const inner = placesWithin(path).map((place): Touched => {
    const named = plannedPath(place);
    return {
      path: named,
      facts: factsAt(place),
      before: values[formatPath(named)] ?? null,
      after: valueAt(after, place.slice(depth)) ?? null,
    };
  });
  return [{ path, facts: factsAt(path), before, after }, ...inner];
}

/** The path that plans have for a place: the name of the field that is there, if there is one. */
export function plannedPath(place: Path): Path {
  return fieldAtNative(place)?.path ?? place;
}
