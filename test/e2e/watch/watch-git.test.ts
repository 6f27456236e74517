import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { digestsUnder } from '../../../src/reconciler/host/digests.ts';
import { openBranch } from '../../../src/reconciler/host/git-branch.ts';
import { planLoaded, sessionNetworks } from '../../../src/reconciler/operations/session.ts';
import type { Dispatcher } from '../../../src/reconciler/service/connect.ts';
import { FollowedCommits } from '../../../src/controller/watch/followed-commits.ts';
import { branchSource, CurrentFiles } from '../../../src/controller/watch/source.ts';
import { folderWith } from '../../fixture/command.ts';
import { HandClock } from '../../fixture/watch-world.ts';

const MINUTE = 60_000;

let folder: ReturnType<typeof folderWith>;
let repository: string;

function git(...args: readonly string[]): string {
  const identity = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.com'];
  return execFileSync('git', ['-C', repository, ...identity, ...args], { encoding: 'utf8' }).trim();
}

/** Commits the files, and returns the commit. */
function commit(files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(repository, name), text);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Change');
  return git('rev-parse', 'HEAD');
}

function settings(language: string): string {
  return `version: 1
extends: base.yaml
server: { url: "http://127.0.0.1:1" }
settings: { language: ${language} }
`;
}

const BASE = 'version: 1\nsettings: { llm_model: openai/gpt-5 }\n';

beforeEach(() => {
  folder = folderWith({});
  repository = join(folder.path, 'repository');
  mkdirSync(repository);
  git('init', '--quiet', '--initial-branch', 'main');
});
afterEach(() => folder.remove());

async function followed(
  from?: string,
  ref = 'main',
): Promise<{ files: CurrentFiles; clock: HandClock }> {
  const clock = new HandClock();
  const env = { PATH: process.env['PATH'] ?? '' };
  const into = join(folder.path, 'data/git');
  const branch = await openBranch({ source: repository, ref, into, env });
  const options = { file: 'settings.yaml', env };
  const source = { branch, commits: new FollowedCommits(into), from };
  const files = new CurrentFiles(branchSource(options, source, clock, join(folder.path, 'data')));
  return { files, clock };
}

it(
  'the files of the newest commit are in force, a base beside them, and the next commit a minute later',
  { timeout: 60_000 },
  async () => {
    const first = commit({ 'settings.yaml': settings('en'), 'base.yaml': BASE });
    const { files, clock } = await followed();
    expect(await files.refresh()).toBe(true);
    expect(files).toMatchObject({ commit: first, problem: null });
    expect(files.targets).toMatchObject([{ name: 'default' }]);
    const second = commit({ 'settings.yaml': settings('de') });
    expect(await files.refresh()).toBe(false);
    clock.passed += MINUTE;
    expect(await files.refresh()).toBe(true);
    expect(files).toMatchObject({ commit: second, problem: null });
  },
);

it(
  'a broken commit leaves the last good one in force, until a good one follows',
  { timeout: 60_000 },
  async () => {
    const good = commit({ 'settings.yaml': settings('en'), 'base.yaml': BASE });
    const { files, clock } = await followed();
    await files.refresh();
    commit({ 'settings.yaml': 'version: 1\nsettings: { language: [' });
    clock.passed += MINUTE;
    expect(await files.refresh()).toBe(true);
    expect(files).toMatchObject({ commit: good, problem: { code: 'settings-invalid' } });
    expect(files.targets).toHaveLength(1);
    const mended = commit({ 'settings.yaml': settings('fr') });
    clock.passed += MINUTE;
    expect(await files.refresh()).toBe(true);
    expect(files).toMatchObject({ commit: mended, problem: null });
  },
);

it(
  'a branch that was rewritten is not followed, and that is said',
  { timeout: 60_000 },
  async () => {
    commit({ 'settings.yaml': settings('en'), 'base.yaml': BASE });
    const second = commit({ 'settings.yaml': settings('de') });
    const { files, clock } = await followed();
    await files.refresh();
    git('reset', '--quiet', '--hard', 'HEAD~1');
    commit({ 'settings.yaml': settings('it') });
    for (const passed of [MINUTE, 5_000, MINUTE]) {
      clock.passed += passed;
      await files.refresh();
      expect(files).toMatchObject({ commit: second, problem: { code: 'branch-rewritten' } });
    }
  },
);

