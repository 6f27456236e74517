import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { get } from '../../../src/reconciler/operations/get.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { validate } from '../../../src/reconciler/operations/validate.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { quickClock, request } from '../../fixture/settings.ts';
import { loaded, RECORDED, startStore, type StoreServer } from '../../fixture/store-server.ts';
import { dedent } from '../../fixture/dedent.ts';

// Each of these was a defect once.

const STORED = { language: 'en', agent: 'A', llm_model: 'm', mcp_config: null };
let store: StoreServer;
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  store = await startStore({}, structuredClone(STORED));
  folder = folderWith({
    'settings.yaml': `version: 1\nserver: { url: "${store.url}", api_key: "\${env:KEY}" }\nsettings: { language: fr, sandbox_api_key: null }\n`,
  });
});
afterEach(async () => {
  await store.close();
  folder.remove();
});

const run = (args: string[], env: Record<string, string> = {}) =>
  setpoint(args, { cwd: folder.path, env: { KEY: 'k', ...env } });

describe('questions', () => {
  it('are asked one at a time, whatever --parallel is', async () => {
    const other = await startStore({}, structuredClone(STORED));
    try {
      let open = 0;
      let most = 0;
      const text = dedent`
        version: 1
        settings: { language: fr, sandbox_api_key: null }
        environments:
          a: { server: { url: "${store.url}" } }
          b: { server: { url: "${other.url}" } }
      `;
      await apply({
        text,
        env: {},
        all: true,
        parallel: 2,
        confirm: async () => {
          most = Math.max(most, (open += 1));
          await new Promise((resolve) => setTimeout(resolve, 20));
          open -= 1;
          return true;
        },
      });
      expect(most).toBe(1);
    } finally {
      await other.close();
    }
  });

  it('stop the clock: a person may read for as long as they like', async () => {
    const clock = quickClock();
    const confirm = async (): Promise<boolean> => {
      await clock.sleep(3_600_000);
      return true;
    };
    const outcome = await apply(
      request(store.url, '  language: fr\n  sandbox_api_key: null\n', {
        clock,
        confirm,
        timeout: 1000,
      }),
    );
    expect(outcome.environments[0]).toMatchObject({ status: 'applied' });
  });

  it('that are broken off by a signal end as interrupted, not as declined', async () => {
    const stop = new AbortController();
    const confirm = (): Promise<boolean> => {
      stop.abort('SIGTERM');
      return Promise.resolve(false);
    };
    const outcome = await apply(
      request(store.url, '  language: fr\n', { confirm, signal: stop.signal }),
    );
    expect(outcome.environments[0]).toMatchObject({
      error: { code: 'terminated' },
      requests: { post: 0 },
    });
  });
});

describe('outputs that cannot be written', () => {
  it.each([
    [['plan', '-o', 'json=']],
    [['plan', '-o', 'json=nodir/x']],
    [['apply', '--yes', '-o', 'json=nodir/x']],
    [['plan', '--out', '']],
    [['plan', '-o', 'json=folder']],
    [['plan', '-o', 'jsn']],
  ])('%j is a usage error before anything is sent', async (args) => {
    mkdirSync(join(folder.path, 'folder'));
    const ended = await run(args);
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).not.toMatch(/\n\s+at /);
    expect(store.requests).toEqual([]);
  });
});

describe('what is unmanaged', () => {
  it('is neither claimed set nor verified', async () => {
    const settings = '  mcp_config: { sse_servers: [https://a.example.com/x] }\n';
    for (const unmanaged of [
      '[mcp_config.sse_servers]',
      '["mcp_config.sse_servers[https://a.example.com/x]"]',
    ]) {
      const planned = await plan(request(store.url, settings, { unmanaged }));
      expect(planned.environments[0]).toMatchObject({ status: 'in-sync', changes: [] });
    }
  });

  it('needs no value for its references', async () => {
    const outcome = await apply(
      request(store.url, '  language: fr\n  sandbox_api_key: null\n  llm_api_key: ${env:NOPE}\n', {
        unmanaged: '[llm_api_key]',
      }),
    );
    expect(outcome.environments[0]).toMatchObject({ status: 'applied' });
  });

  it('may have no key: the line that exit 8 gives to paste does not end in exit 5', async () => {
    store.stored = {
      ...STORED,
      mcp_config: {
        sse_servers: [{ url: 'https://corp.example.com/sse', api_key: null }],
        stdio_servers: [],
        shttp_servers: [],
      },
    };
    const asked = request(
      store.url,
      '  language: fr\n  sandbox_api_key: null\n  mcp_config: { sse_servers: [] }\n',
      { unmanaged: '["mcp_config.sse_servers[https://corp.example.com/sse]"]' },
    );
    expect((await apply(asked)).environments[0]).toMatchObject({ status: 'applied' });
  });
});

