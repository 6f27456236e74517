import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { init } from '../../../src/reconciler/operations/init.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { pull } from '../../../src/reconciler/operations/pull.ts';
import { startAgentServer } from '../../fixture/agent-server.ts';
import { startAppServer } from '../../fixture/app-server.ts';
import { folderWith } from '../../fixture/command.ts';
import { quickClock } from '../../fixture/settings.ts';
import type { Json, JsonRecord } from '../../fixture/store-server.ts';
import { describeEach, itEach } from '../../fixture/long.ts';

/** The value of a reference of the first environment; where the second has it, the file gets a reference, too. */
const HELD = 'zq9 hidden value';

const shapes = (text: string): Record<string, Json> => ({
  number: 1,
  truth: true,
  text: 'plain',
  held: text,
  list: [1, 'two'],
  'empty list': [],
  'list of maps': [{ a: 1, b: text }],
  map: { a: 1 },
  'map with text': { a: text, b: 2 },
  'deep map': { a: { b: { c: text, d: [text] } } },
  'empty map': {},
  'map of null': { a: null },
});

/** Each shape in the first environment beside each in the second, under a key of its own. */
function pairs(side: 0 | 1, nested: boolean): JsonRecord {
  const values = shapes(side === 0 ? 'two words' : HELD);
  const names = Object.keys(values);
  const all = names.flatMap((one) => names.map((other) => [one, other] as const));
  return Object.fromEntries(
    all.map((pair) => {
      const value = values[pair[side]] ?? null;
      return [pair.join(' to '), nested ? { inner: { value } } : value];
    }),
  );
}

const SERVERS = {
  async 'agent-server'(llm: JsonRecord) {
    const server = await startAgentServer();
    onTestFinished(() => server.close());
    await server.patch({ agent_settings_diff: { llm } });
    return server.url;
  },
  async 'app-server'(llm: JsonRecord) {
    const server = await startAppServer({ agent_settings: { llm } });
    onTestFinished(() => server.close());
    return server.url;
  },
};

async function begun(dialect: keyof typeof SERVERS, first: JsonRecord, second: JsonRecord) {
  const urls = [
    await SERVERS[dialect]({ extra_headers: { 'X-Held': HELD }, litellm_extra_body: first }),
    await SERVERS[dialect]({ litellm_extra_body: second }),
  ] as const;
  const folder = folderWith({});
  onTestFinished(() => folder.remove());
  const file = join(folder.path, 'settings.yaml');
  const env = { SETPOINT_API_KEY: 'contract-key', SECOND_API_KEY: 'contract-key' };
  const common = { file, env, clock: quickClock() };
  const { variables } = await init({ ...common, server: urls[0] });
  const held = Object.fromEntries(
    variables.filter(({ path }) => path[0] !== 'server').map(({ name }) => [name, HELD]),
  );
  return { urls, file, common: { ...common, env: { ...env, ...held } } };
}

/** What `init` does not ask for: on an Agent Server the list of agent profiles writes while none is active. */
function unread(dialect: string): string[][] {
  return dialect === 'agent-server' ? [['agent_profiles']] : [];
}

describeEach(['agent-server', 'app-server'] as const, (one) => one === 'agent-server')(
  'values of other shapes on %s',
  (dialect) => {
    it('are added with an environment: a map that holds the value of a reference in place of a number', async () => {
      const { urls, file, common } = await begun(dialect, { route: 1 }, { route: { inner: HELD } });
      const { left, variables } = await init({ ...common, server: urls[1], environment: 'second' });
      expect(left.map(({ path }) => path)).toEqual(unread(dialect));
      expect(variables.map(({ path }) => path.slice(-2))).toContainEqual(['route', 'inner']);
      expect(readFileSync(file, 'utf8')).not.toContain(HELD);
    });

    itEach([false, true], (nested) => !nested && dialect === 'agent-server')(
      'are added with an environment, whatever they were (nested: %s)',
      async (nested) => {
        const { urls, file, common } = await begun(dialect, pairs(0, nested), pairs(1, nested));
        const added = await init({ ...common, server: urls[1], environment: 'second' });
        expect(added.left.map(({ path }) => path)).toEqual(unread(dialect));
        expect(readFileSync(file, 'utf8')).not.toContain(HELD);
        const held = added.variables.map(({ name }) => [name, HELD] as const);
        const env = { ...Object.fromEntries(held), ...common.env };
        const { environments } = await plan({ ...common, env, targets: ['second'] });
        expect(environments).toMatchObject([{ error: null, changes: [] }]);
      },
    );

    itEach([false, true], (nested) => !nested && dialect === 'agent-server')(
      'are pulled, whatever they were (nested: %s)',
      async (nested) => {
        const { urls, common } = await begun(dialect, pairs(0, nested), pairs(1, nested));
        const given = { ...common, server: urls[1] };
        const pulled = await pull(given);
        const { environments } = await plan(given);
        const left = pulled.environments.flatMap((one) => one.left);
        for (const { reason } of left)
          expect([
            'written as a reference',
            'the service has the value of a reference or a secret here',
            'the value on the service may contain a secret',
          ]).toContain(reason);
        const own = new Set(left.map(({ path }) => path.join('/')));
        const unlike = environments.flatMap(({ changes }) =>
          changes.map(({ path }) => path.join('/')),
        );
        expect(unlike.filter((path) => !own.has(path))).toEqual([]);
        expect(environments.flatMap(({ error }) => error ?? [])).toEqual([]);
      },
    );
  },
);
