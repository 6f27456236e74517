import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlanDocument } from '../../../src/reconciler/model/plan.ts';
import { folderWith, setpoint as built, type Ended } from '../../fixture/command.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { DEFAULTS, startStore, type StoreServer } from '../../fixture/store-server.ts';
import { listSchemaErrors } from '../../fixture/published-schemas.ts';

const KEY = 'canary-session-key-31ab';
const LLM = 'canary-"llm"\\key/é+1';
const ENV = { SETPOINT_API_KEY: KEY, LLM_API_KEY: LLM };
const STORED = {
  language: 'en',
  agent: 'A',
  git_user_name: 'old',
  mcp_config: {
    sse_servers: [
      { url: 'https://a.example.com/sse?token=canary-url-token', api_key: 'canary-stored-mcp' },
    ],
    stdio_servers: [],
    shttp_servers: [],
  },
};

let store: StoreServer;
let folder: ReturnType<typeof folderWith>;

function settings(url: string, more = ''): string {
  return `version: 1\nserver:\n  url: ${url}\n  api_key: \${env:SETPOINT_API_KEY}\nsettings:\n  language: fr\n  llm_api_key: \${env:LLM_API_KEY}\n  git_user_name: \${env:LLM_API_KEY}\n  sandbox_api_key: null\n${more}`;
}

beforeEach(async () => {
  store = await startStore({}, structuredClone(STORED));
  folder = folderWith({ 'settings.yaml': settings(store.url) });
});
afterEach(async () => {
  await store.close();
  folder.remove();
});

function run(args: string[], env: Record<string, string> = ENV): Promise<Ended> {
  return setpoint(args, { cwd: folder.path, env });
}

describe('the loop', () => {
  it('validate, plan, apply, drift: exit codes and words', async () => {
    expect(await run(['validate'])).toEqual({ code: 0, stdout: 'Valid: default.\n', stderr: '' });
    const planned = await run(['plan']);
    expect(planned).toMatchObject({ code: 0, stderr: '' });
    expect(planned.stdout).toContain('Plan: 1 to set, 2 to change.');
    expect((await run(['plan', '--exit-code'])).code).toBe(2);
    expect((await run(['drift'])).code).toBe(2);
    expect(store.posts()).toBe(0);
    const applied = await run(['apply', '--yes']);
    expect(applied).toMatchObject({ code: 0, stderr: '' });
    expect(applied.stdout).toContain('Applied 3 changes.');
    expect(store.stored).toEqual({
      ...DEFAULTS,
      ...STORED,
      language: 'fr',
      llm_api_key: LLM,
      git_user_name: LLM,
      sandbox_api_key: null,
    });
    const again = await run(['drift']);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain('No changes. 1 secret could not be compared.');
    const strict = await run(['drift', '--strict', '-o', 'json']);
    expect(strict.code).toBe(2);
    const document = JSON.parse(strict.stdout) as PlanDocument;
    expect(listSchemaErrors('plan', document)).toEqual([]);
    expect(document).toMatchObject({
      strict: true,
      environments: [{ status: 'in-sync' }],
      summary: { environments: { total: 1, 'in-sync': 0, unknown: 1 } },
    });
  });

  it('prints JSON that its published schemas accept', async () => {
    const validation = await run(['validate', '-o', 'json']);
    expect(listSchemaErrors('validation', JSON.parse(validation.stdout))).toEqual([]);
    const planned = await run(['plan', '-o', 'json']);
    expect(listSchemaErrors('plan', JSON.parse(planned.stdout))).toEqual([]);
    const seen = await run(['get', 'settings', '-o', 'json']);
    expect(listSchemaErrors('observed', JSON.parse(seen.stdout))).toEqual([]);
    const applied = await run(['apply', '--yes', '-o', 'json']);
    expect(listSchemaErrors('outcome', JSON.parse(applied.stdout))).toEqual([]);
    await store.close();
    const failed = await run(['apply', '--yes', '-o', 'json', '--timeout', '1s']);
    expect(failed.code).toBe(1);
    expect(listSchemaErrors('outcome', JSON.parse(failed.stdout))).toEqual([]);
  });

  it('shows no byte of a secret: not on stdout, not on stderr, not in files', async () => {
    const commands = [
      ['validate', '-o', 'json'],
      ['plan', '-v'],
      ['plan', '-o', 'json', '--out', 'plan.json'],
      ['drift', '-o', 'json=drift.json'],
      ['get', 'settings'],
      ['get', 'settings', '-o', 'json'],
      ['apply', '--yes', '-v', '--rotate', 'all', '-o', 'json=outcome.json'],
      ['apply', '--yes', '-o', 'json'],
    ];
    for (const args of commands) {
      const { stdout, stderr } = await run(args);
      for (const canary of ['canary', 'Y2FuYXJ5', '63616e617279'])
        expect(stdout + stderr, args.join(' ')).not.toContain(canary);
    }
    for (const file of readdirSync(folder.path)) {
      if (file === 'settings.yaml') continue;
      expect(readFileSync(join(folder.path, file), 'utf8'), file).not.toContain('canary');
      if (process.platform !== 'win32')
        expect(statSync(join(folder.path, file)).mode & 0o777).toBe(0o600);
    }
    expect(readdirSync(folder.path).toSorted()).toEqual([
      'drift.json',
      'outcome.json',
      'plan.json',
      'settings.yaml',
    ]);
  });

  it('sends the key in both headers, and only there', async () => {
    await run(['plan']);
    expect(store.requests[0]?.headers).toMatchObject({
      'x-session-api-key': KEY,
      authorization: `Bearer ${KEY}`,
    });
    expect(store.requests.filter(({ method }) => method !== 'GET').map(({ path }) => path)).toEqual(
      [],
    );
  });
});

