import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Seen } from '../../fixture/before-service.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import {
  ENV,
  SECRET_DIALECTS,
  SECRET_PATHS,
  startSecretsWorld,
  type SecretsWorld,
} from '../../fixture/custom-secrets.ts';

let world: SecretsWorld;
afterEach(() => world.close());

const isWrite = ({ method }: Seen): boolean => method !== 'GET';

describe.each(SECRET_DIALECTS)('%s: custom secrets and others who write', (dialect) => {
  beforeEach(async () => {
    world = await startSecretsWorld(dialect);
  });
  const isList = ({ method, path }: Seen): boolean =>
    method === 'GET' && path.startsWith(SECRET_PATHS[dialect]);

  it('an answer that was lost, and lists that fail after it: what became of the secret is unknown', async () => {
    let lost = false;
    world.front.instead = (seen) => {
      if (isWrite(seen)) {
        lost = true;
        return { status: 502, body: 'gone' };
      }
      return lost && isList(seen) ? { status: 503, body: 'down' } : null;
    };
    const [outcome] = (await apply(world.asked('{ DB: "${env:DB}" }'))).environments;
    expect(outcome).toMatchObject({
      changes: [{ result: 'unknown' }],
      error: { code: 'state-unknown' },
    });
  });

  it('a write that is abandoned is unknown, and not said to be not sent', async () => {
    const abandon = new AbortController();
    const signal = new AbortController();
    let pass = (): void => {};
    world.front.before = async (seen) => {
      if (!isWrite(seen)) return;
      signal.abort('SIGINT');
      abandon.abort();
      await new Promise<void>((resolve) => (pass = resolve));
    };
    const options = { signal: signal.signal, abandon: abandon.signal };
    const asked = world.asked('{ DB: "${env:DB}", JIRA: "${env:JIRA}" }');
    const [outcome] = (await apply({ ...asked, ...options })).environments;
    expect(outcome?.changes).toMatchObject([{ result: 'unknown' }, { result: 'not-sent' }]);
    expect(outcome?.error?.code).toBe('interrupted');
    pass();
    await expect.poll(() => world.values()).toEqual({ DB: ENV.DB });
  });

  it('one that somebody removed at the same moment is removed', async () => {
    await world.theirs('DB');
    world.front.before = async (seen) => {
      if (isWrite(seen)) await world.removed('DB');
    };
    const [outcome] = (await apply(world.asked('{ DB: null }'))).environments;
    expect(outcome).toMatchObject({ error: null, changes: [{ result: 'verified' }] });
  });

  it('a lost answer and a list that lags: the secret is there, and nothing false is said', async () => {
    let before: unknown = null;
    let lists = 0;
    let lost = false;
    world.front.changed = (seen, reply) => {
      if (!isList(seen)) return reply;
      before ??= reply.body;
      lists += 1;
      return lists < 4 ? { status: 200, body: before } : reply;
    };
    world.front.instead = async ({ method, path, body }) => {
      if (method === 'GET' || lost) return null;
      lost = true;
      await world.front.ask(method, path, JSON.parse(body));
      return { status: 502, body: 'gone' };
    };
    const [outcome] = (await apply(world.asked('{ DB: "${env:DB}" }'))).environments;
    expect(['set', 'unknown']).toContain(outcome?.changes[0]?.result);
    expect(world.values()).toEqual({ DB: ENV.DB });
    const [again] = (await apply(world.asked('{ DB: "${env:DB}" }'))).environments;
    expect(again).toMatchObject({ status: 'in-sync', error: null });
  });
});

describe.each(['app-server', 'agent-server'] as const)('%s replaces a value itself', (dialect) => {
  it('so that a secret that is called as a waiting one is left alone', async () => {
    world = await startSecretsWorld(dialect);
    await world.theirs('DB', 'old');
    await world.theirs('DB__next', 'theirs');
    const asked = { ...world.asked('{ DB: "${env:DB}" }'), rotate: 'all' as const };
    const [outcome] = (await apply(asked)).environments;
    expect(outcome).toMatchObject({ status: 'applied', changes: [{ action: 'rotate' }] });
    expect(world.values()).toEqual({ DB: ENV.DB, DB__next: 'theirs' });
  });
});

