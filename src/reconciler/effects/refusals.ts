import type { Obstacle, RefusalRule } from './effects.ts';
import { readRecord, type Stored } from './stored.ts';

/* Refusals of servers of several dialects. */

const MISSING: Obstacle = { code: 'missing' };
const TAKEN: Obstacle = { code: 'taken' };

/** The name of a thing, as a server stores it. */
type Naming = (name: string) => string;

/** A part of what is stored that takes only so many things. */
export function limitPart(
  part: string,
  on: string,
  most: number,
  naming: Naming = (name) => name,
): RefusalRule {
  return {
    rule: `${part}: there are no more than ${most}`,
    on: [on],
    status: 409,
    refuses: (stored, { name }) => {
      const things = readRecord(stored, part);
      const has = Object.keys(things).length;
      return Object.hasOwn(things, naming(name)) || has < most ? null : { code: 'full', most, has };
    },
  };
}

/** Requests for a thing that a part must have. */
export function requireThing(
  part: string,
  on: readonly string[],
  has: (stored: Stored, name: string) => boolean = (stored, name) =>
    Object.hasOwn(readRecord(stored, part), name),
): RefusalRule {
  return {
    rule: `${part}: what a request names is there`,
    on,
    status: 404,
    refuses: (stored, { name }) => (has(stored, name) ? null : MISSING),
  };
}

/** A request that gives a thing a name that another one must not have. */
export function requireFreeName(
  part: string,
  on: string,
  status: 400 | 409,
  readName: (body: Parameters<RefusalRule['refuses']>[1]['body']) => string,
  naming: Naming = (name) => name,
): RefusalRule {
  return {
    rule: `${part}: no two have one name`,
    on: [on],
    status,
    refuses: (stored, { name, body }) => {
      const to = readName(body);
      return to !== naming(name) && Object.hasOwn(readRecord(stored, part), to) ? TAKEN : null;
    },
  };
}
