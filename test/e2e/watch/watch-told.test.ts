import { describe, expect, it, onTestFinished } from 'vitest';
import { parseSelector } from '../../../src/reconciler/model/selector.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { NOTICE_KINDS } from '../../../src/reconciler/model/watch.ts';
import type { Receiver } from '../../../src/controller/watch/notices/receiver.ts';
import { onLoopback } from '../../fixture/on-loopback.ts';
import { receiver } from '../../fixture/receivers.ts';
import { startStore } from '../../fixture/store-server.ts';
import {
  MINUTE,
  recordsOf,
  SECOND,
  settingsFile,
  startWatching,
  tableLocks,
  type WorldOptions,
  watchFolder,
} from '../../fixture/watch-world.ts';
import { LONG } from '../../fixture/long.ts';

const DECLARED = { language: 'en', llm_model: 'gpt-4o' };
const DRIFTED = { ...DECLARED, language: 'fr' };

interface Notice {
  readonly event: string;
  readonly environment: string;
  readonly summary: string;
  readonly paths: readonly string[];
  readonly healing: { readonly code: string; readonly message: string } | null;
}

interface Alert {
  readonly labels: { readonly alertname: string; readonly environment: string };
  readonly endsAt: string;
}

/** A service, and somebody who is told of it in JSON, in Alertmanager and by issues. */
async function scene(mode: 'heal' | 'detect', own: Partial<Receiver> = {}) {
  const store = await startStore({}, DECLARED);
  onTestFinished(() => store.close());
  const told: Notice[] = [];
  const hook = await onLoopback((_, response, body) => {
    told.push(...(JSON.parse(body) as { notices: Notice[] }).notices);
    response.end();
  });
  onTestFinished(() => hook.close());
  let alerts: readonly Alert[] = [];
  const manager = await onLoopback((_, response, body) => {
    alerts = JSON.parse(body) as Alert[];
    response.end();
  });
  onTestFinished(() => manager.close());
  const issues = new Map<string, string>();
  const to = (form: 'json' | 'alertmanager', url: string) => ({
    form,
    url: new Secret(url),
    headers: new Map(),
  });
  const notify = {
    page: null,
    heartbeat: null,
    receivers: [
      receiver({ name: 'hook', to: { ...to('json', hook.url), form: 'json' }, ...own }),
      receiver({
        name: 'pager',
        to: { ...to('alertmanager', manager.url), form: 'alertmanager' },
        events: new Set(NOTICE_KINDS.filter((kind) => kind !== 'healed')),
        ...own,
      }),
      receiver({
        name: 'issues',
        events: new Set(['opened', 'changed', 'resolved']),
        to: { form: 'github-issue', repository: 'a/b', token: new Secret('t'), apiUrl: null },
        ...own,
      }),
    ],
  };
  const folder = watchFolder();
  const write = (names: Readonly<Record<string, string>>, model = 'gpt-4o'): void => {
    const environments = Object.entries(names).map(([name, more]) => `  ${name}: ${more}\n`);
    settingsFile(
      folder,
      `version: 1
server: { url: "${store.url}", api_key: "\${env:SETPOINT_API_KEY}" }
settings: { language: en, llm_model: ${model} }
watch: { mode: ${mode}, interval: 1m }
environments:
${environments.join('')}`,
    );
  };
  write({ prod: '{}' });
  const start = (options: WorldOptions = {}) =>
    startWatching({
      folder,
      notify,
      issues: async (_, open, closed) => {
        for (const { name } of open) issues.set(name, 'open');
        for (const { state, words } of closed) issues.set(state.name, words);
        return { kind: 'sent' };
      },
      ...options,
    });
  const firing = (now: number): string[] =>
    alerts
      .filter(({ endsAt }) => Date.parse(endsAt) > now)
      .map(({ labels }) => `${labels.alertname} ${labels.environment}`);
  const events = (): string[] => told.map(({ event, environment }) => `${event} ${environment}`);
  return { store, told, issues, write, start, firing, events };
}

