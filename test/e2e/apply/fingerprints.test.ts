import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlanDocument } from '../../../src/reconciler/model/plan.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith, start } from '../../fixture/command.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import { LONG } from '../../fixture/long.ts';
import { propertyRuns } from '../../fixture/property-runs.ts';
import { dedent } from '../../fixture/dedent.ts';

const ENV = {
  KEY: 'a-session-key',
  LLM: 'canary-first-llm',
  SETPOINT_STATE_KEY: 'canary-state-key',
};
let store: StoreServer;
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  store = await startStore({}, { language: 'en' });
  folder = folderWith({
    'settings.yaml': dedent`
      version: 1
      server: { url: "${store.url}", api_key: "\${env:KEY}" }
      settings:
        language: en
        sandbox_api_key: null
        llm_api_key: \${env:LLM}
    `,
  });
});
afterEach(async () => {
  await store.close();
  folder.remove();
});

const run = (args: string[], more: Record<string, string> = {}) =>
  setpoint(args, { cwd: folder.path, env: { ...ENV, ...more } });

describe('with SETPOINT_STATE_KEY', () => {
  it('a rotated variable makes exactly one write, then none', async () => {
    expect((await run(['apply', '--yes'])).code).toBe(0);
    expect((await run(['plan'])).stdout).not.toContain('the service does not show this value');
    expect((await run(['apply', '--yes'])).code).toBe(0);
    expect(store.posts()).toBe(1);
    const rotated = { LLM: 'canary-second-llm' };
    expect((await run(['plan'], rotated)).stdout).toContain(
      'llm_api_key: set, changed since last written: will be rotated',
    );
    expect((await run(['apply', '--yes'], rotated)).code).toBe(0);
    expect(store.stored?.['llm_api_key']).toBe('canary-second-llm');
    expect((await run(['apply', '--yes'], rotated)).code).toBe(0);
    expect(store.posts()).toBe(2);
  });

  it('the file holds neither the secrets nor the key', async () => {
    await run(['apply', '--yes']);
    const text = readFileSync(join(folder.path, '.setpoint/fingerprints.json'), 'utf8');
    expect(text).toContain('llm_api_key');
    expect(text).not.toContain('canary');
  });

  it('a write that is not verified is not remembered', async () => {
    store.intercept = (request, response) => {
      if (request.method !== 'POST') return false;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"message":"stored"}');
      return true;
    };
    expect((await run(['apply', '--yes'])).code).toBe(8);
    expect(() => readFileSync(join(folder.path, '.setpoint/fingerprints.json'))).toThrow();
  });

  it('a file that cannot be read stops the target before anything is sent', async () => {
    await run(['apply', '--yes']);
    writeFileSync(join(folder.path, '.setpoint/fingerprints.json'), 'x');
    const before = store.requests.length;
    const { code, stderr } = await run(['apply', '--yes']);
    expect(code).toBe(3);
    expect(stderr).toContain('not a file of fingerprints');
    expect(store.requests.length).toBe(before);
  });
});

it('without SETPOINT_STATE_KEY nothing is kept', async () => {
  await run(['apply', '--yes'], { SETPOINT_STATE_KEY: '' });
  expect(() => readFileSync(join(folder.path, '.setpoint/fingerprints.json'))).toThrow();
  expect((await run(['plan'], { SETPOINT_STATE_KEY: '' })).stdout).toContain(
    'set; the service does not show this value',
  );
});

