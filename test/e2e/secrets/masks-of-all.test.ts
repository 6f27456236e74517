import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodings } from '../../fixture/encodings.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith, quickTime, start } from '../../fixture/command.ts';
import { freePort } from '../../fixture/free-port.ts';
import { onLoopback } from '../../fixture/on-loopback.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import { LONG } from '../../fixture/long.ts';
import { until } from '../../fixture/until.ts';

const ENV = {
  DEV_KEY: 'dev-key-canary-11',
  PROD_KEY: 'prod-key-canary-12',
  PROD_LLM: 'prod-llm p@ss"canary\\13',
  PROD_HEADER: 'prod-header-canary-14',
  PROD_MODEL: 'model',
  PROD_BUDGET: '48151623',
  PROD_ITERATIONS: '120',
};

let dev: StoreServer;
let prod: StoreServer;
let folder: ReturnType<typeof folderWith>;

/** dev comes first: when its part is printed, prod was not asked. */
function settings(): string {
  return `version: 1
settings: { language: en }
environments:
  dev:
    server: { url: "${dev.url}", api_key: "\${env:DEV_KEY}" }
    settings: { agent: A, max_iterations: 100, llm_model: other }
  prod:
    server: { url: "${prod.url}", api_key: "\${env:PROD_KEY}", headers: { X-Tenant: "\${env:PROD_HEADER}" } }
    settings:
      llm_api_key: \${env:PROD_LLM}
      llm_model: \${env:PROD_MODEL}
      max_iterations: \${env:PROD_ITERATIONS}
      mcp_config:
        stdio_servers: [{ name: s, command: npx, args: [-y, "\${env:PROD_BUDGET}"] }]
`;
}

beforeEach(async () => {
  dev = await startStore(
    {},
    {
      language: ENV.PROD_KEY,
      agent: `uses ${Buffer.from(ENV.PROD_LLM).toString('base64')}`,
      max_iterations: Number(ENV.PROD_BUDGET),
      llm_model: ENV.PROD_HEADER.toUpperCase(),
      git_user_name: ENV.PROD_KEY,
    },
  );
  prod = await startStore({}, { language: ENV.DEV_KEY });
  folder = folderWith({ 'settings.yaml': settings() });
});
afterEach(async () => {
  await Promise.all([dev.close(), prod.close()]);
  folder.remove();
});

function expectNothing(text: string): void {
  for (const value of [ENV.DEV_KEY, ENV.PROD_KEY, ENV.PROD_LLM, ENV.PROD_HEADER, ENV.PROD_BUDGET])
    for (const form of encodings(value))
      if (form.length >= 6) expect(text.toLowerCase()).not.toContain(form.toLowerCase());
}

function run(...args: readonly string[]) {
  return setpoint(args, { cwd: folder.path, env: ENV });
}

describe("an environment's document holds no value of another environment's references", () => {
  const commands = [
    ...['text', 'json', 'markdown', 'github', 'html'].flatMap((format) => [
      ['drift', '-o', format],
      ['plan', '-v', '-o', format],
      ['drift', '-e', 'dev', '-o', format],
      ['apply', '--all', '--yes', '-v', '-o', format],
    ]),
    ['drift', '--shard', '0/2'],
    ['drift', '--shard', '1/2'],
    ['plan', '--base', 'settings.yaml', '-o', 'json'],
    ['plan', '--out', 'plan.json', '-o', 'html=plan.html'],
    ['get', 'settings', '-o', 'json'],
    ['explain', 'language'],
    ['doctor', '-v'],
  ];
  it.each(commands)('%s %s %s %s %s %s %s', async (...args) => {
    const { stdout, stderr } = await run(...args);
    expect(stdout).toMatch(/dev|prod/);
    expectNothing(stdout + stderr);
    if (!args.includes('--out')) return;
    for (const name of ['plan.json', 'plan.html'])
      expectNothing(readFileSync(join(folder.path, name), 'utf8'));
  });

  it('but short values of others mask no word and no number of its own', async () => {
    const { stdout } = await run('drift', '-e', 'dev', '-o', 'json');
    const [one] = JSON.parse(stdout).environments;
    const after = one.changes.map((change: { after: unknown }) => change.after);
    expect(after).toEqual(['en', 'A', 100, 'other']);
  });

  it.each([
    ['--adopt', 'all'],
    ['-e', 'dev', '--adopt', 'all'],
    ['-e', 'dev'],
  ])('pull %s %s %s %s writes none of them into the file', async (...args) => {
    const { code, stdout, stderr } = await run('pull', '--force', '-v', ...args);
    expect(code, stderr).toBe(0);
    const text = readFileSync(join(folder.path, 'settings.yaml'), 'utf8');
    expectNothing(stdout + stderr + text);
  });

  it('a saved plan of all still approves an apply of one', async () => {
    expect((await run('plan', '--out', 'plan.json')).code).toBe(0);
    const applied = await run('apply', '-e', 'dev', '--yes', 'plan.json');
    expect(applied.stderr).toBe('');
    expect(applied.code).toBe(0);
  });
});

describe("a controller shows, keeps and sends no value of another environment's references", () => {
  it('in its journal, log, page, metrics and notices', LONG, async () => {
    const received: string[] = [];
    const chat = await onLoopback((_, response, body) => {
      received.push(body);
      response.end('ok');
    });
    writeFileSync(
      join(folder.path, 'notify.yaml'),
      `version: 1\nnotify: [{ name: team, json: "${chat.url}" }]\n`,
    );
    const port = await freePort();
    const page = `http://127.0.0.1:${port}`;
    const { child, ended } = start(
      ['watch', '--listen', String(port), '--notify', 'notify.yaml', '--interval', '10s'],
      { cwd: folder.path, env: ENV, time: quickTime() },
    );
    const shown: string[] = [];
    try {
      const path = join(folder.path, '.setpoint/watch/journal.jsonl');
      const journal = (): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');
      const isTold = (): boolean => journal().includes('"status":"drift"') && received.length > 0;
      await until(() => isTold() || child.exitCode !== null, { show: journal });
      shown.push(journal(), ...received);
      for (const of of ['/', '/environments/dev', '/api/environments/dev', '/metrics'])
        shown.push(await (await fetch(page + of)).text());
    } finally {
      child.kill('SIGTERM');
      const { stdout, stderr } = await ended;
      shown.push(stdout, stderr);
      await chat.close();
    }
    const text = shown.join('\n');
    expect(text).toContain('(sensitive)');
    expectNothing(text);
  });
});