describe('somebody is told', () => {
  it('once, in one message, of what is healed within seconds', async () => {
    const { store, start, told, events, firing } = await scene('heal');
    const watch = start();
    await watch.pass(2 * MINUTE);
    store.stored = { ...DRIFTED };
    await watch.pass(5 * MINUTE);
    expect([watch.state().status, store.posts()]).toEqual(['in-sync', 1]);
    expect(events()).toEqual(['healed prod']);
    expect(told[0]).toMatchObject({
      summary: 'was changed on the service, and has been put back',
      paths: ['language'],
    });
    expect(firing(watch.clock.now())).toEqual([]);
    await watch.stop();
  });

  it('once of what was healed by a controller that was killed before it could say so', async () => {
    const { store, start, told, events } = await scene('heal');
    const locks = () => tableLocks(new Map());
    const watch = start({ locks });
    await watch.pass(2 * MINUTE);
    store.stored = { ...DRIFTED };
    while (recordsOf(watch.data, 'write').length === 0) await watch.pass(SECOND);
    watch.life.end();
    expect(events()).toEqual([]);
    const { clock } = watch;
    const next = start({ locks, clock });
    await next.pass(3 * MINUTE);
    expect(told).toMatchObject([
      { event: 'healed', summary: 'was changed on the service, and has been put back' },
    ]);
    expect(told[0]?.paths).toEqual(['language']);
    await next.stop();
    const last = start({ locks, clock });
    await last.pass(3 * MINUTE);
    expect([events(), store.posts()]).toEqual([['healed prod'], 1]);
    await last.stop();
  });

  it('that healing has stopped, with what is known of the other writer, and that it is over', async () => {
    const { store, start, told, events, firing } = await scene('heal');
    const watch = start();
    for (let minute = 0; minute < 20; minute += 2) {
      store.stored = { ...DRIFTED };
      await watch.pass(2 * MINUTE);
    }
    expect(watch.state().stopped).not.toBeNull();
    const stop = told.filter(({ event }) => event === 'healing-stopped');
    expect(stop).toHaveLength(1);
    expect(stop[0]?.healing).toMatchObject({
      code: 'stopped',
      message: expect.stringContaining('another client set it to "fr" again'),
    });
    expect(firing(watch.clock.now())).toContain('SetpointHealingStopped prod');
    await watch.controller.resume(['prod']);
    await watch.pass(5 * MINUTE);
    expect(events().at(-1)).toBe('resolved prod');
    expect(firing(watch.clock.now())).toEqual([]);
    await watch.stop();
  });

  it('that writes are refused, and nobody else is blamed for it', LONG, async () => {
    const { store, start, told, events } = await scene('heal');
    const watch = start();
    await watch.pass(2 * MINUTE);
    store.stored = { ...DRIFTED };
    store.intercept = (request, response) => {
      if (request.method !== 'POST') return false;
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end('{"error":"language is not supported"}');
      return true;
    };
    await watch.pass(30 * MINUTE);
    expect(events()).toEqual(['write-refused prod']);
    expect(told[0]?.healing?.code).toBe('bad-response');
    expect(watch.state()).toMatchObject({ stopped: null, healFailed: { count: 3 } });
    store.intercept = null;
    await watch.pass(60 * MINUTE);
    expect([watch.state().status, events().at(-1)]).toEqual(['in-sync', 'resolved prod']);
    await watch.stop();
  });

  it.each(['while it runs', 'while it does not'])(
    'that an environment is not in the files any more, which left them or was renamed %s',
    async (when) => {
      const { store, start, write, told, events, issues, firing } = await scene('detect');
      const first = start();
      store.stored = { ...DRIFTED };
      await first.pass(3 * MINUTE);
      expect(firing(first.clock.now())).toEqual(['SetpointDrift prod']);
      expect(issues.get('prod')).toBe('open');
      if (when === 'while it does not') await first.stop();
      write({ production: '{}' });
      const watch = when === 'while it runs' ? first : start({ clock: first.clock });
      await watch.pass(5 * MINUTE);
      expect(events().toSorted()).toEqual(['opened prod', 'opened production', 'resolved prod']);
      const words = 'is no longer in the settings files; it is not watched';
      expect(told.find(({ event }) => event === 'resolved')?.summary).toBe(words);
      expect([...issues]).toEqual([
        ['prod', words],
        ['production', 'open'],
      ]);
      expect(firing(watch.clock.now())).toEqual(['SetpointDrift production']);
      await watch.stop();
    },
  );

  it('that an environment is not one of those that it is told of', async () => {
    const own = { selector: parseSelector('tier=prod') };
    const { store, start, write, told, events, issues, firing } = await scene('detect', own);
    write({ prod: '{ labels: { tier: prod } }' });
    const watch = start();
    store.stored = { ...DRIFTED };
    await watch.pass(3 * MINUTE);
    write({ prod: '{ labels: { tier: test } }' });
    await watch.pass(3 * MINUTE);
    expect(events()).toEqual(['opened prod', 'resolved prod']);
    expect(told[1]?.summary).toContain('no longer among the environments of this receiver');
    expect(issues.get('prod')).toContain('no longer among');
    expect(firing(watch.clock.now())).toEqual([]);
    await watch.stop();
  });

  it(
    'that another shard has an environment now, unless somebody watches it under the same locks',
    LONG,
    async () => {
      const { store, start, told, events } = await scene('detect');
      const first = start({ request: { shard: { index: 0, count: 1 } } });
      store.stored = { ...DRIFTED };
      await first.pass(3 * MINUTE);
      expect(events()).toEqual(['opened prod']);
      await first.stop();
      const shards = [0, 1].map((index) => ({ index, count: 2 }));
      const worlds = shards.map((shard) => start({ request: { shard }, clock: first.clock }));
      for (const world of worlds) await world.begun;
      const empty = worlds.findIndex((world) => world.controller.states().length === 0);
      await worlds[0]?.pass(3 * MINUTE);
      expect(events()).toEqual(['opened prod']);
      for (const world of worlds) await world.stop();
      const alone = start({
        request: { shard: shards[empty] },
        clock: first.clock,
      });
      await alone.pass(3 * MINUTE);
      expect(events()).toEqual(['opened prod', 'resolved prod']);
      expect(told[1]?.summary).toContain('no longer watched here');
      await alone.stop();
    },
  );

  it('in true words that a person has put a change back while the file has a new edit', async () => {
    const { store, start, write, told, events } = await scene('detect');
    const watch = start();
    await watch.pass(2 * MINUTE);
    store.stored = { ...DRIFTED };
    await watch.pass(3 * MINUTE);
    store.stored = { ...DECLARED };
    write({ prod: '{}' }, 'gpt-5');
    await watch.pass(3 * MINUTE + 10 * SECOND);
    expect([watch.state().status, ...events()]).toEqual([
      'pending',
      'opened prod',
      'resolved prod',
    ]);
    expect(told[1]?.summary).toBe(
      'differs in another way than before, and has pending edits: the file was changed and is not applied',
    );
    await watch.stop();
  });
});
