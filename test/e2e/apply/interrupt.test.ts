import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith, start } from '../../fixture/command.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import { dedent } from '../../fixture/dedent.ts';
import { itEach } from '../../fixture/long.ts';

const STORED = { language: 'en', agent: 'A', llm_api_key: 'stored', mcp_config: null };
const ENV = { SETPOINT_API_KEY: 'k', LLM: 'new-llm-key' };

let store: StoreServer;
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  store = await startStore({}, { ...STORED });
  folder = folderWith({
    'settings.yaml': dedent`
      version: 1
      server: { url: "${store.url}", api_key: "\${env:SETPOINT_API_KEY}" }
      settings:
        language: fr
        search_api_key: \${env:LLM}
        sandbox_api_key: null
    `,
  });
});
afterEach(async () => {
  await store.close();
  folder.remove();
});

/** Milliseconds within which a process has seen a signal, on a busy machine too. */
const SEEN = 3000;

const options = () => ({ cwd: folder.path, env: ENV });

describe('M17: killed at any request, a second run converges', () => {
  for (const when of ['before', 'after'] as const) {
    itEach([1, 2, 3, 4], (nth) => nth === 3)(
      `killed at request %i, ${when} its effect`,
      async (nth) => {
        const first = start(['apply', '--yes'], options());
        store.intercept = (_, __, proceed, count) => {
          if (count !== nth) return false;
          if (when === 'after') proceed();
          first.child.kill('SIGKILL');
          return true;
        };
        await first.ended;
        store.intercept = null;
        const second = await setpoint(['apply', '--yes', '-o', 'json'], options());
        expect(second.code).toBe(0);
        expect(store.stored).toMatchObject({
          language: 'fr',
          agent: 'A',
          llm_api_key: 'stored',
          search_api_key: 'new-llm-key',
        });
        const third = await setpoint(['apply', '--yes', '-o', 'json'], options());
        expect(JSON.parse(third.stdout)).toMatchObject({
          environments: [{ status: 'in-sync', requests: { post: 0 } }],
        });
      },
    );
  }
});

describe.runIf(process.platform !== 'win32')('a signal', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s before the write: nothing is written', async (signal, code) => {
    const running = start(['apply', '--yes', '-o', 'json'], options());
    store.intercept = () => {
      running.child.kill(signal);
      return true;
    };
    const ended = await running.ended;
    expect(ended.code).toBe(code);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      kind: 'outcome',
      environments: [{ status: 'failed', requests: { post: 0 } }],
    });
    expect(store.stored).toEqual(STORED);
  });

  itEach(
    [
      ['SIGTERM', 143],
      ['SIGINT', 130],
    ] as const,
    ([signal]) => signal === 'SIGTERM',
  )('M17: %s during the write: it is finished, verified, and reported', async (signal, code) => {
    const running = start(['apply', '--yes', '-o', 'json'], options());
    store.intercept = (request, _, proceed) => {
      if (request.method !== 'POST') return false;
      running.child.kill(signal);
      setTimeout(proceed, SEEN);
      return true;
    };
    const ended = await running.ended;
    expect(ended.code).toBe(code);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      environments: [{ status: 'applied', changes: [{ result: 'verified' }, { result: 'set' }] }],
    });
    expect(store.stored).toMatchObject({ language: 'fr', agent: 'A' });
  });

  it('a second one abandons what is in flight, and reports its state as unknown', async () => {
    const running = start(['apply', '--yes', '-o', 'json'], options());
    store.intercept = (request) => {
      if (request.method !== 'POST') return false;
      running.child.kill('SIGTERM');
      setTimeout(() => running.child.kill('SIGTERM'), SEEN);
      return true;
    };
    const ended = await running.ended;
    expect(ended.code).toBe(143);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      environments: [{ status: 'failed', changes: [{ result: 'unknown' }, { result: 'unknown' }] }],
    });
  });

  it('ends a plan with its own exit code', async () => {
    const running = start(['plan', '-o', 'json'], options());
    store.intercept = () => {
      running.child.kill('SIGTERM');
      return true;
    };
    const ended = await running.ended;
    expect(ended.code).toBe(143);
    expect(JSON.parse(ended.stdout)).toMatchObject({ environments: [{ status: 'error' }] });
  });
});
