import { describe, expect, it } from 'vitest';
import {
  AGENT_PROFILES_FORM,
  CONNECTIONS_FORM,
  SECRETS_FORM,
} from '../../../src/reconciler/model/collection-forms.ts';
import type { DesiredItem, ListedItem, Listing } from '../../../src/reconciler/model/collection.ts';
import type { PartPlan } from '../../../src/reconciler/model/plan.ts';
import type { Fingerprints } from '../../../src/reconciler/model/ports.ts';
import { Secret, UnseenSecret } from '../../../src/reconciler/model/secret.ts';
import type { ValueRecord } from '../../../src/reconciler/model/value.ts';
import { planCollection } from '../../../src/reconciler/resources/collections/plan.ts';
import {
  afterEarlierRenames,
  afterRenames,
  listRenamings,
  throwIfNotRenamed,
} from '../../../src/reconciler/resources/collections/renames.ts';

const SOURCE = { file: 'settings.yaml', line: 9, column: 5 };

function declared(name: string, former: string, members: ValueRecord = {}): DesiredItem {
  return { name, members, source: SOURCE, former: { name: former, source: SOURCE } };
}

function listing(names: readonly string[], more: Partial<Listing> = {}): Listing {
  const items = names.map((name): ListedItem => ({ name, members: {}, id: `id-${name}` }));
  return { items, replaces: 'in-place', describes: true, ...more };
}

const names = ({ items }: Listing): string[] => items.map(({ name }) => name);

describe('what is renamed', () => {
  it('is what a list has under the former name and not under the own one', () => {
    const item = declared('b', 'a');
    const renamed = (...there: string[]) => listRenamings([item], listing(there)).length;
    expect([renamed('a'), renamed('a', 'b'), renamed('b'), renamed()]).toEqual([1, 0, 0, 0]);
  });

  it('keeps what the service itself calls it, and all others their names', () => {
    const after = afterRenames([declared('b', 'a')], listing(['a', 'x']));
    expect(after.items.map(({ name, id }) => [name, id])).toEqual([
      ['b', 'id-a'],
      ['x', 'id-x'],
    ]);
  });

  it('is a value that waits, too, unless one waits under the new name', () => {
    const there = { replaces: 'by-second-name' } as const;
    const after = (...all: string[]) =>
      names(afterRenames([declared('b', 'a')], listing(all, there)));
    expect(after('a', 'a__next')).toEqual(['b', 'b__next']);
    expect(after('a__next')).toEqual(['b__next']);
    expect(after('a', 'a__next', 'b__next')).toEqual(['b', 'a__next', 'b__next']);
    expect(names(afterRenames([declared('b', 'a')], listing(['a', 'a__next'])))).toEqual([
      'b',
      'a__next',
    ]);
  });

  it('is refused where the service has both, or no request for it', () => {
    const refused = (there: readonly string[], rename?: () => never) => () =>
      throwIfNotRenamed(
        SECRETS_FORM,
        rename === undefined ? {} : { rename },
        [declared('b', 'a')],
        listing(there),
      );
    const rename = () => {
      throw new Error('is not asked for');
    };
    expect(refused(['a', 'b'], rename)).toThrow(
      'moved names secrets.a to secrets.b (settings.yaml:9)',
    );
    expect(refused(['a'])).toThrow('cannot rename custom secrets');
    for (const there of [['b'], []]) expect(refused(there)).not.toThrow();
    expect(refused(['a'], rename)).not.toThrow();
  });
});

describe('a plan of what is renamed', () => {
  const known: Fingerprints = {
    compare: ([, name], value) => (name !== 'a' ? 'none' : value === 'same' ? 'same' : 'different'),
  };
  const planned = (key: string, there: ValueRecord = { api_key: new UnseenSecret() }) =>
    planCollection(
      CONNECTIONS_FORM,
      [declared('b', 'a', { base_url: 'https://two.example.com', api_key: new Secret(key) })],
      {
        ...listing([]),
        items: [
          { name: 'a', members: there },
          { name: 'x', members: {} },
        ],
      },
      { rotation: [], fingerprints: known },
    );

  it('names it, and then what differs from what the service has under the former name', () => {
    const there = { base_url: 'https://one.example.com', api_key: new UnseenSecret() };
    const { changes, unmanaged, moved } = planned('same', there);
    expect(changes).toMatchObject([
      {
        action: 'rename',
        path: ['provider_connections', 'b'],
        before: 'a',
        after: 'b',
        sensitive: false,
        reason: 'renamed from a',
        source: SOURCE,
      },
      { action: 'change', path: ['provider_connections', 'b', 'base_url'] },
    ]);
    expect(unmanaged).toEqual([['provider_connections', 'x']]);
    // The stored key would go to another host.
    expect(moved.map(({ path }) => path)).toEqual([['provider_connections', 'b', 'base_url']]);
  });

  it('compares a secret with what was last sent under the former name', () => {
    const actions = (key: string) => planned(key).changes.map(({ action }) => action);
    expect(actions('same')).toEqual(['rename', 'set']);
    expect(actions('another')).toEqual(['rename', 'rotate', 'set']);
  });
});

describe('what names something that is renamed', () => {
  const part = planCollection(CONNECTIONS_FORM, [declared('b', 'a')], listing(['a']), {
    rotation: [],
    fingerprints: { compare: () => 'none' },
  });
  const resource = { name: 'provider connection', block: 'provider_connections' };
  const earlier = [{ ...part, resource } as unknown as PartPlan];
  const there = { ...listing([]), items: [{ name: 'one', members: { one: 'a', other: 'a' } }] };
  const follows = (_: string, member: string) =>
    member === 'one' ? 'provider_connections' : undefined;

  it('is read as the service will have it, where it follows by itself', () => {
    expect(afterEarlierRenames({ follows }, there, earlier).items).toMatchObject([
      { members: { one: 'b', other: 'a' } },
    ]);
    expect(
      afterEarlierRenames({ follows: () => AGENT_PROFILES_FORM.block }, there, earlier),
    ).toEqual(there);
    expect(afterEarlierRenames({}, there, earlier)).toBe(there);
    expect(afterEarlierRenames({ follows }, there, [])).toBe(there);
  });
});
