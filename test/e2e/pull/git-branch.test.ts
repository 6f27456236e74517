import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  openBranch,
  type BranchOptions,
  type GitBranch,
} from '../../../src/reconciler/host/git-branch.ts';
import { SetpointError } from '../../../src/reconciler/model/error.ts';
import { folderWith } from '../../fixture/command.ts';
import { describeEach } from '../../fixture/long.ts';

const linux = process.platform === 'linux';

let folder: ReturnType<typeof folderWith>;
/** The repository that is followed, with a work tree. */
let origin: string;

beforeEach(() => {
  folder = folderWith({});
  origin = join(folder.path, 'origin');
  mkdirSync(origin);
  git('init', '-q', '-b', 'main');
});
afterEach(() => folder.remove());

function environment(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: folder.path };
}

function git(...args: string[]): string {
  const own = [
    '-c',
    'user.name=x',
    '-c',
    'user.email=x@example.com',
    '-c',
    'protocol.file.allow=always',
  ];
  return execFileSync('git', [...own, ...args], {
    cwd: origin,
    env: environment(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}

/** Commits files, and returns the commit. */
function commit(files: Readonly<Record<string, string>>, message = 'a commit'): string {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(origin, name)), { recursive: true });
    writeFileSync(join(origin, name), text);
  }
  git('add', '.');
  git('commit', '-q', '--allow-empty', '-m', message);
  return git('rev-parse', 'HEAD');
}

function follow(options: Partial<BranchOptions> = {}): Promise<GitBranch> {
  return openBranch({
    source: pathToFileURL(origin).href,
    ref: 'main',
    into: join(folder.path, 'into'),
    env: environment(),
    ...options,
  });
}

async function errorOf(work: Promise<unknown>): Promise<SetpointError> {
  const thrown = await work.then(
    () => new Error('It did not fail.'),
    (error: unknown) => error,
  );
  if (thrown instanceof SetpointError) return thrown;
  throw thrown;
}

/** Every file under a folder, with its text; a link with where it leads. */
function filesUnder(path: string): Record<string, string> {
  const names = readdirSync(path, { recursive: true }).map(String).toSorted();
  const found: Record<string, string> = {};
  for (const name of names) {
    const stats = lstatSync(join(path, name));
    if (stats.isSymbolicLink()) found[name] = '(link)';
    else if (stats.isFile()) found[name] = readFileSync(join(path, name), 'latin1');
  }
  return found;
}

