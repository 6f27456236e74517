import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startStore, type JsonRecord, type StoreServer } from '../../fixture/store-server.ts';
import {
  MINUTE,
  recordsOf,
  SECOND,
  settingsFile,
  startWatching,
  watchFolder,
  type World,
} from '../../fixture/watch-world.ts';
import { itEach } from '../../fixture/long.ts';

const DECLARED = { language: 'en', llm_model: 'gpt-4o', max_iterations: 50 };

interface Scene {
  readonly store: StoreServer;
  readonly watch: World;
}

function settings(url: string, watch: string, language = 'en'): string {
  return `version: 1
server: { url: "${url}", api_key: "\${env:SETPOINT_API_KEY}" }
settings: { language: ${language}, llm_model: gpt-4o, max_iterations: 50 }
watch: ${watch}
`;
}

async function scene(watch: string, stored: JsonRecord = DECLARED): Promise<Scene> {
  const store = await startStore({}, stored);
  const folder = watchFolder();
  settingsFile(folder, settings(store.url, watch));
  return { store, watch: startWatching({ folder }) };
}

async function ending({ store, watch }: Scene): Promise<void> {
  await watch.stop();
  await store.close();
}

/** Other values of what is declared, as many as are asked for: each way in which another client may go on. */
const FIGHTS: Readonly<Record<string, (turn: number) => JsonRecord>> = {
  'the same value': () => ({ language: 'fr' }),
  'another value each time': (turn) => ({ language: `x${turn}` }),
  'two paths in turn': (turn) => (turn % 2 === 0 ? { language: 'fr' } : { llm_model: 'other' }),
  'a set of paths that rotates': (turn) => ({
    ...(turn % 3 === 0 ? { language: `x${turn}` } : {}),
    ...(turn % 3 === 1 ? { llm_model: `x${turn}` } : {}),
    ...(turn % 3 === 2 ? { max_iterations: turn } : {}),
  }),
};

describe('another client that keeps changing an environment', () => {
  itEach(Object.entries(FIGHTS), ([how]) => how === 'a set of paths that rotates')(
    'is put right as often in an hour as allowed, then reported, also after a restart: %s',
    async (_, of) => {
      const { store, watch } = await scene('{ mode: heal, interval: 10s, max_heals_per_hour: 3 }');
      let now = watch;
      for (let turn = 0; turn < 120; turn += 1) {
        store.stored = { ...DECLARED, ...of(turn) };
        await now.pass(7 * SECOND);
        if (turn !== 20 && turn !== 60) continue;
        await now.stop();
        now = startWatching({ folder: watch.folder, clock: watch.clock });
      }
      expect(store.posts()).toBe(3);
      expect(recordsOf(watch.data, 'healing-stopped')).toMatchObject([
        { reason: expect.stringMatching(/healed 3 times within an hour.*another client/) },
      ]);
      expect(now.state().stopped).not.toBeNull();
      await ending({ store, watch: now });
    },
  );

  it('is put right though the write is planned from another value than the read found', async () => {
    const { store, watch } = await scene('{ mode: heal, interval: 10s }');
    await watch.pass(5 * SECOND);
    let last = -1;
    store.intercept = (request, _response, proceed) => {
      if (request.method !== 'GET' || store.posts() > 0) return false;
      const { passed } = watch.clock;
      store.stored = { ...DECLARED, language: `${passed === last ? 'b' : 'a'}${passed}` };
      last = passed;
      proceed();
      return true;
    };
    await watch.pass(2 * MINUTE);
    expect([store.posts(), store.stored]).toMatchObject([1, DECLARED]);
    await ending({ store, watch });
  });

  it('counts no edit of the file', async () => {
    const { store, watch } = await scene('{ mode: heal, interval: 10s, max_heals_per_hour: 1 }');
    await watch.pass(5 * SECOND);
    const declared = '{ mode: heal, interval: 10s, max_heals_per_hour: 1 }';
    for (const language of ['de', 'fr', 'it']) {
      writeFileSync(watch.file, settings(store.url, declared, language));
      await watch.pass(3 * MINUTE);
      expect(store.stored).toMatchObject({ language });
    }
    store.stored = { ...DECLARED, language: 'xx' };
    await watch.pass(MINUTE);
    expect([store.posts(), watch.state().status]).toEqual([4, 'in-sync']);
    store.stored = { ...DECLARED, language: 'xx' };
    await watch.pass(MINUTE);
    expect([store.posts(), watch.state().stopped?.path]).toEqual([4, 'language']);
    await ending({ store, watch });
  });
});

/** How a server stores something else than it is sent. */
const STORED: Readonly<Record<string, (sent: JsonRecord) => JsonRecord>> = {
  'in capitals': (sent) => ({ ...sent, language: (sent['language'] as string).toUpperCase() }),
  trimmed: (sent) => ({ ...sent, llm_model: 'gpt-4' }),
  rounded: (sent) => ({ ...sent, max_iterations: 48 }),
  'its default': (sent) => ({ ...sent, max_iterations: 500 }),
  'without a value': ({ max_iterations: _dropped, ...sent }) => ({ ...sent, max_iterations: null }),
};

