import type { SchemaNode } from '../model/json-schema.ts';
import type { Value, ValueRecord } from '../model/value.ts';
import { shapeValue, SHAPE_RULES, type Types } from './shape.ts';
import type { Request, Stored } from './stored.ts';

/** One thing that requests do. Those of a request follow one another in their order. */
export interface Effect {
  /** Names the rule: for each a recorded case shows what is otherwise without it. */
  readonly rule: string;
  /** The requests that do it: `POST /api/profiles/{}`. */
  readonly on: readonly string[];
  readonly does: (stored: Stored, doing: Doing) => Stored;
}

/** What an effect is made of besides what is stored. */
export interface Doing {
  /** What stands for `{}` in the path. */
  readonly name: string;
  readonly body: ValueRecord;
  /** What was stored before the request. */
  readonly before: Stored;
  /** A value as the server stores it where a definition is its type. */
  readonly shape: (of: string | SchemaNode, value: Value, before?: Value) => Value;
}

/** What requests do to the servers of one dialect. */
export interface Effects {
  readonly effects: readonly Effect[];
  readonly types: Omit<Types, 'has'>;
  /** The types of the parts of the settings. */
  readonly settings: Readonly<Record<string, SchemaNode>>;
  /** The refusals because of what they have stored. What a value alone is refused for is not here. */
  readonly refusals: readonly RefusalRule[];
  /** The request with the ids of what its form names. Absent if a server knows all by their names. */
  readonly resolve?: (stored: Stored, request: Request) => Request;
}

/** One thing that servers refuse because of what they have stored. The first that is met counts. */
export interface RefusalRule {
  /** Names the rule: for each there is a recorded case. */
  readonly rule: string;
  readonly on: readonly string[];
  readonly status: 400 | 404 | 409 | 422;
  /** Returns the obstacle; null if there is none. */
  readonly refuses: (stored: Stored, doing: Pick<Doing, 'name' | 'body'>) => Obstacle | null;
}

/** The obstacle to a request. `by`: what uses the thing that is to go, by its part of what is stored and its name there. */
export type Obstacle =
  | { readonly code: 'full'; readonly most: number; readonly has: number }
  | { readonly code: 'in-use'; readonly by: readonly (readonly [part: string, name: string])[] }
  | { readonly code: 'missing' | 'taken' | 'broken' | 'unstored' | 'not-accepted' };

export type Refusal = Pick<RefusalRule, 'rule' | 'status'> & { readonly obstacle: Obstacle };

/** What a server has stored after a request. Pure. `without`: a rule that is left out. */
export function after(
  { effects, types }: Effects,
  stored: Stored,
  { method, path, body }: Request,
  without?: string,
): Stored {
  const has = (rule: string): boolean => rule !== without;
  const shape: Doing['shape'] = (of, value, was) =>
    shapeValue(
      { ...types, has },
      typeof of === 'string' ? { $ref: `#/$defs/${of}` } : of,
      value,
      was,
    );
  let made = stored;
  for (const { rule, on, does } of effects) {
    const name = has(rule) ? matchPathName(on, method, path) : null;
    if (name !== null) made = does(made, { name, body, before: stored, shape });
  }
  return made;
}

/** A stored value with the members that its type has. `before`: what is stored there, of which unknown members stay. */
export function shapeStored(
  { types }: Pick<Effects, 'types'>,
  node: SchemaNode,
  value: Value,
  before: Value = value,
): Value {
  return shapeValue({ ...types, has: () => true }, node, value, before);
}

/** Returns the rule by which a server refuses a request; null if it takes it. */
export function findRefusal(
  { refusals }: Pick<Effects, 'refusals'>,
  stored: Stored,
  { method, path, body }: Request,
): Refusal | null {
  for (const { rule, on, status, refuses } of refusals) {
    const name = matchPathName(on, method, path);
    const obstacle = name === null ? null : refuses(stored, { name, body });
    if (obstacle !== null) return { rule, status, obstacle };
  }
  return null;
}

/** Whether a server takes a request. */
export function may(effects: Effects, stored: Stored, request: Request): boolean {
  return findRefusal(effects, stored, request) === null;
}

/** The names of all rules of a dialect. */
export function listRules({ effects, types }: Effects): readonly string[] {
  return [
    ...new Set([...effects, ...types.rules].map(({ rule }) => rule)),
    ...Object.values(SHAPE_RULES),
  ];
}

/** What stands for `{}` where a request is one of those; '' if they have none, null if it is none of them. */
export function matchPathName(on: readonly string[], method: string, path: string): string | null {
  const [bare = ''] = path.split('?');
  for (const one of on) {
    const [verb, pattern = ''] = one.split(' ');
    const [start = '', end] = pattern.split('{}');
    if (verb !== method) continue;
    if (end === undefined) {
      if (bare === pattern) return '';
      continue;
    }
    const name = bare.slice(start.length, end === '' ? undefined : -end.length);
    const isPart = name !== '' && !/\/|%2f/i.test(name);
    if (bare.startsWith(start) && bare.endsWith(end) && isPart) return decodeURIComponent(name);
  }
  return null;
}