describe('what a person can do wrong ends in a sentence, a code and a remedy', () => {
  it.each([
    [['plann'], 3, 'Did you mean plan?'],
    [['plan', '--dryrun'], 3, ''],
    [['apply', '--dryrun', '--yes'], 3, 'Did you mean --dry-run?'],
    [['plan', '-o', 'jsn'], 3, 'Did you mean json?'],
    [['plan', '-e', 'prod'], 3, 'Available: default.'],
    [['plan', '-f', 'nowhere.yaml'], 3, 'does not exist'],
    [['plan', '--timeout', 'soon'], 3, '30s'],
    [['apply'], 3, '--yes'],
    [['apply', '--yes', '--allow', 'max-change'], 3, 'Did you mean max-changes?'],
    [['apply', '--yes', '--rotate', 'llm_api_kye'], 3, 'Did you mean llm_api_key?'],
    [['get', 'setings'], 3, 'Did you mean settings?'],
    [['schema', 'plans'], 3, 'Did you mean plan?'],
    [['plan', '--server', 'ftp://x'], 3, '--server takes an address'],
  ])('%j', async (args, code, hint) => {
    const ended = await run(args);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toContain(hint);
    expect(ended.stderr).not.toMatch(/\n\s+at |node:|\.cjs/);
    expect(store.requests).toEqual([]);
  });

  it('a secret typed as a flag is not repeated', async () => {
    const ended = await run(['plan', '--api-key=sk-typed-by-mistake']);
    expect(ended.code).toBe(3);
    expect(ended.stderr).not.toContain('sk-typed');
  });

  it('with -o json the error is JSON on stdout, and a sentence on stderr', async () => {
    for (const args of [
      ['plann', '-o', 'json'],
      ['plan', '-f', 'nowhere.yaml', '-o', 'json'],
      ['plan', '--nope', '--output=json'],
    ]) {
      const ended = await run(args);
      expect(JSON.parse(ended.stdout)).toMatchObject({
        error: { code: expect.any(String), message: expect.any(String), hint: expect.any(String) },
      });
      expect(ended.stderr).toContain('setpoint:');
    }
  });

  it('a missing variable: apply sends nothing; plan goes on and lists what is unknown', async () => {
    const env = { SETPOINT_API_KEY: KEY };
    const applied = await run(['apply', '--yes'], env);
    expect(applied.code).toBe(3);
    expect(applied.stderr).toContain('the variable LLM_API_KEY is not set');
    expect(store.requests).toEqual([]);
    const planned = await run(['plan', '-o', 'json'], env);
    expect(planned.code).toBe(0);
    expect(JSON.parse(planned.stdout)).toMatchObject({
      environments: [
        {
          status: 'differs',
          complete: false,
          // That no key is stored is known without its value.
          changes: [{ path: ['language'] }, { path: ['llm_api_key'], action: 'set' }],
          unknown: [
            { path: ['llm_api_key'], ref: '${env:LLM_API_KEY}' },
            { path: ['git_user_name'] },
          ],
        },
      ],
    });
  });

  it('a missing key of the service: nothing is sent to it', async () => {
    const ended = await run(['plan', '-o', 'json'], { LLM_API_KEY: LLM });
    expect(ended.code).toBe(3);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      environments: [{ status: 'error', error: { code: 'reference-missing' } }],
    });
    expect(store.requests).toEqual([]);
  });

  it('the service is down', async () => {
    await store.close();
    const ended = await run(['plan', '--timeout', '1s']);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/refused|could not be reached/i);
  });

  it('the service is slow: exit 9', async () => {
    store.intercept = () => true;
    const ended = await run(['plan', '--timeout', '200ms']);
    expect(ended.code).toBe(9);
    expect(ended.stderr).toContain('--timeout');
  });

  it('the key is refused: exit 4', async () => {
    store.intercept = (_, response) => {
      response
        .writeHead(401, { 'content-type': 'application/json' })
        .end('{"detail":"Unauthorized"}');
      return true;
    };
    const ended = await run(['apply', '--yes']);
    expect(ended.code).toBe(4);
    expect(ended.stderr).toContain('refused');
    expect(store.posts()).toBe(0);
  });
});