it('an entry that is unmanaged by its reference is not removed', async () => {
  const entry = { url: 'https://real.example.com/sse', api_key: 'k' };
  store.stored = {
    ...STORED,
    mcp_config: { sse_servers: [entry], stdio_servers: [], shttp_servers: [] },
  };
  const planned = await plan(
    request(store.url, '  mcp_config: { sse_servers: ["https://${env:HOST}/sse"] }\n', {
      env: { SETPOINT_API_KEY: 'k', HOST: 'real.example.com' },
      unmanaged: "['mcp_config.sse_servers[https://${env:HOST}/sse]']",
    }),
  );
  expect(planned.environments[0]).toMatchObject({ status: 'in-sync', changes: [] });
});

describe('--rotate', () => {
  it('names a secret of any of the targets, and nothing that none declares', async () => {
    const text = dedent`
      version: 1
      environments:
        a: { server: { url: "${store.url}" }, settings: { llm_api_key: "\${env:KEY}" } }
        b: { server: { url: "${store.url}" }, settings: { language: en } }
    `;
    await expect(plan({ text, env: { KEY: 'k' }, rotate: ['llm_api_key'] })).resolves.toMatchObject(
      { environments: [{ name: 'a' }, { name: 'b' }] },
    );
    store.requests.length = 0;
    await expect(
      plan({ text, env: { KEY: 'k' }, rotate: ['search_api_key'] }),
    ).rejects.toMatchObject({ code: 'usage' });
    expect(store.requests).toEqual([]);
  });
});

it("--server at the file's own origin needs the file's key like the file does", async () => {
  const ended = await setpoint(['plan', '--server', store.url], { cwd: folder.path, env: {} });
  expect(ended.code).toBe(3);
  expect(ended.stderr).toContain('KEY is not set');
  expect(store.requests).toEqual([]);
});

it('get settings masks what the file reads from a reference, wherever it is', async () => {
  store.stored = { language: 'tainted-value', llm_model: 'tainted-value', agent: 'x-tainted' };
  const document = await get(
    request(store.url, '  llm_model: ${env:V}\n', {
      env: { SETPOINT_API_KEY: 'k', V: 'tainted-value' },
    }),
  );
  expect(document.environments[0]?.settings).toMatchObject({
    llm_model: '(sensitive)',
    language: '(sensitive)',
    agent: 'x-tainted',
  });
});

describe('what would steer a terminal or a runner', () => {
  it('is written out in text and escaped in JSON', async () => {
    const evil = 'a\u001B[31m\u009B1m\u202E\u2028\u200B';
    store.stored = { ...STORED, git_user_name: `multi\n::stop-commands::x\n${evil}` };
    for (const args of [
      ['get', 'settings'],
      ['plan', '-v'],
      ['get', 'settings', '-o', 'json'],
      ['plan', '-o', 'json'],
    ]) {
      const { stdout } = await run(args);
      expect(stdout).not.toMatch(
        /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E]/,
      );
      expect(stdout).not.toMatch(/^\s*::/m);
    }
    const seen = JSON.parse((await run(['get', 'settings', '-o', 'json'])).stdout) as {
      environments: { settings: { git_user_name: string } }[];
    };
    expect(seen.environments[0]?.settings.git_user_name).toContain(evil);
  });

  it('in a path is printed as the flags take it', async () => {
    const url = 'https://x.example.com/\u009Bsse';
    store.stored = {
      ...STORED,
      mcp_config: { sse_servers: [{ url, api_key: 'k' }], stdio_servers: [], shttp_servers: [] },
    };
    const settings = '  mcp_config: { sse_servers: [] }\n';
    const printed = 'mcp_config.sse_servers["https://x.example.com/\\u009bsse"]';
    const planned = await plan(request(store.url, settings, { unmanaged: `['${printed}']` }));
    expect(planned.environments[0]).toMatchObject({ status: 'in-sync' });
  });
});