describe('a fingerprint never claims more than is known', () => {
  const rotated = { LLM: 'canary-second-llm' };
  /** What a plan reports of the secret; null if it is known as the one last written. */
  const known = async (more: Record<string, string> = {}): Promise<string | null> => {
    const { stdout } = await run(['plan', '-o', 'json'], more);
    const { environments } = JSON.parse(stdout) as PlanDocument;
    const all = environments.flatMap(({ changes, unknown }) => [...changes, ...unknown]);
    return all.find(({ path }) => path[0] === 'llm_api_key')?.reason ?? null;
  };

  it('of another path prefix of one host', async () => {
    const file = (prefix: string) =>
      dedent`
        version: 1
        name: x
        server: { url: "${store.url}${prefix}", api_key: "\${env:KEY}" }
        settings: { sandbox_api_key: null, llm_api_key: "\${env:LLM}" }
      `;
    store.intercept = (request) => {
      request.url = request.url?.replace(/^\/(staging|production)/, '') ?? '';
      return false;
    };
    writeFileSync(join(folder.path, 'staging.yaml'), file('/staging'));
    writeFileSync(join(folder.path, 'production.yaml'), file('/production/'));
    expect((await run(['apply', '--yes', '-f', 'staging.yaml'])).code).toBe(0);
    expect((await run(['plan', '-f', 'staging.yaml'])).stdout).not.toContain(
      'the service does not show this value',
    );
    expect((await run(['plan', '-f', 'production.yaml'])).stdout).toContain(
      'the service does not show this value',
    );
  });

  it('of another host behind one reference, and keeps neither host in the file', async () => {
    const other = await startStore({}, { language: 'en', llm_api_key: 'x' });
    try {
      const text = readFileSync(join(folder.path, 'settings.yaml'), 'utf8');
      writeFileSync(
        join(folder.path, 'settings.yaml'),
        text.replace(`"${store.url}"`, '"${env:URL}"'),
      );
      expect((await run(['apply', '--yes'], { URL: store.url })).code).toBe(0);
      expect(await known({ URL: store.url })).toBeNull();
      expect(await known({ URL: other.url })).toBe('set; the service does not show this value');
      const kept = readFileSync(join(folder.path, '.setpoint/fingerprints.json'), 'utf8');
      expect(kept).toContain('${env:URL}');
      expect(kept).not.toContain(new URL(store.url).port);
    } finally {
      await other.close();
    }
  });

  it('after a write that is not converged', async () => {
    await run(['apply', '--yes']);
    store.intercept = (request, _, proceed) => {
      if (request.method !== 'POST') return false;
      proceed();
      if (store.stored !== null) store.stored['language'] = 'xx';
      return true;
    };
    expect((await run(['apply', '--yes'], rotated)).code).toBe(8);
    store.intercept = null;
    store.stored = { ...store.stored, language: 'en' };
    expect(await known()).toBe('set; the service does not show this value');
    expect(await known(rotated)).toBe('set; the service does not show this value');
  });

  it('after an answer that was lost, when nothing else shows the write', async () => {
    await run(['apply', '--yes']);
    store.intercept = (request, response, proceed) => {
      if (request.method !== 'POST') return false;
      response.end = (() => response.destroy()) as never;
      proceed();
      return true;
    };
    expect((await run(['apply', '--yes'], rotated)).code).toBe(1);
    store.intercept = null;
    expect(store.stored?.['llm_api_key']).toBe('canary-second-llm');
    expect(await known()).toBe('set; the service does not show this value');
  });

  it('after a run without the state key', async () => {
    await run(['apply', '--yes']);
    const args = ['apply', '--yes', '--rotate', 'llm_api_key'];
    expect((await run(args, { ...rotated, SETPOINT_STATE_KEY: '' })).code).toBe(0);
    expect(await known()).toBe('set; the service does not show this value');
  });

  it.each([
    ['before its effect', false],
    ['after its effect', true],
  ])('after a SIGKILL during the write, %s', async (_, effect) => {
    await run(['apply', '--yes']);
    const running = start(['apply', '--yes'], { cwd: folder.path, env: { ...ENV, ...rotated } });
    store.intercept = (request, __, proceed) => {
      if (request.method !== 'POST') return false;
      if (effect) proceed();
      running.child.kill('SIGKILL');
      return true;
    };
    await running.ended;
    store.intercept = null;
    expect(await known()).toBe('set; the service does not show this value');
    expect(await known(rotated)).toBe('set; the service does not show this value');
  });

  it('after a SIGKILL between the write and its verification', async () => {
    await run(['apply', '--yes']);
    const posts = store.posts();
    const running = start(['apply', '--yes'], { cwd: folder.path, env: { ...ENV, ...rotated } });
    store.intercept = (request) => {
      if (request.method !== 'GET' || store.posts() === posts) return false;
      running.child.kill('SIGKILL');
      return true;
    };
    await running.ended;
    store.intercept = null;
    expect(store.stored?.['llm_api_key']).toBe('canary-second-llm');
    expect(await known()).toBe('set; the service does not show this value');
  });

  it(
    'after a SIGKILL at any moment: what it reports as the same is what is stored',
    LONG,
    async () => {
      const began = performance.now();
      await run(['apply', '--yes']);
      const whole = performance.now() - began;
      const turns = propertyRuns(8);
      for (let turn = 1; turn <= turns; turn += 1) {
        const more = { LLM: `canary-llm-${turn % 2}` };
        const args = ['apply', '--yes', '--rotate', 'llm_api_key'];
        const running = start(args, { cwd: folder.path, env: { ...ENV, ...more } });
        const timer = setTimeout(
          () => running.child.kill('SIGKILL'),
          whole * (0.25 + (0.85 * turn) / turns),
        );
        await running.ended;
        clearTimeout(timer);
        for (const LLM of ['canary-llm-0', 'canary-llm-1', ENV.LLM]) {
          const reason = await known({ LLM });
          if (reason !== 'set; the service does not show this value')
            expect(reason === null).toBe(store.stored?.['llm_api_key'] === LLM);
        }
      }
    },
  );
});

