import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkUncommittedChanges } from '../../../src/reconciler/host/git-source.ts';
import { folderWith } from '../../fixture/command.ts';

let folder: ReturnType<typeof folderWith>;
let file: string;

beforeEach(() => {
  folder = folderWith({ 'settings.yaml': 'version: 1\n' });
  file = join(folder.path, 'settings.yaml');
});
afterEach(() => folder.remove());

const env = () => ({ PATH: process.env['PATH'], HOME: folder.path });
const asked = (path = file) => checkUncommittedChanges(path, env());

function git(...args: string[]): string {
  const own = ['-c', 'user.name=x', '-c', 'user.email=x@example.com'];
  return execFileSync('git', [...own, ...args], {
    cwd: folder.path,
    env: env(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

function committed(): void {
  git('init', '-q');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
}

describe('what git knows of a file', () => {
  it('no work tree, no commit, committed, edited, staged, removed from the index', async () => {
    expect(await asked()).toBe('none');
    git('init', '-q');
    expect(await asked()).toBe('changed');
    git('add', '.');
    expect(await asked()).toBe('changed');
    git('commit', '-q', '-m', 'first');
    expect(await asked()).toBe('clean');
    writeFileSync(file, 'version: 1 # edited\n');
    expect(await asked()).toBe('changed');
    git('add', '.');
    expect(await asked()).toBe('changed');
    git('commit', '-q', '-m', 'second');
    expect(await asked()).toBe('clean');
    git('rm', '-q', '--cached', 'settings.yaml');
    expect(await asked()).toBe('changed');
  });

  it('an ignored file, one whose name is a pattern, one in a folder, and a link to one', async () => {
    writeFileSync(join(folder.path, '.gitignore'), 'ignored.yaml\n');
    for (const name of ['ignored.yaml', '[a].yaml', ':(top)b.yaml', 'a.yaml'])
      writeFileSync(join(folder.path, name), 'x');
    mkdirSync(join(folder.path, 'inner'));
    writeFileSync(join(folder.path, 'inner/settings.yaml'), 'x');
    symlinkSync('inner/settings.yaml', join(folder.path, 'link.yaml'));
    committed();
    writeFileSync(join(folder.path, 'a.yaml'), 'edited');
    const of = (name: string) => asked(join(folder.path, name));
    expect(await of('ignored.yaml')).toBe('clean');
    expect(await of('[a].yaml')).toBe('clean');
    expect(await of(':(top)b.yaml')).toBe('clean');
    expect(await of('inner/settings.yaml')).toBe('clean');
    writeFileSync(join(folder.path, 'inner/settings.yaml'), 'edited');
    expect(await of('link.yaml')).toBe('changed');
  });

  it('line ends that a checkout has changed are no change', async () => {
    committed();
    writeFileSync(file, 'version: 1\r\n');
    expect(await asked()).toBe('clean');
  });
});

describe('asking git runs no code of the checkout', () => {
  const ran = () => existsSync(join(folder.path, 'ran'));
  const forget = () => rmSync(join(folder.path, 'ran'), { force: true });

  /** A repository in which everything that its configuration can name is a program that leaves a trace. */
  function evil(): void {
    writeFileSync(join(folder.path, '.gitattributes'), '* filter=evil diff=evil\n');
    committed();
    const program = join(folder.path, 'evil.sh');
    writeFileSync(program, `#!/bin/sh\ntouch '${join(folder.path, 'ran')}'\ncat\n`);
    chmodSync(program, 0o755);
    for (const key of ['filter.evil.clean', 'filter.evil.smudge', 'filter.evil.process'])
      if (!key.endsWith('process')) git('config', key, program);
    for (const key of ['core.fsmonitor', 'core.pager', 'core.editor', 'core.sshCommand'])
      git('config', key, program);
    for (const key of ['diff.external', 'diff.evil.command', 'diff.evil.textconv'])
      git('config', key, program);
    git('config', 'filter.evil.required', 'true');
    git('config', 'core.askPass', program);
    for (const name of ['status', 'ls-files', 'ls-tree', 'cat-file', 'rev-parse', 'check-ignore']) {
      git('config', `alias.${name}`, `!${program}`);
      git('config', `pager.${name}`, program);
    }
    git('config', 'protocol.ext.allow', 'always');
    git('config', 'remote.origin.url', `ext::${program}`);
    git('config', 'remote.origin.promisor', 'true');
    const hooks = join(folder.path, 'hooks');
    mkdirSync(hooks);
    for (const hook of ['post-index-change', 'pre-commit', 'post-checkout', 'fsmonitor-watchman'])
      symlinkSync(program, join(hooks, hook));
    git('config', 'core.hooksPath', hooks);
    // What git would read again, because the index no longer shows that it is the same.
    utimesSync(file, new Date(), new Date(Date.now() + 5000));
    forget();
  }

  it('although git status would', async () => {
    evil();
    execFileSync('git', ['status', '--porcelain'], {
      cwd: folder.path,
      env: env(),
      stdio: 'ignore',
    });
    expect(ran()).toBe(true);
    forget();
    expect(await asked()).toBe('clean');
    writeFileSync(file, 'version: 1 # edited\n');
    expect(await asked()).toBe('changed');
    expect(ran()).toBe(false);
  });

  it('nor if an object is missing that a remote could provide', async () => {
    evil();
    git('config', '--unset', 'core.fsmonitor');
    const [oid = ''] = /[\da-f]{40}/.exec(git('ls-files', '--stage', 'settings.yaml')) ?? [];
    rmSync(join(folder.path, '.git/objects', oid.slice(0, 2), oid.slice(2)), { force: true });
    expect(readdirSync(join(folder.path, '.git/objects'))).not.toEqual([]);
    forget();
    expect(await asked()).toBe('unknown');
    expect(ran()).toBe(false);
  });
});
