import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith, start } from '../../fixture/command.ts';
import { itEach } from '../../fixture/long.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import { dedent } from '../../fixture/dedent.ts';

const ENV = { SETPOINT_API_KEY: 'k', SETPOINT_STATE_KEY: 'state', LLM: 'canary-llm-value' };
const PRECIOUS = 'precious\n';

let store: StoreServer;
let folder: ReturnType<typeof folderWith>;
let outside: ReturnType<typeof folderWith>;

const within = (path: string) => join(folder.path, path);
const beyond = (path: string) => join(outside.path, path);

beforeEach(async () => {
  store = await startStore({}, { language: 'en' });
  outside = folderWith({ 'victim.txt': PRECIOUS, 'folder/victim.txt': PRECIOUS });
  folder = folderWith({ 'settings.yaml': settings() });
});
afterEach(async () => {
  await store.close();
  folder.remove();
  outside.remove();
});

function settings(url = store.url): string {
  return dedent`
    version: 1
    server: { url: "${url}", api_key: "\${env:SETPOINT_API_KEY}" }
    settings:
      language: fr
      llm_api_key: \${env:LLM}
      sandbox_api_key: null
  `;
}

function run(args: readonly string[]) {
  return setpoint(args, { cwd: folder.path, env: ENV });
}

function nothingMoved(): void {
  expect(readFileSync(beyond('victim.txt'), 'utf8')).toBe(PRECIOUS);
  expect(readFileSync(beyond('folder/victim.txt'), 'utf8')).toBe(PRECIOUS);
  expect(readdirSync(outside.path).toSorted()).toEqual(['folder', 'victim.txt']);
  expect(readdirSync(beyond('folder'))).toEqual(['victim.txt']);
}

describe('no write follows a link out of the working folder', () => {
  const FILE = 'a link to a file outside';
  const NOWHERE = 'a link to a file outside that is not there yet';
  const FOLDER = 'a folder that is a link to one outside';

  const plant: Record<string, (path: string) => void> = {
    [FILE]: (path) => symlinkSync(beyond('victim.txt'), within(path)),
    [NOWHERE]: (path) => symlinkSync(beyond('new.txt'), within(path)),
  };

  it.each([
    [['plan', '-o', 'json=plan.json'], 'plan.json'],
    [['plan', '--out', 'plan.json'], 'plan.json'],
    [['apply', '--yes', '-o', 'json=outcome.json'], 'outcome.json'],
    [['get', 'settings', '-o', 'json=snapshot.json'], 'snapshot.json'],
    [['validate', '-o', 'sarif=found.sarif'], 'found.sarif'],
  ])('%j', async (args, path) => {
    for (const [name, planted] of Object.entries(plant)) {
      rmSync(within(path), { force: true });
      planted(path);
      const { code, stderr } = await run(args);
      expect({ name, code, stderr }).toMatchObject({ code: 3 });
      expect(stderr).toContain(`${path} `);
      expect(stderr).toContain('link');
      expect(lstatSync(within(path)).isSymbolicLink()).toBe(true);
    }
    nothingMoved();
    expect(store.requests).toEqual([]);
  });

  it(`${FOLDER}: -o`, async () => {
    symlinkSync(beyond('folder'), within('out'));
    const { code } = await run(['plan', '-o', 'json=out/plan.json']);
    expect(code).toBe(3);
    nothingMoved();
  });

  it(`pull: settings.yaml is ${FILE}`, async () => {
    writeFileSync(beyond('victim.txt'), settings());
    const before = readFileSync(beyond('victim.txt'), 'utf8');
    rmSync(within('settings.yaml'));
    symlinkSync(beyond('victim.txt'), within('settings.yaml'));
    expect((await run(['pull'])).code).toBe(3);
    expect(readFileSync(beyond('victim.txt'), 'utf8')).toBe(before);
    expect(store.requests).toEqual([]);
  });

  it.each(['.env.example', '.gitignore', 'settings.yaml'])('init: %s', async (path) => {
    for (const planted of Object.values(plant)) {
      for (const name of readdirSync(folder.path)) rmSync(within(name), { force: true });
      planted(path);
      expect((await run(['init', '--server', store.url])).code).toBe(3);
      expect(readdirSync(folder.path)).toEqual([path]);
    }
    nothingMoved();
    expect(store.requests).toEqual([]);
  });

  it('apply: .setpoint is a link to a folder outside, for fingerprints', async () => {
    symlinkSync(beyond('folder'), within('.setpoint'));
    await run(['apply', '--yes']);
    nothingMoved();
  });

  it('apply: the file of fingerprints is a link', async () => {
    mkdirSync(within('.setpoint'));
    symlinkSync(beyond('new.txt'), within('.setpoint/fingerprints.json'));
    await run(['apply', '--yes']);
    nothingMoved();
  });

  it.each(['embedded:', 'embedded:.setpoint/store.json'])(
    'apply: %s with .setpoint as a link to a folder outside',
    async (url) => {
      writeFileSync(within('settings.yaml'), settings(url));
      symlinkSync(beyond('folder'), within('.setpoint'));
      const { code } = await run(['apply', '--yes']);
      expect(code).not.toBe(0);
      nothingMoved();
    },
  );

  it('serve --data is a link', async () => {
    symlinkSync(beyond('new.txt'), within('store.json'));
    expect((await run(['serve', '--port', '0', '--data', 'store.json'])).code).toBe(3);
    nothingMoved();
  });

  it('a link within the working folder is followed, and stays', async () => {
    mkdirSync(within('out'));
    writeFileSync(within('out/real.json'), '');
    symlinkSync('out/real.json', within('plan.json'));
    expect((await run(['plan', '-o', 'json=plan.json'])).code).toBe(0);
    expect(lstatSync(within('plan.json')).isSymbolicLink()).toBe(true);
    expect(readFileSync(within('out/real.json'), 'utf8')).toContain('"kind": "plan"');
  });

  it('a path outside that somebody names is written, and a link there is not followed', async () => {
    expect((await run(['plan', '-o', `json=${beyond('plan.json')}`])).code).toBe(0);
    expect(existsSync(beyond('plan.json'))).toBe(true);
    rmSync(beyond('plan.json'));
    symlinkSync('victim.txt', beyond('link.json'));
    expect((await run(['plan', '-o', `json=${beyond('link.json')}`])).code).toBe(3);
    rmSync(beyond('link.json'));
    nothingMoved();
  });
});

