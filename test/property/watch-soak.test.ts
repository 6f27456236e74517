import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { onLoopback } from '../fixture/on-loopback.ts';
import { propertyRuns } from '../fixture/property-runs.ts';
import { loaded, RECORDED, startStore } from '../fixture/store-server.ts';
import { MINUTE, settingsFile, startWatching, watchFolder } from '../fixture/watch-world.ts';
import { LONG } from '../fixture/long.ts';

function heap(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

function openFiles(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
}

it(
  'a controller that turns ten thousand times keeps no more memory, sockets or files',
  LONG,
  async () => {
    const store = await startStore({}, { language: 'en' });
    const names = Array.from({ length: 50 }, (_, index) => `  e${index}: {}\n`).join('');
    const folder = watchFolder();
    settingsFile(
      folder,
      `version: 1\nserver: { url: "${store.url}", api_key: "\${env:SETPOINT_API_KEY}" }\nsettings: { language: en }\nwatch: { interval: 1m }\nenvironments:\n${names}`,
    );
    const watch = startWatching({ folder });
    const loops = async (count: number): Promise<void> => {
      for (let done = 0; done < count; done += 50) {
        // Every tenth loop finds something else than the one before.
        if (done % 500 === 0) store.stored = { language: done % 1000 === 0 ? 'fr' : 'en' };
        await watch.pass(MINUTE);
        store.requests.length = 0;
        watch.reads.length = 0;
      }
    };
    const measured = propertyRuns(1_500);
    await loops(6_000);
    const [before, files] = [heap(), openFiles()];
    await loops(measured);
    const grown = heap() - before;
    // A hundred bytes kept by each read would be seen.
    expect(grown).toBeLessThan(Math.max(1_000_000, measured * 100));
    expect(openFiles()).toBeLessThanOrEqual(files + 3);
    await watch.stop();
    await store.close();
  },
);

it(
  'a controller of a hundred origins that come and go keeps no more memory, sockets or files',
  LONG,
  async () => {
    const record = JSON.stringify(loaded({ language: 'en' }, RECORDED));
    const servers = await Promise.all(
      Array.from({ length: 100 }, () =>
        onLoopback((_, response) =>
          response.writeHead(200, { 'content-type': 'application/json' }).end(record),
        ),
      ),
    );
    const env = Object.fromEntries(servers.map((_, index) => [`KEY_${index}`, `key-${index}`]));
    const folder = watchFolder();
    const declare = (round: number): void => {
      const names = servers.map(
        ({ url }, index) =>
          `  e${round}-${index}: { server: { url: "${url}", api_key: "\${env:KEY_${index}}" } }\n`,
      );
      const declared = names.filter((_, index) => (index + round) % 2 === 0);
      settingsFile(
        folder,
        `version: 1\nsettings: { language: en }\nwatch: { interval: 1m }\nenvironments:\n${declared.join('')}`,
      );
    };
    declare(0);
    const watch = startWatching({ folder, request: { env } });
    const rounds = async (count: number): Promise<void> => {
      for (let round = 1; round <= count; round += 1) {
        // The names of two rounds before come back.
        declare(round % 4);
        await watch.pass(2 * MINUTE);
        expect(watch.controller.states().every(({ found }) => found === 'in-sync')).toBe(true);
        watch.reads.length = 0;
      }
    };
    await rounds(8);
    const [before, files] = [heap(), openFiles()];
    await rounds(propertyRuns(8));
    expect(heap() - before).toBeLessThan(2_000_000);
    expect(openFiles()).toBeLessThanOrEqual(files + 5);
    // One connection at most for each origin that is read.
    expect(files).toBeLessThan(1_000);
    await watch.stop();
    await Promise.all(servers.map((server) => server.close()));
  },
);
