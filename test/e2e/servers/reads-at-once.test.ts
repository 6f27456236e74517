/** A plan of many items asks for several of them at once, and never for more than a browser would. */
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { READS_AT_ONCE } from '../../../src/reconciler/service/connect.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { quickClock } from '../../fixture/settings.ts';

const NAMES = Array.from({ length: 20 }, (_, index) => `item${index + 10}`);
const isItem = (path: string): boolean => /^\/api\/(meta-)?profiles\/item/.test(path);

async function startWithItems() {
  const front = await startFronted({ dialect: 'agent-server' });
  onTestFinished(() => front.close());
  const settings = await front.ask('PATCH', '/api/settings', { misc_settings_diff: {} });
  expect(settings.status).toBe(200);
  for (const name of NAMES) {
    await front.ask('POST', `/api/profiles/${name}`, { llm: { model: 'openai/gpt-5' } });
    const classes = [{ description: 'all', model: name }];
    await front.ask('POST', `/api/meta-profiles/${name}`, { classifier_model: name, classes });
  }
  front.seen.length = 0;
  const profiles = NAMES.map((name) => `${name}: { model: openai/gpt-5 }`);
  const metas = NAMES.map(
    (name) => `${name}: { classifier: ${name}, classes: [{ description: all, model: ${name} }] }`,
  );
  const text = `version: 1
server: { url: "${front.url}" }
llm_profiles: { ${profiles.join(', ')} }
meta_profiles: { ${metas.join(', ')} }
`;
  return { front, run: () => plan({ text, env: {}, clock: quickClock() }) };
}

it('reads items of all collections at once, up to the limit', async () => {
  const { front, run } = await startWithItems();
  const full = new EventEmitter();
  const filled = once(full, 'open');
  const under = { now: 0, most: 0 };
  front.before = async ({ path }) => {
    if (!isItem(path)) return;
    under.now += 1;
    under.most = Math.max(under.most, under.now);
    if (under.now === READS_AT_ONCE) full.emit('open');
    // Nothing is answered before so many were asked: a client that asks one by one would wait here until it gives up.
    await filled;
    await delay(1);
    under.now -= 1;
  };
  const { environments } = await run();
  expect(environments[0]).toMatchObject({ status: 'in-sync', complete: true, error: null });
  expect(under.most).toBe(READS_AT_ONCE);
  expect(front.seen.filter(({ path }) => isItem(path))).toHaveLength(2 * NAMES.length);
});

it('names the same item of several that fail, whichever fails first, and begins no other', async () => {
  const { front, run } = await startWithItems();
  const later = new EventEmitter();
  const answered = once(later, 'open');
  front.instead = async ({ path }) => {
    if (!path.startsWith('/api/profiles/item')) return null;
    const number = Number(path.slice(-2));
    if (number === 13) later.emit('open');
    else await answered;
    return number < 11 ? null : { status: 403, body: { detail: 'no' } };
  };
  const { environments } = await run();
  expect(environments[0]?.error?.message).toContain('/api/profiles/item11');
  const asked = front.seen.filter(({ path }) => path.startsWith('/api/profiles/item'));
  expect(asked.length).toBeLessThanOrEqual(READS_AT_ONCE + 1);
});
