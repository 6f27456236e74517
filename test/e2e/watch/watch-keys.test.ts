import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startStore } from '../../fixture/store-server.ts';
import {
  HOUR,
  MINUTE,
  SECOND,
  settingsFile,
  startWatching,
  watchFolder,
} from '../../fixture/watch-world.ts';
import { itEach } from '../../fixture/long.ts';

const HEADERS = '{ X-Key: "${file:KEYS/k}" }';

/** Where a server's key may stand in a file. */
const PLACES: Readonly<Record<string, string>> = {
  api_key: 'api_key: "${file:KEYS/k}"',
  'a header': `headers: ${HEADERS}`,
};

async function refusing(place: string, interval: string) {
  const store = await startStore({}, { language: 'en' });
  const folder = watchFolder();
  const keys = join(folder, 'keys');
  mkdirSync(keys);
  const key = join(keys, 'k');
  writeFileSync(key, 'key-number-one\n');
  let accepted = 'key-number-one';
  store.intercept = (request, response) => {
    const { headers } = request;
    const all = [headers['x-session-api-key'], headers.authorization, headers['x-key']];
    if (all.some((one) => one?.includes(accepted))) return false;
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end('{"detail":"Unauthorized"}');
    return true;
  };
  settingsFile(
    folder,
    `version: 1
server: { url: "${store.url}", ${(PLACES[place] ?? '').replaceAll('KEYS', keys)} }
settings: { language: en }
watch: { interval: ${interval} }
`,
  );
  const watch = startWatching({ folder, request: { env: { SETPOINT_ALLOWED_FILES: keys } } });
  await watch.pass(2 * SECOND);
  expect(watch.state().status).toBe('in-sync');
  return {
    store,
    watch,
    key,
    rotate: (text: string) => {
      accepted = text;
    },
    end: async () => {
      await watch.stop();
      await store.close();
    },
  };
}

describe('a key file that is changed', () => {
  itEach(
    Object.keys(PLACES).flatMap((place) => ['10s', '1h'].map((every) => [place, every] as const)),
    ([place, every]) => place === 'api_key' && every === '1h',
  )('is used at once, whatever the back-off: %s, read every %s', async (place, every) => {
    const { store, watch, key, rotate, end } = await refusing(place, every);
    rotate('key-number-two');
    await watch.pass(3 * HOUR);
    expect(watch.state()).toMatchObject({
      status: 'error',
      plan: { error: { code: 'unauthorized' } },
    });
    const asked = store.requests.length;
    await watch.pass(MINUTE);
    // The file is looked at, the server is not asked for that.
    expect(store.requests.length - asked).toBeLessThanOrEqual(1);
    writeFileSync(key, 'key-number-two\n');
    await watch.pass(6 * SECOND);
    expect(watch.state()).toMatchObject({ status: 'in-sync', failures: 0 });
    await end();
  });

  it('is used at once if it was away', async () => {
    const { watch, key, end } = await refusing('api_key', '1h');
    rmSync(key);
    await watch.controller.readNow('default');
    await watch.pass(SECOND);
    expect(watch.state().plan?.error?.code).toBe('reference-missing');
    writeFileSync(key, 'key-number-one\n');
    chmodSync(key, 0o600);
    await watch.pass(6 * SECOND);
    expect(watch.state().status).toBe('in-sync');
    await end();
  });
});
