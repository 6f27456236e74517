import { describe, expect, it } from 'vitest';
import { beginningsAfter, findFirstBeginning } from '../../../src/controller/watch/beginnings.ts';
import type { Beginning } from '../../../src/reconciler/model/watch.ts';
import { change } from '../../fixture/documents.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 12, minute)).toISOString();

/** What began in a minute, after a read in the minute before. */
const since = (of: string, minute: number): Beginning => ({
  of,
  since: at(minute),
  after: at(minute - 1),
});

const ofPaths = (...paths: readonly string[]) => paths.map((path) => change({ path: [path] }));
const unknown = [{ path: ['llm_api_key'], reason: 'the service does not show it', ref: null }];
const differs = (...paths: readonly string[]) => ({ changes: ofPaths(...paths), unknown: [] });
const after = (known: readonly Beginning[], ...[found, plan]: Found) =>
  beginningsAfter(known, found, plan, at(9), at(8));

type Found = [Parameters<typeof findFirstBeginning>[1], Parameters<typeof findFirstBeginning>[2]];

describe('what differs began', () => {
  it('at the read that found it first, each by itself', () => {
    const first = after([], 'drift', differs('a'));
    expect(first).toEqual([since('settings a', 9)]);
    expect(after([since('settings a', 3)], 'drift', differs('a', 'b'))).toEqual([
      since('settings a', 3),
      since('settings b', 9),
    ]);
  });

  it('anew if it was gone in between', () => {
    expect(after([since('settings b', 3)], 'drift', differs('a'))).toEqual([
      since('settings a', 9),
    ]);
  });

  it('when it did, however often the service cannot be read', () => {
    const known = [since('settings a', 3)];
    const failing = after(known, 'error', null);
    expect(failing).toEqual([...known, since('error', 9)]);
    expect(after([...known, since('error', 5)], 'error', null)).toEqual([
      ...known,
      since('error', 5),
    ]);
    expect(after(failing, 'drift', differs('a'))).toEqual(known);
    expect(after(known, 'error', differs('b'))).toEqual([...known, since('error', 9)]);
  });

  it('apart for a sandbox and a setting of one name', () => {
    const both = [change({ path: ['a'] }), change({ path: ['a'], resource: 'sandbox' })];
    expect(after([since('settings a', 3)], 'drift', { changes: both, unknown: [] })).toEqual([
      since('settings a', 3),
      since('sandbox a', 9),
    ]);
  });

  it('by what cannot be compared only if nothing differs', () => {
    expect(after([], 'unknown', { changes: [], unknown })).toEqual([
      since('unknown llm_api_key', 9),
    ]);
    expect(after([], 'drift', { changes: ofPaths('a'), unknown })).toEqual([
      since('settings a', 9),
    ]);
  });

  it('as a whole in a state that names nothing', () => {
    expect(after([], 'in-sync', { changes: [], unknown })).toEqual([since('in-sync', 9)]);
    expect(after([since('in-sync', 2)], 'in-sync', null)).toEqual([since('in-sync', 2)]);
    expect(after([], 'refused', { changes: [], unknown: [] })).toEqual([since('refused', 9)]);
    expect(after([], 'drift', null)).toEqual([since('drift', 9)]);
  });
});

describe('a state began', () => {
  const began = [since('settings c', 7), since('settings a', 5), since('settings b', 3)];
  const first = (...[found, plan]: Found) => findFirstBeginning(began, found, plan)?.since;

  it('with the first of what makes it up, and of nothing else', () => {
    expect(first('drift', differs('a', 'b', 'c'))).toBe(at(3));
    expect(first('drift', differs('c', 'a'))).toBe(at(5));
    expect(findFirstBeginning(began, 'drift', differs('c'))).toEqual({
      since: at(7),
      after: at(6),
    });
  });

  it('with an edit of the file only if nothing else differs', () => {
    const edits = ['a', 'b'].map((path) => change({ path: [path], class: 'pending' }));
    expect(first('pending', { changes: edits, unknown: [] })).toBe(at(3));
    expect(first('drift', { changes: [...edits, ...ofPaths('c')], unknown: [] })).toBe(at(7));
  });

  it('with the first read that failed', () => {
    expect(findFirstBeginning([...began, since('error', 8)], 'error', null)?.since).toBe(at(8));
  });

  it('at no known time if nothing of it is known', () => {
    expect(findFirstBeginning([], 'drift', differs('a'))).toBeNull();
    expect(findFirstBeginning(began, 'in-sync', null)).toBeNull();
  });
});