it('a number that the service writes as 5.0 is a number', async () => {
  store.intercept = (_, response) => {
    const record = JSON.stringify(loaded({ max_budget_per_task: 5 }, RECORDED));
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(record.replace('"max_budget_per_task":5', '"max_budget_per_task":5.0'));
    return true;
  };
  const planned = await plan(request(store.url, '  max_budget_per_task: 10\n'));
  expect(planned.environments[0]?.changes[0]).toMatchObject({ before: 5, after: 10 });
});

it('an interrupted write whose answer is ambiguous is not sent again', async () => {
  const stop = new AbortController();
  store.intercept = (incoming, response) => {
    if (incoming.method !== 'POST') return false;
    stop.abort('SIGINT');
    response.destroy();
    return true;
  };
  const outcome = await apply(
    request(store.url, '  language: fr\n  sandbox_api_key: null\n', { signal: stop.signal }),
  );
  expect(outcome.environments[0]).toMatchObject({
    error: { code: 'interrupted' },
    requests: { post: 1 },
  });
  expect(store.stored).toEqual(STORED);
});

it('validate prints its own document when a file cannot be read', async () => {
  const ended = await run(['validate', '-f', 'nowhere.yaml', '-o', 'json']);
  expect(ended.code).toBe(3);
  expect(JSON.parse(ended.stdout)).toMatchObject({
    kind: 'validation',
    valid: false,
    diagnostics: [{ code: 'unreadable', file: 'nowhere.yaml', line: 1, column: 1 }],
  });
  await expect(validate({ file: 'nowhere.yaml', env: {} })).resolves.toMatchObject({
    valid: false,
  });
});

/** A plan lists what the service has of other blocks, too. */
const readsOfSettings = (): number =>
  store.requests.filter(({ path }) => path === '/api/settings').length;

it('a target that is named twice is taken once', async () => {
  const ended = await run(['plan', '-e', 'default', '-e', 'default', '-o', 'json']);
  expect(JSON.parse(ended.stdout)).toMatchObject({ environments: [{ name: 'default' }] });
  expect(readsOfSettings()).toBe(1);
});

it('an address that no url can have is a problem of the file', async () => {
  for (const url of ['https://x.example.com:99999', 'https://999.1.1.1']) {
    const document = await validate({ text: `version: 1\nserver: { url: "${url}" }\n`, env: {} });
    expect(document.diagnostics).toMatchObject([{ code: 'bad-value', line: 2, column: 16 }]);
  }
});

it('a blank secret is an empty one', async () => {
  await expect(
    apply(
      request(store.url, '  llm_api_key: ${env:BLANK}\n', {
        env: { SETPOINT_API_KEY: 'k', BLANK: '   ' },
      }),
    ),
  ).rejects.toMatchObject({ code: 'reference-missing' });
});

it('a mask under the name of a secret is not sent back as its value', async () => {
  store.stored = { ...STORED, github_token: '**********' };
  const asked = request(store.url, '  language: fr\n  sandbox_api_key: null\n');
  expect((await apply(asked)).environments[0]).toMatchObject({
    status: 'refused',
    requests: { post: 0 },
  });
  await apply({ ...asked, allow: ['lose-unreadable'] });
  expect(store.requests.findLast(({ method }) => method === 'POST')?.body).not.toContain('***');
});

it('a plan shows that a guard would refuse it', async () => {
  const planned = await plan(
    request(store.url, '  language: fr\n  agent: B\n', { guards: '{ max_changes: 1 }' }),
  );
  expect(planned.environments[0]?.refusals.map(({ rule }) => rule)).toEqual(['max-changes']);
});

it('a plan that a guard refuses is still shown', async () => {
  appendFileSync(join(folder.path, 'settings.yaml'), 'guards: { max_changes: 0 }\n');
  const ended = await run(['apply', '--yes']);
  expect(ended.code).toBe(5);
  expect(ended.stdout).toContain('"en" → "fr"');
});