async function serving(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const SOURCES: readonly (readonly [string, () => Promise<string>])[] = [
  ['a folder', async () => origin],
  ['file:', async () => pathToFileURL(origin).href],
  [
    'a plain web server',
    () =>
      serving((request, response) => {
        git('update-server-info');
        const path = join(origin, '.git', new URL(request.url ?? '', 'http://x').pathname);
        if (existsSync(path) && statSync(path).isFile()) response.end(readFileSync(path));
        else response.writeHead(404).end();
      }),
  ],
];

describeEach(SOURCES, (_, index) => index === 2)('a branch of %s', (_, sourceOf) => {
  it('has a tip, the files of it, and moves forward', async () => {
    const first = commit({ 'settings.yaml': 'a', 'envs/base.yaml': 'b' }, 'first\n\nmore');
    const branch = await follow({ source: await sourceOf() });
    const tip = await branch.tip();
    expect(tip).toMatchObject({ commit: first, subject: 'first' });
    expect(Date.parse(tip.committedAt)).toBe(Number(git('show', '-s', '--format=%ct')) * 1000);
    expect(filesUnder(await branch.files(first))).toEqual({
      'settings.yaml': 'a',
      'envs/base.yaml': 'b',
    });

    for (let index = 0; index < 5; index++) commit({ 'settings.yaml': `a ${index}` });
    const second = git('rev-parse', 'HEAD');
    expect((await branch.tip()).commit).toBe(second);
    await branch.forward(first, second);
    await branch.forward(second, second);
    expect(filesUnder(await branch.files(second))['settings.yaml']).toBe('a 4');
  });

  it('that was rewritten is refused, and what was used last stays', async () => {
    commit({ 'settings.yaml': '0' });
    const good = commit({ 'settings.yaml': 'a' });
    const branch = await follow({ source: await sourceOf() });
    await branch.tip();
    git('reset', '-q', '--hard', 'HEAD~1');
    const forced = commit({ 'settings.yaml': 'b' });
    expect((await branch.tip()).commit).toBe(forced);
    const error = await errorOf(branch.forward(good, forced));
    expect(error.code).toBe('branch-rewritten');
    expect(error.message).toBe(
      `The branch main was rewritten: ${good} is not an ancestor of ${forced}.`,
    );
    expect(filesUnder(await branch.files(good))).toEqual({ 'settings.yaml': 'a' });
    git('reset', '-q', '--hard', good);
    const next = commit({ 'settings.yaml': 'c' });
    expect((await branch.tip()).commit).toBe(next);
    await branch.forward(good, next);
  });

  it('that went back is refused, too', async () => {
    const older = commit({ 'settings.yaml': 'a' });
    const newer = commit({ 'settings.yaml': 'b' });
    const branch = await follow({ source: await sourceOf() });
    await branch.tip();
    git('reset', '-q', '--hard', older);
    expect((await branch.tip()).commit).toBe(older);
    expect((await errorOf(branch.forward(newer, older))).code).toBe('branch-rewritten');
  });

  it('that was deleted is an error, and is followed again once it is back', async () => {
    const first = commit({ 'settings.yaml': 'a' });
    const branch = await follow({ source: await sourceOf() });
    await branch.tip();
    git('checkout', '-q', '-b', 'other');
    git('branch', '-q', '-D', 'main');
    const error = await errorOf(branch.tip());
    expect([error.code, error.message]).toEqual([
      'file-unreadable',
      `The repository ${branch.shown} has no branch main.`,
    ]);
    expect(filesUnder(await branch.files(first))).toEqual({ 'settings.yaml': 'a' });
    git('branch', '-q', 'main');
    expect((await branch.tip()).commit).toBe(first);
  });
});

describe('the history', () => {
  it('is fetched from the last commit on, and in full if that is needed to tell whether the branch moved forward', async () => {
    const commits = Array.from({ length: 30 }, (_, index) =>
      commit({ 'settings.yaml': String(index) }),
    );
    const [oldest = '', newest = ''] = [commits[3], commits.at(-1)];
    const branch = await follow();
    await branch.tip();
    const bare = join(folder.path, 'into/repository.git');
    const known = () =>
      Number(execFileSync('git', ['-C', bare, 'rev-list', '--count', 'refs/setpoint/tip']));
    expect(known()).toBe(1);
    const next = commit({ 'settings.yaml': 'next' });
    await branch.tip();
    await branch.forward(newest, next);
    expect(known()).toBe(2);
    await branch.forward(oldest, next);
    expect(known()).toBe(31);
    expect((await errorOf(branch.forward('0'.repeat(40), next))).code).toBe('branch-rewritten');
  });

  it('of a shallow folder is not fetched: it is somebody else’s', async () => {
    const first = commit({ 'settings.yaml': 'a' });
    const second = commit({ 'settings.yaml': 'b' });
    const clone = join(folder.path, 'clone');
    git('clone', '-q', '--depth=1', pathToFileURL(origin).href, clone);
    const branch = await follow({ source: clone });
    const error = await errorOf(branch.forward(first, second));
    expect(error.message).toContain('is a shallow clone');
  });
});

describe('a folder', () => {
  it.each(['a work tree', 'a bare repository', 'a linked work tree'])(
    'is only read: %s',
    async (kind) => {
      const first = commit({ 'settings.yaml': 'a' });
      const bare = join(folder.path, 'bare.git');
      git('clone', '-q', '--bare', origin, bare);
      const linked = join(folder.path, 'linked');
      git('worktree', 'add', '-q', '-b', 'elsewhere', linked);
      const source = { 'a work tree': origin, 'a bare repository': bare }[kind] ?? linked;
      writeFileSync(join(origin, 'settings.yaml'), 'not committed');
      const before = [filesUnder(origin), filesUnder(bare), filesUnder(linked)];
      const branch = await follow({ source });
      expect((await branch.tip()).commit).toBe(first);
      await branch.forward(first, first);
      expect(filesUnder(await branch.files(first))).toEqual({ 'settings.yaml': 'a' });
      expect([filesUnder(origin), filesUnder(bare), filesUnder(linked)]).toEqual(before);
    },
  );

  it('within a repository is none itself', async () => {
    commit({ 'envs/settings.yaml': 'a' });
    const error = await errorOf(follow({ source: join(origin, 'envs') }));
    expect(error.message).toContain('is not a git repository');
  });
});

describe('a hostile repository', () => {
  it('gets no hook, no filter, no watcher and no command of its configuration run', async () => {
    const first = commit({ 'settings.yaml': 'a', '.gitattributes': '* filter=evil diff=evil\n' });
    const touch = join(folder.path, 'was-run');
    for (const hook of readdirSync(join(origin, '.git/hooks')))
      rmSync(join(origin, '.git/hooks', hook));
    for (const hook of ['post-checkout', 'reference-transaction', 'post-merge', 'pre-auto-gc'])
      writeFileSync(join(origin, '.git/hooks', hook), `#!/bin/sh\ntouch ${touch}\n`, {
        mode: 0o755,
      });
    const script = join(folder.path, 'evil.sh');
    writeFileSync(script, `#!/bin/sh\ntouch ${touch}\ncat\n`);
    chmodSync(script, 0o755);
    for (const [key, value] of [
      ['filter.evil.smudge', script],
      ['filter.evil.process', script],
      ['diff.evil.textconv', script],
      ['core.fsmonitor', script],
      ['core.sshCommand', script],
      ['core.pager', script],
      ['core.alternateRefsCommand', script],
      ['uploadpack.packObjectsHook', script],
      ['alias.cat-file', `!${script}`],
      ['gpg.program', script],
      ['log.showSignature', 'true'],
    ] as const)
      git('config', key, value);
    rmSync(touch, { force: true });
    for (const source of [origin, pathToFileURL(origin).href]) {
      const branch = await follow({ source });
      await branch.tip();
      await branch.forward(first, first);
      await branch.files(first);
    }
    expect(existsSync(touch)).toBe(false);
  });

  it('leads nowhere else: links are files of the commit or nothing, and submodules are left out', async () => {
    writeFileSync(join(folder.path, 'outside.txt'), 'canary');
    const links = {
      'good.yaml': 'envs/base.yaml',
      'envs/up.yaml': '../settings.yaml',
      'chain.yaml': 'good.yaml',
      'through.yaml': 'folder/base.yaml',
      folder: 'envs',
      'absolute.yaml': join(folder.path, 'outside.txt'),
      'above.yaml': '../outside.txt',
      'far.yaml': 'folder/../../outside.txt',
      'loop.yaml': 'loop.yaml',
      'nowhere.yaml': 'not-there.yaml',
    };
    mkdirSync(join(origin, 'envs'));
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(origin, name));
    git('init', '-q', 'other');
    execFileSync('git', [
      '-C',
      join(origin, 'other'),
      '-c',
      'user.name=x',
      '-c',
      'user.email=x@x',
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'x',
    ]);
    git('-c', 'advice.addEmbeddedRepo=false', 'add', '.');
    const first = commit({ 'settings.yaml': 'a', 'envs/base.yaml': 'b' });
    const branch = await follow();
    await branch.tip();
    const files = filesUnder(await branch.files(first));
    expect(files).toEqual({
      'settings.yaml': 'a',
      'envs/base.yaml': 'b',
      'good.yaml': 'b',
      'envs/up.yaml': 'a',
      'chain.yaml': 'b',
      'through.yaml': 'b',
    });
  });

  it('cannot write outside of its folder by the names in its trees', async () => {
    const blob = execFileSync('git', ['-C', origin, 'hash-object', '-w', '--stdin'], {
      input: 'evil',
      encoding: 'utf8',
    }).trim();
    const bytes = Buffer.from(blob, 'hex');
    const entry = (name: string): Buffer => Buffer.concat([Buffer.from(`100644 ${name}\0`), bytes]);
    const names = ['..', '.git', '.GIT', 'a\\..\\b', 'good.yaml'];
    const tree = execFileSync(
      'git',
      ['-C', origin, 'hash-object', '-t', 'tree', '-w', '--literally', '--stdin'],
      {
        input: Buffer.concat(names.toSorted().map(entry)),
        encoding: 'utf8',
      },
    ).trim();
    const first = git('commit-tree', tree, '-m', 'evil');
    git('update-ref', 'refs/heads/main', first);
    for (const source of [origin, pathToFileURL(origin).href]) {
      const branch = await follow({ source });
      await branch.tip();
      expect(filesUnder(await branch.files(first))).toEqual({ 'good.yaml': 'evil' });
    }
  });

  it.each([
    '-x',
    '--upload-pack=touch was-run',
    'a b',
    'a..b',
    'a:b',
    '*',
    '',
    'refs/heads/',
    '@{-1}',
    'a\nb',
  ])('a ref such as %j is none', async (ref) => {
    commit({});
    const error = await errorOf(follow({ ref }).then((branch) => branch.tip()));
    expect(error.message).toBe('The ref to follow is not the name of a branch.');
  });

  it.each([
    'ext::sh -c touch% was-run',
    'http://example.com/settings.git',
    'git://example.com/settings.git',
    'ftp://example.com/settings.git',
    '--upload-pack=touch',
    '-oProxyCommand=touch:x',
    'fd::17',
    'nowhere',
    '',
  ])('%j is no source', async (source) => {
    const error = await errorOf(follow({ source }));
    expect(['usage', 'file-unreadable']).toContain(error.code);
    expect(existsSync(join(folder.path, 'into'))).toBe(false);
  });

  it('variables of git that the caller has do not lead it elsewhere', async () => {
    const first = commit({ 'settings.yaml': 'a' });
    const decoy = join(folder.path, 'decoy');
    git('init', '-q', decoy);
    const env = {
      ...environment(),
      GIT_DIR: join(decoy, '.git'),
      GIT_WORK_TREE: decoy,
      GIT_OBJECT_DIRECTORY: join(decoy, '.git/objects'),
      GIT_INDEX_FILE: join(decoy, 'index'),
      GIT_NAMESPACE: 'x',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'url.ext::false.insteadOf',
      GIT_CONFIG_VALUE_0: 'file:',
      GIT_CONFIG_PARAMETERS: "'core.bare=false'",
      GIT_EXEC_PATH: decoy,
      GIT_TRACE: join(folder.path, 'trace'),
    };
    const before = filesUnder(decoy);
    for (const source of [origin, pathToFileURL(origin).href]) {
      const branch = await follow({ source, env });
      expect((await branch.tip()).commit).toBe(first);
      expect(filesUnder(await branch.files(first))).toEqual({ 'settings.yaml': 'a' });
    }
    expect(filesUnder(decoy)).toEqual(before);
    expect(existsSync(join(folder.path, 'trace'))).toBe(false);
  });
});

