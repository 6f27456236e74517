import type { Change } from '../model/plan.ts';
import type { Json } from '../model/value.ts';
import { inlineValue } from './inline-value.ts';
import type { Style } from './style.ts';
import { visible } from './visible.ts';

/** `plan` says what an apply would do; `drift` says what was found, and names the two sides of each difference. */
export type Voice = 'plan' | 'drift';

export const IN_THE_FILE = 'in the file';
export const ON_THE_SERVICE = 'on the service';

/** What each side has, on a line. */
export interface Sides {
  readonly file: string;
  readonly service: string;
}

/** The two sides of a difference. A secret shows as its reference on the one, and as set or not set on the other. */
export function sidesOf(change: Change<Json>, style: Style): Sides {
  const { resource, before, after, sensitive, ref, reason } = change;
  if (resource === 'sandbox')
    return { file: wordOf(after, 'none'), service: wordOf(before, 'none') };
  if (!sensitive) {
    const service = before === null && change.action === 'set' ? 'not set' : valueOf(before, style);
    return { file: valueOf(after, style), service };
  }
  return {
    file: after === null ? 'null' : visible(ref ?? 'a secret'),
    service: visible(found(reason)),
  };
}

/** A reason without what an apply would do about it: `set, will be rotated` is found as `set`. */
export function found(reason: string): string {
  return reason.replace(/[,:] will be \w+$/, '');
}

function valueOf(value: Json, style: Style): string {
  return inlineValue(value, style);
}

function wordOf(value: Json, otherwise: string): string {
  return typeof value === 'string' ? visible(value) : otherwise;
}
