import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OutcomeDocument } from '../../../src/reconciler/model/outcome.ts';
import { setpoint as builtCommand, folderWith, start } from '../../fixture/command.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { dedent } from '../../fixture/dedent.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import { LONG } from '../../fixture/long.ts';

const ENV = { KEY: 'k-1' };

let stores: Record<'one' | 'two', StoreServer>;
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  stores = { one: await startStore(), two: await startStore({}, { language: 'de' }) };
  folder = folderWith({
    'settings.yaml': dedent`
      version: 1
      settings: { language: fr, llm_api_key: "\${env:KEY}", sandbox_api_key: null }
      environments:
        one: { server: { url: "${stores.one.url}" } }
        two: { server: { url: "${stores.two.url}" } }
    `,
  });
});
afterEach(async () => {
  await Promise.all(Object.values(stores).map((store) => store.close()));
  folder.remove();
});

const options = () => ({ cwd: folder.path, env: ENV });

describe('apply --if-empty', () => {
  it('writes where nothing is stored, leaves alone what is, and a second time leaves both', async () => {
    const args = ['apply', '--all', '--if-empty', '--yes', '--no-color'];
    const first = await setpoint(args, options());
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(first.stdout).toContain('Applied 2 changes.');
    expect(first.stdout).toMatch(
      /two {2}http:\S+\n\nNo changes were made: settings are already stored \(--if-empty\)\.\n/,
    );
    expect(stores.one.stored).toMatchObject({ language: 'fr', llm_api_key: 'k-1' });
    expect(stores.two.stored).toEqual({ language: 'de' });

    const second = await setpoint([...args, '-o', 'json'], options());
    expect(second.code).toBe(0);
    const { environments } = JSON.parse(second.stdout) as OutcomeDocument;
    expect(environments).toMatchObject([
      { name: 'one', status: 'not-empty', changes: [], requests: { post: 0 }, error: null },
      { name: 'two', status: 'not-empty', changes: [], requests: { post: 0 }, error: null },
    ]);
    expect([stores.one.posts(), stores.two.posts()]).toEqual([1, 0]);
  });

  it('still needs every reference, and an answer', async () => {
    const args = ['apply', '-e', 'two', '--if-empty'];
    const unset = await setpoint([...args, '--yes'], { cwd: folder.path, env: {} });
    expect([unset.code, unset.stderr]).toEqual([3, expect.stringContaining('KEY is not set')]);
    const unasked = await setpoint(args, options());
    expect([unasked.code, unasked.stderr]).toEqual([3, expect.stringContaining('--yes')]);
    expect(stores.two.requests).toEqual([]);
  });

  it('does not lift the guard empty-store', async () => {
    const guarded = folderWith({
      'settings.yaml': dedent`
        version: 1
        server: { url: "${stores.one.url}" }
        settings: { language: fr, sandbox_api_key: null }
        guards: { empty_store: true }
      `,
    });
    try {
      const args = ['apply', '--if-empty', '--yes'];
      const refused = await setpoint(args, { cwd: guarded.path });
      expect([refused.code, stores.one.stored]).toEqual([5, null]);
      const allowed = await setpoint([...args, '--allow', 'empty-store'], { cwd: guarded.path });
      expect([allowed.code, stores.one.stored]).toMatchObject([0, { language: 'fr' }]);
    } finally {
      guarded.remove();
    }
  });

  it('excludes --dry-run', async () => {
    const { code, stderr } = await setpoint(['apply', '--if-empty', '--dry-run'], options());
    expect([code, stderr]).toEqual([3, expect.stringContaining('--dry-run never writes')]);
  });
});

