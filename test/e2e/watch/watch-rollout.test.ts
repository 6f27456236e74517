import { afterEach, describe, expect, it } from 'vitest';
import type { ControllerRequest } from '../../../src/controller/watch/open-controller.ts';
import { whyNotHealed } from '../../../src/controller/watch/healing.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import {
  MINUTE,
  SECOND,
  settingsFile,
  startWatching,
  watchFolder,
  type World,
} from '../../fixture/watch-world.ts';
import { LONG, itEach } from '../../fixture/long.ts';

const stores: StoreServer[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

interface Member {
  readonly store: StoreServer;
  readonly ring: string | null;
}

interface Scene {
  readonly folder: string;
  readonly members: readonly Member[];
  /** `moved` are the servers that environments have instead of their own. */
  readonly edit: (language: string, moved?: readonly StoreServer[]) => void;
  readonly watch: World;
}

/** Environments e0, e1 and so on, in these rings, healed by a controller that has read all of them. */
async function begin(
  rings: readonly (string | null)[],
  options: Pick<ControllerRequest, 'soak' | 'maxFailures'> = {},
): Promise<Scene> {
  const folder = watchFolder();
  const members: Member[] = [];
  for (const ring of rings) members.push({ store: await startStore({}, { language: 'en' }), ring });
  stores.push(...members.map(({ store }) => store));
  const edit: Scene['edit'] = (language, moved = []) => {
    const each = members.map(({ store: own, ring }, index) => {
      const store = moved[index] ?? own;
      const labels = ring === null ? '' : `, labels: { ring: "${ring}" }`;
      return `  e${index}: { server: { url: "${store.url}" }${labels} }\n`;
    });
    settingsFile(
      folder,
      `version: 1\nsettings: { language: ${language} }\nwatch: { mode: heal, interval: 10s }\nenvironments:\n${each.join('')}`,
    );
  };
  edit('en');
  const watch = startWatching({ folder, ...options });
  await watch.pass(20 * SECOND);
  return { folder, members, edit, watch };
}

/** Every write is refused, or changes nothing, until `intercept` is null again. */
function refuseWrites({ store }: Member, how: 'changed back' | 'refused' = 'refused'): void {
  store.intercept = (request, response) => {
    if (request.method !== 'POST') return false;
    response.statusCode = how === 'refused' ? 422 : 200;
    response.setHeader('content-type', 'application/json');
    response.end(
      how === 'refused' ? '{"detail":"no such model"}' : '{"message":"Settings stored"}',
    );
    return true;
  };
}

function reached({ members }: Scene, language = 'de'): string[] {
  return members.flatMap(({ store }, index) =>
    store.stored?.['language'] === language ? [`e${index}`] : [],
  );
}

function why(watch: World, name: string): string | null {
  return whyNotHealed(watch.state(name), [], watch.clock.now());
}

describe('an edit of many environments', () => {
  it('reaches one, then ten, then the others, each once those before are verified', async () => {
    const all = await begin(Array.from({ length: 13 }, () => null));
    const { watch } = all;
    all.edit('de');
    await watch.pass(45 * SECOND);
    const [first = ''] = reached(all);
    expect(reached(all)).toHaveLength(1);
    const waiting = watch.controller.states().filter(({ name }) => name !== first);
    expect(new Set(waiting.map(({ name }) => why(watch, name)))).toEqual(
      new Set([`waits until ${first} is verified`]),
    );
    await watch.pass(55 * SECOND);
    expect(reached(all)).toHaveLength(11);
    await watch.pass(80 * SECOND);
    expect(reached(all)).toHaveLength(13);
    await watch.stop();
  });

  it('reaches ring after ring', async () => {
    const all = await begin(['1', '0', '1', null, '0', null]);
    const { watch } = all;
    all.edit('de');
    await watch.pass(40 * SECOND);
    expect(reached(all)).toEqual(['e1', 'e4']);
    expect([why(watch, 'e0'), why(watch, 'e3')]).toEqual(['waits for ring 0', 'waits for ring 0']);
    await watch.pass(65 * SECOND);
    expect(reached(all)).toEqual(['e0', 'e1', 'e2', 'e4']);
    expect(why(watch, 'e3')).toBe('waits for ring 1');
    await watch.pass(90 * SECOND);
    expect(reached(all)).toHaveLength(6);
    await watch.stop();
  });

  itEach(['refused', 'changed back'] as const, (how) => how === 'refused')(
    'stops once more than a tenth are %s',
    async (how) => {
      const all = await begin(Array.from({ length: 3 }, () => null));
      const { watch } = all;
      for (const member of all.members) refuseWrites(member, how);
      all.edit('de');
      await watch.pass(3 * MINUTE);
      const written = all.members.filter(({ store }) => store.posts() > 0);
      expect(written).toHaveLength(1);
      const waiting = watch.controller.states().find(({ waits }) => waits !== null);
      expect(waiting?.waits).toMatchObject({
        words: expect.stringMatching(/^the edit stopped: 1 of 1 failed or differ again \(e\d\)$/),
        isStopped: true,
      });
      // The next edit begins again.
      for (const { store } of all.members) store.intercept = null;
      all.edit('it');
      await watch.pass(3 * MINUTE);
      expect(reached(all, 'it')).toHaveLength(3);
      await watch.stop();
    },
  );

  it('goes on once what failed is as declared, one at a time', async () => {
    const all = await begin(Array.from({ length: 3 }, () => null));
    const { watch } = all;
    for (const member of all.members) refuseWrites(member);
    all.edit('de');
    await watch.pass(3 * MINUTE);
    const failed = all.members.find(({ store }) => store.posts() > 0);
    for (const { store } of all.members) store.intercept = null;
    if (failed !== undefined) failed.store.stored = { language: 'de' };
    await watch.pass(40 * SECOND);
    expect(reached(all)).toHaveLength(2);
    await watch.pass(3 * MINUTE);
    expect(reached(all)).toHaveLength(3);
    await watch.stop();
  });

  it('goes on after a restart where it was, and begins again with a second edit', async () => {
    const all = await begin(['0', '1', '1', '2']);
    const { watch } = all;
    all.edit('de');
    await watch.pass(40 * SECOND);
    expect(reached(all)).toEqual(['e0']);
    await watch.stop();
    const next = startWatching({ folder: all.folder, clock: watch.clock });
    await next.pass(20 * SECOND);
    expect(reached(all)).toEqual(['e0']);
    await next.pass(50 * SECOND);
    expect(reached(all)).toEqual(['e0', 'e1', 'e2']);
    all.edit('it');
    await next.pass(40 * SECOND);
    expect([reached(all, 'it'), all.members[3]?.store.posts()]).toEqual([['e0'], 0]);
    await next.pass(4 * MINUTE);
    expect(reached(all, 'it')).toHaveLength(4);
    await next.stop();
  });

  it('waits as long as it is set to, and allows as many failures', LONG, async () => {
    const all = await begin(['0', '0', '1'], { soak: 5 * MINUTE, maxFailures: '1' });
    const { watch } = all;
    const [first] = all.members;
    if (first === undefined) throw new Error('There is no member.');
    refuseWrites(first);
    all.edit('de');
    await watch.pass(4 * MINUTE);
    expect([reached(all), why(watch, 'e2')]).toEqual([['e1'], 'waits for ring 0']);
    first.store.intercept = null;
    first.store.stored = { language: 'de' };
    await watch.pass(8 * MINUTE);
    expect(reached(all)).toHaveLength(3);
    await watch.stop();
  });

  it('reaches all at once if it is set to wait for none', async () => {
    const all = await begin(['0', '1', null], { soak: 0 });
    all.edit('de');
    await all.watch.pass(40 * SECOND);
    expect(reached(all)).toHaveLength(3);
    await all.watch.stop();
  });

  itEach(['', ', also after a restart'], (when) => when === '')(
    'is reverted everywhere at once%s',
    async (when) => {
      const all = await begin(['0', '1', null]);
      let { watch } = all;
      await watch.pass(2 * MINUTE);
      all.edit('de');
      await watch.pass(6 * MINUTE);
      expect(reached(all)).toHaveLength(3);
      if (when !== '') {
        await watch.stop();
        watch = startWatching({ folder: all.folder, clock: watch.clock });
        await watch.pass(30 * SECOND);
      }
      all.edit('en');
      await watch.pass(40 * SECOND);
      expect(reached(all, 'en')).toHaveLength(3);
      // What none of them had waits, as any edit.
      all.edit('it');
      await watch.pass(40 * SECOND);
      expect(reached(all, 'it')).toEqual(['e0']);
      await watch.stop();
    },
  );

  it(
    'waits if it is of the address alone, also once something else changes there',
    LONG,
    async () => {
      const all = await begin(['0', '1'], { soak: 10 * MINUTE });
      const { watch } = all;
      await watch.pass(12 * MINUTE);
      const moved = [
        await startStore({}, { language: 'fr' }),
        await startStore({}, { language: 'fr' }),
      ];
      stores.push(...moved);
      all.edit('en', moved);
      await watch.pass(MINUTE);
      const [first, second] = moved;
      if (second !== undefined) second.stored = { language: 'it' };
      await watch.pass(5 * MINUTE);
      expect([first?.posts(), second?.posts(), why(watch, 'e1')]).toEqual([
        1,
        0,
        'waits for ring 0',
      ]);
      await watch.stop();
    },
  );

  it('is reverted where it failed, without a wait, and reaches no more', async () => {
    const all = await begin(['0', '0', '1']);
    const { watch } = all;
    await watch.pass(2 * MINUTE);
    const [first] = all.members;
    if (first === undefined) throw new Error('There is no member.');
    all.edit('de');
    await watch.pass(40 * SECOND);
    expect(reached(all)).toEqual(['e0', 'e1']);
    refuseWrites(first);
    all.edit('en');
    await watch.pass(40 * SECOND);
    expect(reached(all, 'en')).toEqual(['e1', 'e2']);
    await watch.stop();
  });

  it('says which ring cannot be written, and goes on once it can', LONG, async () => {
    const all = await begin(['0', '1']);
    const { watch } = all;
    await watch.controller.suspend(['e0'], { reason: 'an incident', until: null });
    all.edit('de');
    await watch.pass(10 * MINUTE);
    expect([reached(all), why(watch, 'e1')]).toEqual([
      [],
      'waits for ring 0, where e0 cannot be written',
    ]);
    await watch.controller.resume(['e0']);
    await watch.pass(3 * MINUTE);
    expect(reached(all)).toHaveLength(2);
    await watch.stop();
  });

  itEach(['before the edit', 'at the edit', 'and after a restart'], (_, index) => index === 0)(
    'waits for a ring that cannot be reached: %s',
    async (when) => {
      const all = await begin(['0', '1', null]);
      let { watch } = all;
      const [first] = all.members;
      if (first === undefined) throw new Error('There is no member.');
      first.store.intercept = (request) => {
        request.socket.destroy();
        return true;
      };
      if (when === 'before the edit') await watch.pass(MINUTE);
      all.edit('de');
      await watch.pass(MINUTE);
      if (when === 'and after a restart') {
        await watch.stop();
        watch = startWatching({ folder: all.folder, clock: watch.clock });
      }
      await watch.pass(4 * MINUTE);
      expect([reached(all), why(watch, 'e1'), why(watch, 'e2')]).toEqual([
        [],
        'waits for ring 0, where e0 cannot be written',
        'waits for ring 0, where e0 cannot be written',
      ]);
      first.store.intercept = null;
      await watch.pass(15 * MINUTE);
      expect(reached(all)).toHaveLength(3);
      await watch.stop();
    },
  );
});

describe('drift of many environments', () => {
  it('is put back everywhere at once, also during an edit that waits', async () => {
    const all = await begin(Array.from({ length: 12 }, () => null));
    const { watch } = all;
    for (const { store } of all.members) store.stored = { language: 'xx' };
    await watch.pass(40 * SECOND);
    expect(reached(all, 'en')).toHaveLength(12);
    expect(all.members.map(({ store }) => store.posts())).toEqual(all.members.map(() => 1));
    await watch.stop();
  });
});
