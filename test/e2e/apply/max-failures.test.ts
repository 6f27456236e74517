import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { apply, plan } from '../../../src/index.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';

interface Part {
  readonly name: string;
  readonly error: { readonly code: string; readonly message: string } | null;
}

let store: StoreServer;

beforeEach(async () => {
  store = await startStore({}, { language: 'en' });
});

/** Environments e0, e1, …: their requests have their number in the path; those in `refused` are answered with 401. */
function fleet(count: number, refused: readonly number[], block = '') {
  onTestFinished(() => store.close());
  store.intercept = (request, response) => {
    if (!refused.includes(Number(/^\/(\d+)\//.exec(request.url ?? '')?.[1]))) {
      request.url = request.url?.replace(/^\/\d+/, '');
      return false;
    }
    response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
    return true;
  };
  const environments = Array.from(
    { length: count },
    (_, number) => `  e${number}: { server: { url: "${store.url}/${number}" } }\n`,
  );
  const folder = folderWith({
    'settings.yaml': `version: 1\nsettings: { language: fr, sandbox_api_key: null }\n${block}environments:\n${environments.join('')}`,
  });
  onTestFinished(() => folder.remove());
  return {
    path: folder.path,
    run: (...args: string[]) => setpoint(args, { cwd: folder.path, env: {} }),
  };
}

function codes(stdout: string): string[] {
  const { environments } = JSON.parse(stdout) as { environments: Part[] };
  return environments.map(({ error }) => error?.code ?? 'fine');
}

const asked = (): number => new Set(store.requests.map(({ path }) => path.split('/')[1])).size;

describe('apply --max-failures', () => {
  it('starts no more when more than N failed; what was not started is in the document and listed', async () => {
    const { run } = fleet(30, [1, 3, 4]);
    const ended = await run(
      'apply',
      '--yes',
      '--all',
      '--max-failures',
      '1',
      '-o',
      'json=out.json',
      '-o',
      'text',
    );
    expect(ended.code).toBe(4);
    expect(ended.stdout.match(/^e\d+ /gm)?.at(-1)).toBe('e3 ');
    expect(ended.stdout).toMatch(
      / not started: e4, e5, e6, e7, e8, e9, e10, e11, e12, e13, e14, e15, e16, e17, e18, e19, e20, e21, e22, e23 and 6 more\n$/,
    );
    expect(ended.stderr).toContain(
      'setpoint: 26 environments: Not started, because 2 environments failed and --max-failures allows 1.\n' +
        '  Fix what failed and run again, or allow more with --max-failures.\n',
    );
    expect(ended.stderr.match(/^setpoint: /gm)).toHaveLength(3);
    const json = await run('apply', '--yes', '--all', '--max-failures', '1', '-o', 'json');
    expect(codes(json.stdout)).toEqual([
      'fine',
      'unauthorized',
      'fine',
      'unauthorized',
      ...Array.from({ length: 26 }, () => 'skipped'),
    ]);
  });

  it.each([
    [[], 1],
    [['--max-failures', '0'], 1],
    [['--max-failures', '10%'], 1],
    [['--max-failures', '15%'], 2],
    [['--max-failures', '6'], 7],
    [['--max-failures', '100%'], 7],
  ])('%j starts as many of seven that all fail as it allows, and one', async (flags, started) => {
    const { run } = fleet(7, [0, 1, 2, 3, 4, 5, 6]);
    const ended = await run('apply', '--yes', '--all', ...flags, '-o', 'json');
    expect(ended.code).toBe(4);
    expect(codes(ended.stdout)).toEqual([
      ...Array.from({ length: started }, () => 'unauthorized'),
      ...Array.from({ length: 7 - started }, () => 'skipped'),
    ]);
    expect(asked()).toBe(started);
  });

  it('what a guard refuses counts as well', async () => {
    const { run } = fleet(4, [], 'guards: { frozen: "INC-42" }\n');
    const ended = await run('apply', '--yes', '--all', '-o', 'json', '--max-failures', '1');
    expect(ended.code).toBe(5);
    expect(codes(ended.stdout)).toEqual(['guard-refused', 'guard-refused', 'skipped', 'skipped']);
  });

  it('--parallel: what is in flight ends properly, and no more are started', async () => {
    const { run } = fleet(40, [0]);
    const ended = await run(
      'apply',
      '--yes',
      '--all',
      '--max-failures',
      '0',
      '--parallel',
      '4',
      '-o',
      'json',
    );
    const found = codes(ended.stdout);
    expect(found[0]).toBe('unauthorized');
    const started = found.filter((code) => code !== 'skipped').length;
    expect(started).toBeGreaterThanOrEqual(1);
    expect(started).toBeLessThan(40);
    expect(asked()).toBe(started);
    // Each that was begun is as declared: written once, and verified.
    expect(found.slice(1, started).every((code) => code === 'fine')).toBe(true);
    expect(found.slice(started).every((code) => code === 'skipped')).toBe(true);
  });

  it.each(['x', '-1', '1.5', '101%', ''])(
    '%j is a usage error, before anything is sent',
    async (value) => {
      const { run } = fleet(2, []);
      for (const command of [['apply', '--yes', '--all'], ['plan'], ['drift']]) {
        const ended = await run(...command, `--max-failures=${value}`);
        expect(ended.code).toBe(3);
        expect(ended.stderr).toContain('--max-failures takes a number of environments');
      }
      expect(store.requests).toEqual([]);
    },
  );
});

describe('plan and drift --max-failures', () => {
  it.each(['plan', 'drift'])('%s reads all without it, and stops with it', async (command) => {
    const { run } = fleet(20, [0, 1, 2]);
    const all = await run(command, '-o', 'json');
    expect(codes(all.stdout).filter((code) => code === 'skipped')).toEqual([]);
    store.requests.length = 0;
    const limited = await run(command, '-o', 'json', '--max-failures', '10%', '--parallel', '1');
    expect(codes(limited.stdout)).toEqual([
      'unauthorized',
      'unauthorized',
      'unauthorized',
      ...Array.from({ length: 17 }, () => 'skipped'),
    ]);
    expect(limited.code).toBe(4);
    expect(asked()).toBe(3);
    const text = await run(command, '--max-failures', '2', '--parallel', '1');
    expect(text.stdout).toContain(' not started: e3, e4, ');
  });

  it('a snapshot takes the place of the services, none of which is started', async () => {
    const { run } = fleet(2, []);
    await run('get', 'settings', '-o', 'json=s.json');
    const ended = await run('plan', '--snapshot', 's.json', '--max-failures', '1');
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain('--max-failures is for a service');
  });

  it('the library takes a number or a share', async () => {
    const { path } = fleet(4, [0]);
    const file = `${path}/settings.yaml`;
    for (const maxFailures of [0, '24%']) {
      const document = await plan({ file, env: {}, maxFailures, parallel: 1 });
      expect(document.environments.map(({ error }) => error?.code ?? null)).toEqual([
        'unauthorized',
        'skipped',
        'skipped',
        'skipped',
      ]);
    }
    await expect(plan({ file, env: {}, maxFailures: 1.5 })).rejects.toMatchObject({
      code: 'usage',
    });
    await expect(plan({ file, env: {}, parallel: Number.NaN })).rejects.toMatchObject({
      code: 'usage',
    });
  });
});

describe('a run that is interrupted after too many failed', () => {
  const ended = async (operation: 'plan' | 'apply', interrupts: boolean) => {
    const { path } = fleet(6, [0]);
    const stop = new AbortController();
    const request = {
      file: `${path}/settings.yaml`,
      env: {},
      parallel: 1,
      maxFailures: 0,
      signal: stop.signal,
      onEnvironment: ({ done }: { readonly done: number }) => {
        if (done === 1 && interrupts) stop.abort('SIGTERM');
      },
    };
    const { environments } =
      operation === 'plan' ? await plan(request) : await apply({ ...request, all: true });
    return environments.map(({ error }) => error?.code ?? 'fine');
  };

  it.each(['plan', 'apply'] as const)(
    '%s tells of the interruption, and starts no more',
    async (operation) => {
      expect(await ended(operation, true)).toEqual([
        'unauthorized',
        ...Array.from({ length: 5 }, () => 'terminated'),
      ]);
      expect(asked()).toBe(1);
    },
  );

  it.each(['plan', 'apply'] as const)('%s without one tells of the failures', async (operation) => {
    expect(await ended(operation, false)).toEqual([
      'unauthorized',
      ...Array.from({ length: 5 }, () => 'skipped'),
    ]);
    expect(asked()).toBe(1);
  });
});