describe('--wait-ready', () => {
  /** Makes a store answer 503 so many times. */
  function starting(store: StoreServer, times: number): void {
    store.intercept = (_, response, __, count) => {
      if (count > times) return false;
      response.writeHead(503).end();
      return true;
    };
  }

  it.each([
    ['apply', ['apply', '--yes']],
    ['plan', ['plan']],
    ['drift', ['drift']],
    ['get', ['get', 'settings']],
  ])('%s goes on once the service answers', async (_, args) => {
    starting(stores.one, 6);
    const waited = await setpoint([...args, '-e', 'one', '--wait-ready', '5m'], options());
    expect(waited.stderr).toMatch(
      /^one: waiting for the service: status 503\.\none: the service answers, after \d s\.\n$/,
    );
    expect(waited.code).toBe(args[0] === 'drift' ? 2 : 0);
  });

  it('is not asked for: four tries, as ever', async () => {
    starting(stores.one, 6);
    const { code, stderr } = await setpoint(['plan', '-e', 'one'], options());
    expect([code, stderr]).toEqual([1, expect.stringContaining('4 tries in all')]);
  });

  it('waits for each environment by itself, and for what restarts between the plan and the write', async () => {
    starting(stores.one, 3);
    stores.two.intercept = (_, response, __, count) => {
      if (count < 2 || count > 8) return false;
      response.writeHead(502).end();
      return true;
    };
    const args = ['apply', '--all', '--yes', '-q', '--wait-ready', '1m'];
    const { code, stderr } = await setpoint(args, options());
    expect([code, stderr]).toEqual([0, '']);
    expect(stores.two.stored).toMatchObject({ language: 'fr' });
  });

  it('waits through a restart that a write meets, and sends it again', async () => {
    let down = 0;
    stores.two.intercept = (request, response) => {
      if (request.method === 'POST' && down === 0) down = 1;
      if (down === 0 || down > 7) return false;
      down += 1;
      response.destroy();
      return true;
    };
    const args = ['apply', '-e', 'two', '--yes', '--wait-ready', '1m'];
    const { code } = await setpoint(args, options());
    expect(code).toBe(0);
    expect(stores.two.stored).toMatchObject({ language: 'fr', llm_api_key: 'k-1' });
    expect(stores.two.posts()).toBe(2);
  });

  it('ends with the last problem and its exit code, in the document too', async () => {
    starting(stores.one, Infinity);
    const args = ['apply', '-e', 'one', '--yes', '--wait-ready', '20s', '-o', 'json'];
    const { code, stdout } = await setpoint(args, options());
    const { environments } = JSON.parse(stdout) as OutcomeDocument;
    expect(code).toBe(1);
    expect(environments[0]?.error).toMatchObject({
      code: 'server-error',
      message: expect.stringMatching(
        /^The service was not ready within 20 s\..*\(status 503\): GET \S+\.$/,
      ),
    });
  });

  it('does not wait for a wrong address', async () => {
    stores.one.intercept = (_, response) => {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"Not Found"}');
      return true;
    };
    const { code, stderr } = await setpoint(['plan', '-e', 'one', '--wait-ready', '5m'], options());
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('The server does not know this path'),
    ]);
    expect(stderr).not.toContain('waiting');
  });

  it.each([
    [['plan', '--snapshot', 'x.json', '--wait-ready', '5m'], '--wait-ready is for a service'],
    [['plan', 'plan.json', '--wait-ready', '5m'], '--wait-ready is for a new plan'],
    [['plan', '--wait-ready', 'soon'], '--wait-ready takes a time'],
    [['validate', '--wait-ready', '5m'], "Unknown option '--wait-ready'"],
  ])('%j is a usage error', async (args, words) => {
    const { code, stderr } = await setpoint(args, options());
    expect([code, stderr]).toEqual([3, expect.stringContaining(words)]);
  });

  it.runIf(process.platform !== 'win32').each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s ends it at once, with a document', async (signal, exit) => {
    starting(stores.one, Infinity);
    const args = ['apply', '-e', 'one', '--yes', '--wait-ready', '5m', '-o', 'json'];
    const running = start(args, options());
    stores.one.intercept = (_, response, __, count) => {
      response.writeHead(503).end();
      if (count === 2) running.child.kill(signal);
      return true;
    };
    const { code, stdout } = await running.ended;
    expect(code).toBe(exit);
    expect(JSON.parse(stdout)).toMatchObject({
      environments: [{ status: 'failed', requests: { post: 0 } }],
    });
    expect(stores.one.requests.length).toBeLessThanOrEqual(3);
  });

  it('waits in real time, too', LONG, async () => {
    starting(stores.one, 2);
    const { code, stderr } = await builtCommand(
      ['plan', '-e', 'one', '--wait-ready', '30s'],
      options(),
    );
    expect([code, stderr]).toMatchObject([0, expect.stringMatching(/after \d+ s\.\n$/)]);
  });
});
