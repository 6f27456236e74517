import { afterEach, expect, it } from 'vitest';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { quickClock } from '../../fixture/settings.ts';

let front: Fronted;
afterEach(() => front.close());

const BLOCKS = {
  provider_connections: '{ team: { api_key: "${env:TEAM}" } }',
  meta_profiles: '{ router: { classifier: main } }',
  agent_profiles: '{ coder: { agent_kind: acp } }',
};

const CASES = (['settings-v0', 'app-server'] as const).flatMap((dialect) =>
  Object.entries(BLOCKS).map(([block, items]) => [dialect, block, items] as const),
);

it.each(CASES)('%s has no %s: the plan says so with its place', async (dialect, block, items) => {
  front = await startFronted({ dialect });
  const text = `version: 1\nserver: { url: "${front.url}" }\n${block}: ${items}\n`;
  const asked = { text, env: { TEAM: 'canary-team' }, clock: quickClock() };
  for (const made of [await plan(asked), await apply(asked)]) {
    const [found] = made.environments;
    expect(found?.error).toMatchObject({ code: 'unfit-for-service' });
    expect(found?.error?.message).toContain(`(settings.yaml:3)`);
    expect(found?.error?.hint).toMatch(/An Agent Server has them from 1\.\d+\.\d+\./);
    expect(JSON.stringify(made)).not.toContain('canary');
  }
  expect(front.writes()).toEqual([]);
});

it.each(['settings-v0', 'app-server'] as const)(
  '%s: all that it has not is said at once, each with its place and the releases that have it',
  async (dialect) => {
    front = await startFronted({ dialect });
    const blocks = Object.entries(BLOCKS).map(([block, items]) => `${block}: ${items}\n`);
    const text = `version: 1\nserver: { url: "${front.url}" }\n${blocks.join('')}`;
    const asked = { text, env: { TEAM: 'canary-team' }, clock: quickClock() };
    for (const made of [await plan(asked), await apply(asked)]) {
      const [found] = made.environments;
      expect(found?.error?.code).toBe('unfit-for-service');
      for (const [index, block] of Object.keys(BLOCKS).entries()) {
        expect(found?.error?.message).toContain(`${block} (settings.yaml:${index + 3})`);
        expect(found?.error?.hint).toContain(`Remove ${block} for this environment`);
      }
    }
    expect(front.writes()).toEqual([]);
  },
);