describe('a server that stores something else than it is sent', () => {
  itEach(Object.entries(STORED), (_, index) => index === 0)(
    'is written once, and not said to be written by others: %s',
    async (_, of) => {
      const { store, watch } = await scene('{ mode: heal, interval: 10s }', {
        ...DECLARED,
        language: 'fr',
      });
      store.intercept = (request, response, _proceed, _count, body) => {
        if (request.method !== 'POST') return false;
        store.stored = of({ ...DECLARED, ...(JSON.parse(body) as JsonRecord) });
        response.setHeader('content-type', 'application/json');
        response.end('{"message":"Settings stored"}');
        return true;
      };
      await watch.pass(10 * MINUTE);
      expect(store.posts()).toBe(1);
      const stops = recordsOf(watch.data, 'healing-stopped');
      expect(stops).toMatchObject([
        {
          cause: 'server',
          reason: expect.stringMatching(/^The server stores .* for .*what the server stores/),
        },
      ]);
      expect(stops[0]?.reason).not.toMatch(/client|pipeline|person/);
      // Once the file has what the server stores, nothing is stopped any more.
      store.stored = { ...DECLARED };
      await watch.pass(MINUTE);
      expect(watch.state()).toMatchObject({ status: 'in-sync', stopped: null });
      await ending({ store, watch });
    },
  );

  itEach([8, 45], (seconds) => seconds === 8)(
    'is not called that if it shows the new value %i seconds later',
    async (seconds) => {
      const stored = { ...DECLARED, language: 'fr' };
      const { store, watch } = await scene('{ mode: heal, interval: 10s }', stored);
      let shownAt = Number.POSITIVE_INFINITY;
      store.intercept = (request, response, proceed) => {
        if (request.method !== 'POST') {
          if (watch.clock.passed >= shownAt) store.stored = { ...DECLARED };
          proceed();
          return true;
        }
        shownAt = watch.clock.passed + seconds * SECOND;
        response.setHeader('content-type', 'application/json');
        response.end('{"message":"Settings stored"}');
        return true;
      };
      await watch.pass(5 * MINUTE);
      expect([store.posts(), watch.state().status]).toEqual([1, 'in-sync']);
      expect(recordsOf(watch.data, 'healing-stopped')).toEqual([]);
      await ending({ store, watch });
    },
  );

  it('is written once if it never shows the new value', async () => {
    const stored = { ...DECLARED, language: 'fr' };
    const { store, watch } = await scene('{ mode: heal, interval: 10s }', stored);
    store.intercept = (request, response, _proceed) => {
      if (request.method !== 'POST') return false;
      response.setHeader('content-type', 'application/json');
      response.end('{"message":"Settings stored"}');
      return true;
    };
    await watch.pass(10 * MINUTE);
    expect(store.posts()).toBe(1);
    expect(recordsOf(watch.data, 'healing-stopped')).toMatchObject([
      {
        cause: 'server',
        reason: expect.stringContaining(
          'The server took a write of "en" for language, and still shows "fr".',
        ),
      },
    ]);
    await ending({ store, watch });
  });

  it('is written again once the file says something else', async () => {
    const { store, watch } = await scene('{ mode: heal, interval: 10s }', {
      ...DECLARED,
      language: 'fr',
    });
    store.intercept = (request, response, _proceed, _count, body) => {
      if (request.method !== 'POST') return false;
      const sent = { ...DECLARED, ...(JSON.parse(body) as JsonRecord) };
      store.stored = { ...sent, language: sent.language.toUpperCase() };
      response.setHeader('content-type', 'application/json');
      response.end('{"message":"Settings stored"}');
      return true;
    };
    await watch.pass(2 * MINUTE);
    writeFileSync(watch.file, settings(store.url, '{ mode: heal, interval: 10s }', 'DE'));
    await watch.pass(2 * MINUTE);
    expect([store.posts(), watch.state().status, watch.state().stopped]).toEqual([
      2,
      'in-sync',
      null,
    ]);
    await ending({ store, watch });
  });
});

it('writes environments of one server one after another, so that none undoes another', async () => {
  const drifted = { language: 'fr', llm_model: 'other', max_iterations: 3 };
  const store = await startStore({}, DECLARED);
  const folder = watchFolder();
  const own = Object.entries(DECLARED).map(
    ([name, value]) => `  ${name}: { settings: { ${name}: ${value} } }\n`,
  );
  settingsFile(
    folder,
    `version: 1
server: { url: "${store.url}", api_key: "\${env:SETPOINT_API_KEY}" }
watch: { mode: heal, interval: 30m, max_heals_per_hour: 1 }
environments:
${own.join('')}`,
  );
  const watch = startWatching({ folder });
  await watch.pass(MINUTE);
  store.stored = { ...drifted };
  let [open, most] = [0, 0];
  store.intercept = ({ method }, _response, proceed) => {
    if (method !== 'POST') return false;
    open += 1;
    most = Math.max(most, open);
    // Long enough for the others to read the server and to begin their write.
    setTimeout(() => {
      proceed();
      open -= 1;
    }, 200);
    return true;
  };
  const readAll = async (): Promise<void> => {
    for (const name of Object.keys(DECLARED)) await watch.controller.readNow(name);
    await watch.settle();
  };
  await readAll();
  await watch.pass(4 * SECOND);
  expect(store.posts()).toBe(0);
  await watch.pass(SECOND);
  await readAll();
  await watch.pass(MINUTE);
  expect([most, store.posts(), store.stored]).toMatchObject([1, 3, DECLARED]);
  expect(watch.controller.states().map(({ status }) => status)).toEqual(Array(3).fill('in-sync'));
  await ending({ store, watch });
});
