import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folderWith } from '../fixture/command.ts';
import { fakeGh } from './fake-gh.ts';
import { runScript } from './run-script.ts';
import { stepNamed, workflowNamed } from './workflow-file.ts';
import { LONG } from '../fixture/long.ts';

const WORKFLOW = workflowNamed('release');

let folder: ReturnType<typeof folderWith>;
const clone = () => join(folder.path, 'clone');

function git(...args: readonly string[]): string {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  return execFileSync('git', [...identity, ...args], { cwd: clone(), encoding: 'utf8' }).trim();
}

function commitAll(): string {
  git('add', '--all');
  git('commit', '--quiet', '--message', 'a commit');
  return git('rev-parse', 'HEAD');
}

/** A package of the form that `npm pack` gives, with the built files in it. */
function packed(): string {
  execFileSync('tar', ['-czf', 'setpoint.tgz', '-C', 'packed', 'package'], { cwd: folder.path });
  return createHash('sha256')
    .update(readFileSync(join(folder.path, 'setpoint.tgz')))
    .digest('hex');
}

describe.runIf(process.platform === 'linux')('a release (on Linux)', () => {
  beforeEach(() => {
    folder = folderWith({
      'clone/package.json': JSON.stringify({
        name: 'setpoint',
        version: '1.2.3',
        files: ['dist'],
        scripts: { prepack: 'node build.mjs' },
      }),
      'clone/.gitignore': 'dist/\n',
      'clone/build.mjs': `import { mkdirSync, writeFileSync } from 'node:fs';
mkdirSync('dist', { recursive: true });
writeFileSync('dist/main.js', process.env.BUILDS_DIFFER ? String(process.hrtime.bigint()) : 'built');
`,
      'packed/package/package.json': '{}',
      'packed/package/dist/main.js': 'built',
      'o/r/.keep': '',
    });
    execFileSync('git', ['init', '--quiet', '--bare', join(folder.path, 'o/r.git')]);
    git('init', '--quiet', '--initial-branch', 'main');
    commitAll();
    git('remote', 'add', 'origin', join(folder.path, 'o/r.git'));
    git('push', '--quiet', 'origin', 'main');
  });
  afterEach(() => folder.remove());

  describe('checks its tag', () => {
    const script = stepNamed(WORKFLOW, 'build', 'The tag is the version, and on main').run ?? '';
    const check = (tag: string) =>
      runScript(script, {
        cwd: clone(),
        env: { GITHUB_REF_NAME: tag, GITHUB_SHA: git('rev-parse', 'HEAD') },
      });

    it('goes on if it is the version, on main', async () => {
      expect(await check('v1.2.3')).toMatchObject({ code: 0, stdout: '' });
    });

    it('stops if it is another', async () => {
      const { code, stdout } = await check('v1.2.4');
      expect([code, stdout]).toEqual([
        1,
        '::error::The tag is v1.2.4, and package.json has 1.2.3.\n',
      ]);
    });

    it('stops if it is not on main', async () => {
      git('commit', '--quiet', '--allow-empty', '--message', 'not merged');
      const { code, stdout } = await check('v1.2.3');
      expect([code, stdout]).toEqual([1, '::error::v1.2.3 is not on main.\n']);
    });
  });

  describe('packs twice', () => {
    const script = stepNamed(WORKFLOW, 'build', 'Pack twice, and compare').run ?? '';
    const pack = (env: Record<string, string> = {}) =>
      runScript(script, {
        cwd: clone(),
        env: { GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'o/r', ...env },
      });

    it('keeps one package that names its repository, with its sha', async () => {
      const { code, output, stderr } = await pack();
      expect([code, stderr.includes('differ')]).toEqual([0, false]);
      const bytes = readFileSync(join(clone(), 'setpoint.tgz'));
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      expect(output).toBe(`sha256=${sha256}\n`);
      const manifest = execFileSync('tar', ['-xzOf', 'setpoint.tgz', 'package/package.json'], {
        cwd: clone(),
        encoding: 'utf8',
      });
      expect(JSON.parse(manifest)).toMatchObject({
        repository: { type: 'git', url: 'git+https://github.com/o/r.git' },
      });
    });

    it('stops if two builds are not the same', LONG, async () => {
      const { code, output, stdout } = await pack({ BUILDS_DIFFER: 'yes' });
      expect([code, output]).toEqual([1, '']);
      expect(stdout).toContain('dist/main.js');
    });
  });

  describe('makes the commit of the action', () => {
    const script =
      stepNamed(WORKFLOW, 'action', 'Commit what was published on top of the tag').run ?? '';
    const make = (sha256: string) =>
      runScript(script, {
        cwd: clone(),
        env: {
          RUNNER_TEMP: folder.path,
          SHA256: sha256,
          GH_TOKEN: 'a-token',
          GITHUB_SERVER_URL: `file://${folder.path}`,
          GITHUB_REPOSITORY: 'o/r.git',
          GITHUB_REF_NAME: 'v1.2.3',
        },
        commands: { gh: fakeGh({}) },
      });
    const tags = () => git('ls-remote', '--tags', 'origin');

    it('of the published files, on top of the tag, with nothing left to build', async () => {
      const tagged = git('rev-parse', 'HEAD');
      const { code, summary } = await make(packed());
      expect(code).toBe(0);
      git('fetch', '--quiet', '--tags', 'origin');
      expect(git('rev-parse', 'action-v1.2.3^')).toBe(tagged);
      expect(git('diff', '--name-only', tagged, 'action-v1.2.3').split('\n')).toEqual([
        'dist/main.js',
        'package.json',
      ]);
      expect(git('show', 'action-v1.2.3:package.json')).not.toContain('prepack');
      expect(summary).toContain(`@${git('rev-parse', 'action-v1.2.3')} # action-v1.2.3`);
    });

    it('never of other bytes than the published ones', async () => {
      packed();
      expect((await make('0'.repeat(64))).code).toBe(1);
      expect([tags(), existsSync(join(clone(), 'dist'))]).toEqual(['', false]);
    });

    it('never in place of one that is there', async () => {
      git('push', '--quiet', 'origin', 'HEAD:refs/tags/action-v1.2.3');
      const before = tags();
      expect((await make(packed())).code).toBe(1);
      expect(tags()).toBe(before);
    });
  });
});

