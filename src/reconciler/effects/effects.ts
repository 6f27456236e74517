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
  /** Why a server refuses a request, by its status; null if it takes it. */
  readonly refuses: (stored: Stored, request: Request) => 400 | 404 | 409 | 422 | null;
}

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

/** Whether a server takes a request. */
export function may({ refuses }: Effects, stored: Stored, request: Request): boolean {
  return refuses(stored, request) === null;
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