describe('streams', () => {
  it('M18: a megabyte of JSON arrives whole in a pipe', async () => {
    const big = Array.from(
      { length: 400 },
      (_, index) => `      - https://host-${index}.example.com/${'x'.repeat(2500)}\n`,
    ).join('');
    folder.remove();
    folder = folderWith({
      'settings.yaml': settings(store.url, `  mcp_config:\n    shttp_servers:\n${big}`),
    });
    const whole = await built(['plan', '-o', 'json'], { cwd: folder.path, env: ENV });
    expect(whole.stdout.length).toBeGreaterThan(1_000_000);
    expect(() => JSON.parse(whole.stdout) as unknown).not.toThrow();
  });

  it('colour follows the terminal, NO_COLOR, FORCE_COLOR and --no-color', async () => {
    const escape = '\u001B[';
    expect((await run(['plan'])).stdout).not.toContain(escape);
    expect((await run(['plan'], { ...ENV, FORCE_COLOR: '1' })).stdout).toContain(escape);
    expect((await run(['plan'], { ...ENV, FORCE_COLOR: '1', NO_COLOR: '1' })).stdout).not.toContain(
      escape,
    );
    expect((await run(['plan', '--no-color'], { ...ENV, FORCE_COLOR: '1' })).stdout).not.toContain(
      escape,
    );
  });

  it('a file that cannot be made when its turn has come is told, and the run goes on', async () => {
    // What is written beside it has a longer name than a folder takes.
    const name = `${'x'.repeat(240)}.json`;
    const told = `setpoint: ${name} could not be written.\n  Check that the path can be written.\n`;
    for (const command of [['plan'], ['get', 'settings'], ['apply', '--yes']])
      expect(await run([...command, '-q', '-o', `json=${name}`])).toEqual({
        code: 1,
        stdout: '',
        stderr: told,
      });
    expect(store.stored).toMatchObject({ language: 'fr' });
  });

  it('-q leaves only the exit code', async () => {
    expect(await run(['drift', '-q'])).toEqual({ code: 2, stdout: '', stderr: '' });
  });
});

describe('--dotenv', () => {
  const withFile = (args: string[], env: Record<string, string> = {}) => {
    writeFileSync(
      join(folder.path, 'secrets.env'),
      `# for a laptop\nexport SETPOINT_API_KEY='${KEY}'\nLLM_API_KEY="from the file"\n`,
    );
    return run([...args, '--dotenv', 'secrets.env'], env);
  };

  it('hands variables over, and what the environment has wins', async () => {
    expect((await withFile(['apply', '--yes'])).code).toBe(0);
    expect(store.stored?.['llm_api_key']).toBe('from the file');
    await withFile(['apply', '--yes', '--rotate', 'all'], { LLM_API_KEY: 'from the environment' });
    expect(store.stored?.['llm_api_key']).toBe('from the environment');
  });

  it('is refused if CI is set, and nothing is sent', async () => {
    const { code, stderr } = await withFile(['plan'], { CI: 'true' });
    expect(code).toBe(3);
    expect(stderr).toContain('--dotenv is not allowed in a pipeline (CI is set)');
    expect(stderr).not.toContain('canary');
    expect(store.requests).toEqual([]);
  });

  it('--env-file, which Node takes for itself, is an unknown option that suggests --dotenv', async () => {
    writeFileSync(join(folder.path, 'secrets.env'), 'A=1\n');
    const args = ['plan', '--env-file', 'secrets.env'];
    const { code, stderr } = await built(args, { cwd: folder.path });
    expect(code).toBe(3);
    expect(stderr).toContain("Unknown option '--env-file'");
    expect(stderr).toContain('Use --dotenv FILE');
    expect(store.requests).toEqual([]);
  });

  it('runs no code that NODE_OPTIONS in the file names', async () => {
    writeFileSync(join(folder.path, 'evil.cjs'), 'require("fs").writeFileSync("ran", "")\n');
    writeFileSync(join(folder.path, 'secrets.env'), 'NODE_OPTIONS=--require=./evil.cjs\n');
    const args = ['plan', '--dotenv', 'secrets.env'];
    const { code, stderr } = await built(args, { cwd: folder.path });
    expect(code).toBe(3);
    expect(stderr).toContain('--dotenv: NODE_OPTIONS cannot be set in a file');
    expect(existsSync(join(folder.path, 'ran'))).toBe(false);
    expect(store.requests).toEqual([]);
  });

  it('is not read unless it is named', async () => {
    writeFileSync(join(folder.path, '.env'), `SETPOINT_API_KEY=${KEY}\nLLM_API_KEY=x\n`);
    const { code } = await run(['apply', '--yes'], {});
    expect(code).toBe(3);
    expect(store.requests).toEqual([]);
  });
});