describe('files that setpoint keeps are read as settings files are', () => {
  const fifo = (path: string) => {
    mkdirSync(join(within(path), '..'), { recursive: true });
    expect(spawnSync('mkfifo', [within(path)]).status).toBe(0);
  };
  const huge = (path: string) => {
    mkdirSync(join(within(path), '..'), { recursive: true });
    writeFileSync(within(path), '');
    truncateSync(within(path), 4 * 1024 ** 3);
  };
  const device = (path: string) => {
    mkdirSync(join(within(path), '..'), { recursive: true });
    symlinkSync('/dev/zero', within(path));
  };
  const kinds = [
    ['a pipe', fifo],
    ['4 GiB', huge],
    ['a device that has no end', device],
  ] as const;

  /** Ended by itself, soon, and without filling the memory: a heap of 200 MB has to do. */
  async function endsSoon(args: readonly string[]) {
    const { child, ended } = start(args, {
      cwd: folder.path,
      env: { ...ENV, NODE_OPTIONS: '--max-old-space-size=200' },
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
    const { code, stderr } = await ended;
    clearTimeout(timer);
    expect({ stderr, ended: code !== null && code > 0 && code < 10 }).toMatchObject({
      ended: true,
    });
  }

  itEach(kinds, (_, index) => index === 0 % kinds.length)(
    'fingerprints: %s',
    async (_, planted) => {
      planted('.setpoint/fingerprints.json');
      await endsSoon(['plan']);
      expect(store.posts()).toBe(0);
    },
  );

  itEach(kinds, (_, index) => index === 1 % kinds.length)(
    'the embedded store: %s',
    async (_, planted) => {
      for (const url of ['embedded:', 'embedded:stores/mine.json']) {
        writeFileSync(within('settings.yaml'), settings(url));
        planted(url === 'embedded:' ? '.setpoint/embedded.json' : 'stores/mine.json');
        await endsSoon(['plan']);
      }
    },
  );

  itEach(kinds, (_, index) => index === 2 % kinds.length)(
    'serve --data: %s',
    async (_, planted) => {
      planted('store.json');
      await endsSoon(['serve', '--port', '0', '--data', 'store.json']);
    },
  );

  itEach(kinds, (_, index) => index === 4 % kinds.length)(
    'a secret file: %s',
    async (_, planted) => {
      planted('secrets/key');
      writeFileSync(
        within('settings.yaml'),
        settings().replace('${env:LLM}', `\${file:${within('secrets/key')}}`),
      );
      const { child, ended } = start(['apply', '--yes'], {
        cwd: folder.path,
        env: { ...ENV, SETPOINT_ALLOWED_FILES: within('secrets') },
      });
      const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
      expect((await ended).code).toBe(3);
      clearTimeout(timer);
    },
  );
});
