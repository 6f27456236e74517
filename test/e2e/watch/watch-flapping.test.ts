import { describe, expect } from 'vitest';
import { decide } from '../../../src/controller/watch/notices/decide.ts';
import { describeDueNotice } from '../../../src/controller/watch/notices/message.ts';
import { NotifiedStates } from '../../../src/controller/watch/notices/notified-states.ts';
import { isFlapping } from '../../../src/controller/watch/flapping.ts';
import { receiver } from '../../fixture/receivers.ts';
import { startStore, type JsonRecord } from '../../fixture/store-server.ts';
import {
  MINUTE,
  SECOND,
  settingsFile,
  startWatching,
  watchFolder,
} from '../../fixture/watch-world.ts';
import { itEach } from '../../fixture/long.ts';

/** How another client keeps changing what is declared. */
const WAYS: Readonly<Record<string, (turn: number) => JsonRecord>> = {
  'to and fro': (turn) => ({ language: turn % 2 === 0 ? 'fr' : 'en' }),
  'to ever new values': (turn) => ({ language: `x${turn}` }),
};

describe('an environment that is never healed and that another client keeps changing', () => {
  itEach(
    [
      ['to and fro', 'mode: detect'],
      ['to ever new values', 'mode: heal, windows: ["01:00-02:00"]'],
    ] as const,
    (_, index) => index === 0,
  )('is flapping, which is told once, until it is over: %s, %s', async (way, mode) => {
    const store = await startStore({}, { language: 'en' });
    const folder = watchFolder();
    settingsFile(
      folder,
      `version: 1\nserver: { url: "${store.url}" }\nsettings: { language: en }\nwatch: { ${mode}, interval: 10s }\n`,
    );
    let watch = startWatching({ folder });
    await watch.pass(5 * SECOND);
    const notified = new NotifiedStates();
    const to = receiver();
    const words: string[] = [];
    /** As receivers are told: what is due, once a minute. */
    const tell = (): void => {
      for (const due of decide(to, [watch.state()], notified, watch.clock.now())) {
        words.push(`${due.event}: ${describeDueNotice(due)}`);
        const at = new Date(watch.clock.now()).toISOString();
        const { event, digest } = due;
        const about = { environment: 'default', receiver: to.name, result: 'sent' } as const;
        notified.take({ v: 1, at, kind: 'notice', event, digest, ...about });
      }
    };
    for (let turn = 0; turn < 60; turn += 1) {
      store.stored = WAYS[way]?.(turn) ?? null;
      await watch.pass(25 * SECOND);
      if (turn % 2 === 0) tell();
      if (turn !== 30) continue;
      await watch.stop();
      watch = startWatching({ folder, clock: watch.clock });
      await watch.pass(5 * SECOND);
    }
    expect(isFlapping(watch.state(), watch.clock.now())).toBe(true);
    expect(words).toHaveLength(2);
    expect(words[0]).toMatch(/^opened: (?!is flapping)/);
    expect(words[1]).toMatch(/^changed: is flapping/);
    store.stored = { language: 'en' };
    await watch.pass(11 * MINUTE);
    tell();
    expect(words.slice(2)).toEqual([expect.stringMatching(/^resolved: /)]);
    expect(isFlapping(watch.state(), watch.clock.now())).toBe(false);
    await watch.pass(20 * MINUTE);
    tell();
    expect([words.length, store.posts()]).toEqual([3, 0]);
    await watch.stop();
    await store.close();
  });
});