describe('a repository that fails', () => {
  it('with a damaged object: the last good commit stays', async () => {
    const first = commit({ 'settings.yaml': 'a' });
    const branch = await follow();
    await branch.tip();
    await branch.files(first);
    commit({ 'settings.yaml': 'a text that nothing else has' });
    const blob = git('rev-parse', 'HEAD:settings.yaml');
    const object = join(origin, '.git/objects', blob.slice(0, 2), blob.slice(2));
    chmodSync(object, 0o600);
    writeFileSync(object, 'garbage');
    const error = await errorOf(branch.tip());
    expect(error.code).toBe('bad-response');
    expect(filesUnder(await branch.files(first))).toEqual({ 'settings.yaml': 'a' });

    const local = await follow({ source: origin, into: join(folder.path, 'into-2') });
    const damaged = (await local.tip()).commit;
    expect((await errorOf(local.files(damaged))).code).toBe('bad-response');
    expect(
      readdirSync(join(folder.path, 'into-2')).filter((name) => name.includes('new-')),
    ).toEqual([]);
    git('cat-file', '-t', first);
  });

  it('that never answers: git is ended with all that it started, and no password is seen', async () => {
    let open = 0;
    let asked = 0;
    const url = await serving((request) => {
      asked += 1;
      open += 1;
      request.socket.once('close', () => (open -= 1));
    });
    const source = `${url.replace('//', '//somebody:hunter2@')}/settings.git?token=hunter2`;
    const branch = await follow({ source, timeout: 1_500 });
    const fetching = errorOf(branch.tip());
    await expect.poll(() => asked).toBeGreaterThan(0);
    if (linux) {
      const lines = readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map((pid) => {
          try {
            return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
          } catch {
            return '';
          }
        });
      expect(lines.some((line) => line.includes('fetch'))).toBe(true);
      const own = lines.filter((line) => line.startsWith('git\0'));
      expect(own.join(' ')).not.toContain('hunter2');
    }
    const error = await fetching;
    expect(error.code).toBe('timed-out');
    expect(`${error.message} ${error.hint}`).not.toContain('hunter2');
    expect(error.message).toContain(`${url}/settings.git did not answer`);
    await expect.poll(() => open).toBe(0);
  });

  it('that wants credentials: the error says so, and shows none', async () => {
    const url = await serving((_, response) => {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end('hunter2');
    });
    for (const source of [`${url}/a.git`, `${url.replace('//', '//x:hunter2@')}/a.git`]) {
      const branch = await follow({ source });
      const error = await errorOf(branch.tip());
      expect(error.code).toBe('unauthorized');
      expect(`${branch.shown} ${error.message} ${error.hint} ${error.stack}`).not.toContain(
        'hunter2',
      );
    }
  });

  it.each([
    [302, 'not-this-service'],
    [404, 'file-unreadable'],
    [500, 'unreachable'],
  ])('with status %i is %s', async (status, code) => {
    const other = await serving((_, response) => response.end());
    const url = await serving((_, response) => {
      response.writeHead(status, { location: `${other}/a.git/info/refs` }).end();
    });
    expect((await errorOf((await follow({ source: `${url}/a.git` })).tip())).code).toBe(code);
  });

  it('that cannot be reached', async () => {
    const branch = await follow({ source: 'http://127.0.0.1:9/a.git' });
    expect((await errorOf(branch.tip())).code).toBe('unreachable');
    const gone = await follow({ source: pathToFileURL(join(folder.path, 'gone')).href });
    expect((await errorOf(gone.tip())).code).toBe('file-unreadable');
  });

  it('is given up when the run ends', async () => {
    const stop = new AbortController();
    const url = await serving(() => stop.abort());
    const branch = await follow({ source: `${url}/a.git`, signal: stop.signal });
    expect((await errorOf(branch.tip())).code).toBe('interrupted');
    expect((await errorOf(branch.tip())).code).toBe('interrupted');
  });

  it('needs no home, as in a container', async () => {
    const first = commit({ 'settings.yaml': 'a' });
    const branch = await follow({ env: { PATH: process.env['PATH'] } });
    expect((await branch.tip()).commit).toBe(first);
    expect(filesUnder(await branch.files(first))).toEqual({ 'settings.yaml': 'a' });
  });

  it('without git', async () => {
    const error = await errorOf(follow({ env: { PATH: folder.path, HOME: folder.path } }));
    expect(error.message).toContain('git is not installed');
  });
});

