import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { digestsUnder } from '../../../src/reconciler/host/digests.ts';
import { openBranch } from '../../../src/reconciler/host/git-branch.ts';
import { planLoaded, sessionNetworks } from '../../../src/reconciler/operations/session.ts';
import type { Dispatcher } from '../../../src/reconciler/model/dispatcher.ts';
import { FollowedCommits } from '../../../src/controller/watch/followed-commits.ts';
import { branchSource } from '../../../src/controller/watch/branch-source.ts';
import { CurrentFiles } from '../../../src/controller/watch/source.ts';
import { folderWith } from '../../fixture/command.ts';
import { HandClock } from '../../fixture/watch-world.ts';
import { LONG, itEach } from '../../fixture/long.ts';

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
  more: { readonly source?: string; readonly file?: string | undefined } = {},
): Promise<{ files: CurrentFiles; clock: HandClock }> {
  const clock = new HandClock();
  const env = { PATH: process.env['PATH'] ?? '' };
  const into = join(folder.path, 'data/git');
  const branch = await openBranch({ source: more.source ?? repository, ref, into, env });
  const options = { file: 'file' in more ? more.file : 'settings.yaml', env };
  const source = { branch, commits: new FollowedCommits(into), from };
  const files = new CurrentFiles(branchSource(options, source, clock, join(folder.path, 'data')));
  return { files, clock };
}

it('the files of the newest commit are in force, a base beside them, and the next commit a minute later', async () => {
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
});

it('a broken commit leaves the last good one in force, until a good one follows', async () => {
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
});

it('a branch that was rewritten is not followed, and that is said', async () => {
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
});

it('a commit that names another address is sent no key, because the lists of a pipeline must be set', async () => {
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
    code: 'not-allowed',
    message: expect.stringMatching(
      /^With --git, these lists must be set: SETPOINT_ALLOWED_ORIGINS .*SETPOINT_ALLOWED_VARIABLES /,
    ) as string,
  });
  expect(await readWith({ SETPOINT_ALLOWED_ORIGINS: 'agents.example.com' }, 'ours')).toMatchObject({
    code: 'not-allowed',
  });
  expect(await readWith(lists, 'other')).toMatchObject({ code: 'not-allowed' });
  expect(asked).toEqual([]);
  expect((await readWith(lists, 'ours'))?.code).not.toMatch(/not-allowed/);
  expect(new Set(asked)).toEqual(new Set(['https://agents.example.com']));
});