it(
  'a commit that names another address is sent no key, because the lists of a pipeline must be set',
  { timeout: 60_000 },
  async () => {
    commit({
      'settings.yaml': `version: 1
environments:
  other: { server: { url: "https://evil.example.com", api_key: "\${env:KEY}" } }
  ours: { server: { url: "https://agents.example.com", api_key: "\${env:OUR_KEY}" } }
`,
    });
    const env = { PATH: process.env['PATH'] ?? '', KEY: 'canary-1', OUR_KEY: 'canary-2' };
    const into = join(folder.path, 'data/git');
    const branch = await openBranch({ source: repository, ref: 'main', into, env });
    const asked: string[] = [];
    const readWith = async (more: Record<string, string>, name: string) => {
      const request = {
        file: 'settings.yaml',
        env: { ...env, ...more },
        checkout: { from: 'branch' as const, root: '.', state: join(folder.path, 'data') },
        dispatcher: {
          dispatch: (options: { origin?: unknown }) => {
            asked.push(String(options.origin));
            throw new Error('refused by the test');
          },
        } as unknown as Dispatcher,
      };
      const followed = { branch, commits: new FollowedCommits(into) };
      const source = branchSource(request, followed, new HandClock(), join(folder.path, 'data'));
      const { targets, values } = await source.load();
      const target = targets.find((one) => one.name === name);
      if (target === undefined) throw new Error(`no ${name}`);
      const networks = sessionNetworks();
      const sharing = { networks, values, agreement: null, digests: digestsUnder() };
      const { plan } = await planLoaded(target, request, sharing);
      await networks.close();
      return plan.error;
    };
    const lists = {
      SETPOINT_ALLOWED_ORIGINS: 'agents.example.com',
      SETPOINT_ALLOWED_VARIABLES: 'OUR_KEY',
    };
    expect(await readWith({}, 'other')).toMatchObject({
      code: 'origin-not-allowed',
      message: 'With --git, SETPOINT_ALLOWED_ORIGINS must list where keys may be sent.',
    });
    expect(
      await readWith({ SETPOINT_ALLOWED_ORIGINS: 'agents.example.com' }, 'ours'),
    ).toMatchObject({ code: 'variable-not-allowed' });
    expect(await readWith(lists, 'other')).toMatchObject({ code: 'variable-not-allowed' });
    expect(asked).toEqual([]);
    expect((await readWith(lists, 'ours'))?.code).not.toMatch(/not-allowed/);
    expect(new Set(asked)).toEqual(new Set(['https://agents.example.com']));
  },
);

it(
  'a branch that was rewritten while no controller ran is not followed, until a commit of its new history is named',
  { timeout: 60_000 },
  async () => {
    commit({ 'settings.yaml': settings('en'), 'base.yaml': BASE });
    const second = commit({ 'settings.yaml': settings('de') });
    await (await followed()).files.refresh();
    const third = commit({ 'settings.yaml': settings('fr') });
    const forward = (await followed()).files;
    await forward.refresh();
    expect(forward).toMatchObject({ commit: third, problem: null });
    git('reset', '--quiet', '--hard', second);
    for (const from of [undefined, third]) {
      const rewound = (await followed(from)).files;
      await rewound.refresh();
      expect(rewound).toMatchObject({ targets: [], problem: { code: 'branch-rewritten' } });
      expect(rewound.problem?.hint).toContain('--git-from');
    }
    const meant = (await followed(second)).files;
    await meant.refresh();
    expect(meant).toMatchObject({ commit: second, problem: null });
    // What was named once does not open the way back behind what came after it.
    const other = commit({ 'settings.yaml': settings('it') });
    const later = (await followed(second)).files;
    await later.refresh();
    expect(later).toMatchObject({ commit: other, problem: null });
    git('reset', '--quiet', '--hard', second);
    const back = (await followed(second)).files;
    await back.refresh();
    expect(back).toMatchObject({ targets: [], problem: { code: 'branch-rewritten' } });
    git('branch', 'elsewhere');
    const elsewhere = (await followed(undefined, 'elsewhere')).files;
    await elsewhere.refresh();
    expect(elsewhere).toMatchObject({ commit: second, problem: null });
  },
);

it(
  'what a file that is broken since an earlier commit was declared with stays beside it',
  { timeout: 60_000 },
  async () => {
    const one = (language: string) =>
      `version: 1\nserver: { url: "https://one.example.com", ca_file: ca.pem }\nsettings: { ${language} }\n`;
    const two = (language: string) =>
      `version: 1\nserver: { url: "https://two.example.com" }\nsettings: { language: ${language} }\n`;
    commit({ 'one.yaml': one('language: en'), 'two.yaml': two('en'), 'ca.pem': 'a certificate' });
    const clock = new HandClock();
    const env = { PATH: process.env['PATH'] ?? '' };
    const into = join(folder.path, 'data/git');
    const branch = await openBranch({ source: repository, ref: 'main', into, env });
    const options = { file: ['one.yaml', 'two.yaml'], env };
    const source = { branch, commits: new FollowedCommits(into) };
    const files = new CurrentFiles(branchSource(options, source, clock, join(folder.path, 'data')));
    await files.refresh();
    const first = files.commit;
    const next = async (changed: Readonly<Record<string, string>>) => {
      commit(changed);
      clock.passed += 2 * MINUTE;
      await files.refresh();
    };
    const oneOf = () => files.targets.find(({ name }) => name === 'one')?.file ?? '';
    const caFile = () => readFileSync(join(dirname(oneOf()), 'ca.pem'), 'utf8');
    await next({ 'one.yaml': one('langage: en') });
    for (const language of ['de', 'fr', 'it', 'es']) await next({ 'two.yaml': two(language) });
    expect(files.broken).toEqual([
      { file: 'one.yaml', isKept: true, text: expect.stringMatching(/^one\.yaml:3:13: Unknown/) },
    ]);
    expect(files.problemText).toMatch(/^one\.yaml:3:13: Unknown/);
    expect([files.commitOf('one'), files.commitOf('two')]).toEqual([first, files.commit]);
    expect(first).not.toBe(files.commit);
    expect(caFile()).toBe('a certificate');
    await next({ 'one.yaml': one('language: de') });
    await next({ 'two.yaml': two('en') });
    await next({ 'two.yaml': two('de') });
    expect([files.broken, caFile()]).toEqual([[], 'a certificate']);
    const kept = readdirSync(into).filter((name) => name.startsWith('files-'));
    expect(readdirSync(join(into, kept[0] ?? '')).length).toBeLessThanOrEqual(3);
  },
);