describe('the folder for files', () => {
  it('keeps those of the two commits that were asked for last, and only what is needed', async () => {
    const commits = [1, 2, 3].map((index) =>
      commit({ 'settings.yaml': String(index), 'big.bin': 'x' }),
    );
    const which = { needs: (path: string) => path.endsWith('.yaml') };
    const branch = await follow();
    await branch.tip();
    await branch.forward(commits[0] ?? '', commits[2] ?? '');
    const folders: string[] = [];
    for (const one of commits) folders.push(await branch.files(one, which));
    expect(folders.map((path) => existsSync(path))).toEqual([false, true, true]);
    expect(await branch.files(commits[1] ?? '', which)).toBe(folders[1]);
    expect(await branch.files(commits[0] ?? '', which)).toBe(folders[0]);
    expect(folders.map((path) => existsSync(path))).toEqual([true, true, false]);
    expect(filesUnder(folders[0] ?? '')).toEqual({ 'settings.yaml': '1' });
    expect(await branch.files(commits[0] ?? '')).toBe(folders[0]);
    expect(filesUnder(folders[0] ?? '')).toEqual({ 'big.bin': 'x', 'settings.yaml': '1' });
  });

  it('a run that was killed leaves nothing in the way', async () => {
    const first = commit({ 'settings.yaml': 'a' });
    const before = await follow();
    await before.tip();
    const left = await before.files(first);
    const bare = join(folder.path, 'into/repository.git');
    for (const name of ['shallow.lock', 'config.lock', 'refs/setpoint/tip.lock'])
      writeFileSync(join(bare, name), '');
    const next = commit({ 'settings.yaml': 'b' });
    const branch = await follow();
    expect((await branch.tip()).commit).toBe(next);
    await branch.forward(first, next);
    expect(existsSync(left)).toBe(false);
    expect(filesUnder(await branch.files(next))).toEqual({ 'settings.yaml': 'b' });
  });

  it('a commit that is too large is refused before it is written', async () => {
    const first = commit({ 'settings.yaml': 'a'.repeat(17 * 1024 * 1024) });
    const branch = await follow();
    await branch.tip();
    expect((await errorOf(branch.files(first))).code).toBe('bad-response');
    expect((await errorOf(branch.files('main'))).code).toBe('usage');
  });
});

it.each([
  ['https://git.example/team/settings.git', 'https://git.example/team/settings/commit/'],
  [
    'https://user:pw@git.example:8443/team/settings/?x=1',
    'https://git.example:8443/team/settings/commit/',
  ],
  ['ssh://git@git.example:2222/team/settings.git', 'https://git.example/team/settings/commit/'],
  ['git@git.example:team/deep/settings.git', 'https://git.example/team/deep/settings/commit/'],
  ['git@bitbucket.org:team/settings.git', 'https://bitbucket.org/team/settings/commits/'],
  ['http://127.0.0.1:3000/team/settings.git', null],
  ['file:///srv/settings.git', null],
])('the commits of %s are shown at %s', async (source, commits) => {
  expect((await follow({ source })).commits).toBe(commits);
});