describe.runIf(process.platform === 'linux')('the files of a release (on Linux)', () => {
  let files: ReturnType<typeof folderWith>;
  beforeEach(() => {
    files = folderWith({
      'package/dist/main.cjs': 'built',
      'files/setpoint-1.2.3-linux-x64.tar.gz': 'an executable',
      'files/setpoint-1.2.3-py3-none-any.whl': 'a wheel',
    });
    execFileSync('tar', ['-czf', 'files/setpoint.tgz', 'package'], { cwd: files.path });
  });
  afterEach(() => files.remove());
  const run = (job: string, name: string, commands = {}) =>
    runScript(stepNamed(WORKFLOW, job, name).run ?? '', {
      cwd: files.path,
      env: { GITHUB_REF_NAME: 'v1.2.3', GH_TOKEN: 'a-token', GH_REPO: 'o/r' },
      commands,
    });
  const hashes = () =>
    run('attest', 'Write the hashes, and unpack what the tag action-v* will hold');
  const gh = `#!/bin/sh\nprintf '%s\\n' "$@" > args\n`;

  it('are attested by their hashes, as are those of the action', async () => {
    expect((await hashes()).code).toBe(0);
    const list = readFileSync(join(files.path, 'files/SHA256SUMS'), 'utf8');
    expect(list.match(/\S+$/gm)).toEqual([
      'setpoint-1.2.3-linux-x64.tar.gz',
      'setpoint-1.2.3-py3-none-any.whl',
      'setpoint-1.2.3.tgz',
    ]);
    expect(existsSync(join(files.path, 'dist/main.cjs'))).toBe(true);
  });

  it('are published as they were attested', async () => {
    await hashes();
    expect((await run('release', 'Make the release', { gh })).code).toBe(0);
    const args = readFileSync(join(files.path, 'args'), 'utf8').split('\n');
    expect(args.slice(0, 4)).toEqual(['release', 'create', 'v1.2.3', '--verify-tag']);
    expect(args.filter((one) => one.startsWith('files/'))).toHaveLength(4);
  });

  it('are not published if one is another', async () => {
    await hashes();
    writeFileSync(join(files.path, 'files/setpoint-1.2.3-py3-none-any.whl'), 'another wheel');
    expect((await run('release', 'Make the release', { gh })).code).not.toBe(0);
    expect(existsSync(join(files.path, 'args'))).toBe(false);
  });
});

describe('release.yml', () => {
  it('attests everything that it publishes before it publishes anything', () => {
    expect(WORKFLOW.jobs['publish']?.needs).toContain('attest');
    expect(WORKFLOW.jobs['action']?.needs).toContain('publish');
    expect(WORKFLOW.jobs['release']?.needs).toEqual(['attest', 'publish', 'action']);
  });

  it('publishes from a job that runs nothing of ours', () => {
    const steps = WORKFLOW.jobs['publish']?.steps ?? [];
    expect(steps.flatMap(({ uses }) => uses?.split('@')[0] ?? [])).toEqual([
      'actions/setup-node',
      'actions/download-artifact',
    ]);
    expect(steps.at(-1)?.run).toMatch(
      /^npm publish \.\/setpoint\.tgz --provenance .*--ignore-scripts$/m,
    );
    expect(WORKFLOW.jobs['publish']?.environment).toBe('release');
  });
});