describe('agent-server', () => {
  beforeEach(async () => {
    world = await startSecretsWorld('agent-server');
  });

  it('changes a description by sending the value: the plan says so of one of unknown origin', async () => {
    await world.theirs('DB', 'value of somebody');
    const file = '{ DB: { value: "${env:DB}", description: mine } }';
    const [planned] = (await plan(world.asked(file))).environments;
    expect(planned?.changes).toMatchObject([
      { path: ['secrets', 'DB'], action: 'rotate' },
      { path: ['secrets', 'DB', 'description'], action: 'change' },
    ]);
    await apply(world.asked(file));
    expect(world.values()).toEqual({ DB: ENV.DB });
    const other = file.replace('mine', 'ours');
    const [known] = (await plan(world.asked(other))).environments;
    expect(known?.changes).toMatchObject([{ path: ['secrets', 'DB', 'description'] }]);
  });

  it('that lists none although some were stored from here may not be able to read them: refused', async () => {
    const file = '{ DB: "${env:DB}" }';
    await apply(world.asked(file));
    await world.removed('DB');
    const [planned] = (await plan(world.asked(file))).environments;
    expect(planned?.refusals).toMatchObject([{ rule: 'secrets-gone' }]);
    const [refused] = (await apply(world.asked(file))).environments;
    expect(refused).toMatchObject({ status: 'refused', changes: [{ result: 'not-sent' }] });
    const [allowed] = (await apply({ ...world.asked(file), allow: ['secrets-gone'] })).environments;
    expect(allowed).toMatchObject({ status: 'applied' });
    await world.theirs('JIRA');
    await world.removed('DB');
    const [healed] = (await apply(world.asked(file))).environments;
    expect(healed).toMatchObject({ status: 'applied' });
  });
});

describe('settings-v0: two who rotate one secret at the same time', () => {
  const asked = () => ({ ...world.asked('{ DB: "${env:DB}" }'), rotate: 'all' as const });

  /** Does something once, before the first request of a kind after others. */
  function once(isIt: (seen: Seen, writes: number) => boolean, act: () => Promise<unknown>): void {
    let isDone = false;
    let writes = 0;
    world.front.before = async (seen) => {
      if (!isDone && isIt(seen, writes)) {
        isDone = true;
        await act();
      }
      if (isWrite(seen)) writes += 1;
    };
  }

  async function stopped(told: RegExp): Promise<void> {
    const [outcome] = (await apply(asked())).environments;
    expect(outcome?.error?.message).toMatch(told);
    expect(outcome?.error?.hint).toMatch(/Another setpoint process may be rotating it/);
    expect(JSON.stringify(outcome)).not.toContain(ENV.DB);
  }

  beforeEach(async () => {
    world = await startSecretsWorld('settings-v0');
    await world.theirs('DB', 'old');
  });

  it.each([
    ['is gone', async () => world.removed('DB__next')],
    [
      'is another one',
      async () => {
        await world.removed('DB__next');
        const body = { name: 'DB__next', value: 'theirs', description: 'other' };
        await world.front.ask('POST', SECRET_PATHS['settings-v0'], body);
      },
    ],
  ])('the old value stays if the new one %s', async (_, act) => {
    once((seen, writes) => !isWrite(seen) && writes === 1, act);
    await stopped(/removed or changed DB__next, the new value of DB\. DB was left unchanged/);
    expect(world.values()).toMatchObject({ DB: 'old' });
    const [again] = (await apply(asked())).environments;
    expect(again).toMatchObject({ status: 'applied', error: null });
    expect(world.values()).toEqual({ DB: ENV.DB });
  });

  it('what waits stays if the old value is gone', async () => {
    await world.theirs('DB__next', 'theirs');
    let lists = 0;
    const isList = ({ method, path }: Seen): boolean => method === 'GET' && path.includes('secret');
    once(
      (seen) => isList(seen) && (lists += 1) === 3,
      async () => world.removed('DB'),
    );
    await stopped(/removed DB, whose new value waits as DB__next\. DB__next was left unchanged/);
    expect(world.values()).toEqual({ DB__next: 'theirs' });
    const [again] = (await apply(asked())).environments;
    expect(again).toMatchObject({ status: 'applied', error: null });
    expect(world.values()).toEqual({ DB: ENV.DB });
  });
});