it(
  'a branch that was rewritten while no controller ran is not followed, until a commit of its new history is named',
  LONG,
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
      const code = from === undefined ? 'branch-rewritten' : 'usage';
      expect(rewound).toMatchObject({ targets: [], problem: { code } });
      expect(rewound.problem?.hint).toContain('--ref');
      expect(await rewound.takeLast()).toBe(true);
      expect(rewound).toMatchObject({ commit: third, problem: { code } });
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

/** What is wrong when a controller starts again, and how it is right again. */
const BAD_STARTS: readonly {
  readonly what: string;
  readonly wrong: () => void;
  readonly mend?: () => void;
}[] = [
  {
    what: 'a branch that was rewritten',
    wrong: () => {
      git('branch', 'before');
      git('checkout', '--quiet', '--orphan', 'after');
      commit({ 'settings.yaml': settings('ru') });
      git('branch', '--force', 'main', 'after');
      git('checkout', '--quiet', 'main');
    },
    mend: () => git('reset', '--quiet', '--hard', 'before'),
  },
  {
    what: 'a branch that was deleted',
    wrong: () => {
      git('checkout', '--quiet', '-b', 'other');
      git('branch', '--quiet', '-D', 'main');
    },
    mend: () => git('checkout', '--quiet', '-b', 'main'),
  },
  {
    what: 'a branch that was renamed',
    wrong: () => git('branch', '--move', 'main', 'trunk'),
    mend: () => git('branch', '--move', 'trunk', 'main'),
  },
  {
    what: 'a newest commit without the settings file',
    wrong: () => {
      git('rm', '--quiet', 'settings.yaml');
      git('commit', '--quiet', '--message', 'Remove');
    },
  },
  {
    what: 'a newest commit without the base',
    wrong: () => {
      git('rm', '--quiet', 'base.yaml');
      git('commit', '--quiet', '--message', 'Remove');
    },
  },
  {
    what: 'a newest commit that is not valid',
    wrong: () => void commit({ 'settings.yaml': 'version: 1\nsettings: { language: [' }),
  },
  {
    what: 'a newest commit whose settings file is too large',
    wrong: () => void commit({ 'settings.yaml': `#${'x'.repeat(17 * 1024 * 1024)}` }),
  },
  {
    what: 'a repository that is away',
    wrong: () => renameSync(repository, `${repository}.away`),
    mend: () => renameSync(`${repository}.away`, repository),
  },
];

itEach(BAD_STARTS, (_, index) => index === 0)(
  'a start with $what goes on with the last good commit, and follows once it can',
  async ({ wrong, mend = () => {} }) => {
    const source = pathToFileURL(repository).href;
    const good = commit({ 'settings.yaml': settings('en'), 'base.yaml': BASE });
    await (await followed(undefined, 'main', { source })).files.refresh();
    wrong();
    const { files, clock } = await followed(undefined, 'main', { source });
    await files.refresh();
    expect(files).toMatchObject({ targets: [], problem: { code: expect.any(String) as string } });
    expect(files.problemText).not.toContain(folder.path.concat('/data'));
    expect(await files.takeLast()).toBe(true);
    expect(files).toMatchObject({ commit: good, targets: [{ name: 'default' }] });
    expect(files.problem).not.toBeNull();
    mend();
    const next = commit({ 'settings.yaml': settings('fr'), 'base.yaml': BASE });
    clock.passed += MINUTE;
    await files.refresh();
    expect(files).toMatchObject({ commit: next, problem: null });
  },
);

const DAMAGE: readonly (readonly [string, (copy: string) => void])[] = [
  ['without its objects', (copy) => rmSync(join(copy, 'objects'), { recursive: true })],
  ['with cut packs', (copy) => cutFiles(join(copy, 'objects/pack'), '.pack')],
  ['with cut indexes of packs', (copy) => cutFiles(join(copy, 'objects/pack'), '.idx')],
  ['without a head', (copy) => writeFileSync(join(copy, 'HEAD'), '')],
  ['with another configuration', (copy) => writeFileSync(join(copy, 'config'), '[core\n\0')],
  ['with a broken ref', (copy) => writeFileSync(join(copy, 'refs/setpoint/tip'), 'nothing\n')],
];

function cutFiles(path: string, ending: string): void {
  for (const name of readdirSync(path).filter((one) => one.endsWith(ending))) {
    chmodSync(join(path, name), 0o600);
    truncateSync(join(path, name), 20);
  }
}

itEach(DAMAGE, (_, index) => index === 0)(
  'a copy %s is fetched again: the newest commit is in force at the start',
  async (_, damage) => {
    const source = pathToFileURL(repository).href;
    commit({ 'settings.yaml': settings('en'), 'base.yaml': BASE });
    await (await followed(undefined, 'main', { source })).files.refresh();
    const next = commit({ 'settings.yaml': settings('fr') });
    damage(join(folder.path, 'data/git/repository.git'));
    const { files } = await followed(undefined, 'main', { source });
    await files.refresh();
    expect(files).toMatchObject({ commit: next, problem: null });
  },
);

it(
  'files of the repository that the settings do not need have no limit, whatever they are and however -f names the others',
  LONG,
  async () => {
    const ca = 'server: { url: "https://one.example.com", ca_file: "${env:CA:-certs/ca.pem}" }';
    for (const name of ['teams/certs', 'deep'])
      mkdirSync(join(repository, name), { recursive: true });
    commit({
      'settings.yaml': settings('en'),
      'base.yaml': BASE,
      'teams/one.yaml': `version: 1\nextends: ../deep/base.yml\n${ca}\n`,
      'teams/certs/ca.pem': 'a certificate',
      'deep/base.yml': BASE,
      'large.bin': 'x'.repeat(17 * 1024 * 1024),
      'teams/large.txt': 'x'.repeat(17 * 1024 * 1024),
    });
    const named: readonly (readonly [string | undefined, readonly string[]])[] = [
      [undefined, ['base.yaml', 'settings.yaml']],
      ['./settings.yaml', ['base.yaml', 'settings.yaml']],
      ['teams/*.yaml', ['deep/base.yml', 'teams/certs/ca.pem', 'teams/one.yaml']],
    ];
    for (const [file, needed] of named) {
      const { files } = await followed(undefined, 'main', { file });
      await files.refresh();
      expect(files.problem).toBeNull();
      const root = (files.targets[0]?.file ?? '').split(`${files.commit}/`)[0] ?? '';
      const found = readdirSync(join(root, files.commit ?? ''), {
        recursive: true,
        withFileTypes: true,
      })
        .filter((one) => one.isFile())
        .map((one) => relative(join(root, files.commit ?? ''), join(one.parentPath, one.name)));
      expect(found.toSorted()).toEqual(needed);
    }
    const { files } = await followed(undefined, 'main', { file: 'large.bin' });
    await files.refresh();
    expect(files.problemText).toMatch(/^large\.bin is larger than 16 MiB/);
  },
);

it('what a file that is broken since an earlier commit was declared with stays beside it', async () => {
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
});