describe('a fingerprint is kept of what was confirmed', () => {
  it('by the answer to a second send', async () => {
    let posts = 0;
    store.intercept = (request, response) => {
      if (request.method !== 'POST' || (posts += 1) > 1) return false;
      response.destroy();
      return true;
    };
    expect((await run(['apply', '--yes'])).code).toBe(0);
    expect(posts).toBe(2);
    expect((await run(['plan'])).stdout).not.toContain('the service does not show this value');
  });

  it('by the answer to a corrective write', async () => {
    store.stored = { language: 'fr', llm_api_key: 'theirs' };
    let posts = 0;
    store.intercept = (request, _, proceed) => {
      if (request.method !== 'POST') return false;
      proceed();
      if ((posts += 1) === 1 && store.stored !== null) store.stored['llm_api_key'] = null;
      return true;
    };
    expect((await run(['apply', '--yes'])).code).toBe(0);
    expect(posts).toBe(2);
    expect(store.stored['llm_api_key']).toBe(ENV.LLM);
    expect((await run(['plan'])).stdout).not.toContain('the service does not show this value');
  });
});

describe('a rotation that surely had no effect', () => {
  it.each([
    ['refused as invalid', 422],
    ['refused for its key', 401],
  ])('because it was %s is planned again', async (_, status) => {
    await run(['apply', '--yes']);
    store.intercept = (request, response) => {
      if (request.method !== 'POST') return false;
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"detail":[]}');
      return true;
    };
    expect((await run(['apply', '--yes'], { LLM: 'canary-second-llm' })).code).not.toBe(0);
    store.intercept = null;
    const planned = await run(['plan'], { LLM: 'canary-second-llm' });
    expect(planned.stdout).toContain('changed since last written: will be rotated');
  });
});

describe('a fingerprint that cannot be dropped', () => {
  it('stops the write: nothing is sent', async () => {
    await run(['apply', '--yes']);
    const posts = store.posts();
    const path = join(folder.path, '.setpoint/fingerprints.json');
    // No file can be written beside one whose name is as long as names may be.
    const long = join(folder.path, '.setpoint', 'x'.repeat(250));
    renameSync(path, long);
    symlinkSync(long, path);
    const ended = await run(['apply', '--yes', '-o', 'json'], { LLM: 'canary-second-llm' });
    expect(ended.code).toBe(1);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      environments: [{ error: { code: 'output-failed' }, changes: [{ result: 'not-sent' }] }],
    });
    expect(store.posts()).toBe(posts);
  });
});

it('several environments that are applied at the same time keep what each has written', async () => {
  const stores = await Promise.all(
    ['a', 'b', 'c'].map(() => startStore({}, { language: 'en', llm_api_key: 'x' })),
  );
  try {
    const environments = stores
      .map(
        ({ url }, index) =>
          `  e${index}: { server: { url: "${url}" }, settings: { llm_api_key: "\${env:LLM}" } }\n`,
      )
      .join('');
    writeFileSync(
      join(folder.path, 'settings.yaml'),
      `version: 1\nsettings: { sandbox_api_key: null, language: en }\nenvironments:\n${environments}`,
    );
    const args = ['apply', '--yes', '--all', '--parallel', '3'];
    expect((await run([...args, '--rotate', 'all'])).code).toBe(0);
    expect((await run(['plan'])).stdout).not.toContain('the service does not show this value');
    expect((await run(args, { LLM: 'canary-second-llm' })).code).toBe(0);
    for (const one of stores) {
      expect(one.stored?.['llm_api_key']).toBe('canary-second-llm');
      expect(one.posts()).toBe(2);
    }
  } finally {
    await Promise.all(stores.map((one) => one.close()));
  }
});
