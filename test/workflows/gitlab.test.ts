import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../src/emulator/start.ts';
import { folderWith } from '../fixture/command.ts';
import { fleetNames, fleetSettings, startFleet } from '../fixture/fleet.ts';
import { startGitLab, type GitLab } from './fake-gitlab.ts';
import { readText } from './read-text.ts';
import { runScript, SETPOINT, type Ran } from './run-script.ts';
import { PACKAGE } from './workflow-file.ts';
import { dedent } from '../fixture/dedent.ts';
import { LONG, itEach } from '../fixture/long.ts';

const text = readText('examples/gitlab-ci/.gitlab-ci.yml');
const pipeline = parse(text, { merge: true }) as {
  readonly variables: Readonly<Record<string, string>>;
} & Readonly<Record<string, { readonly script: readonly string[] }>>;
const LOCAL = fileURLToPath(import.meta.resolve('gitlab-ci-local'));
const LOCAL_FLAGS = ['--ignore-predefined-vars', 'CI_PIPELINE_SOURCE'];

let folder: ReturnType<typeof folderWith>;
beforeEach(() => {
  folder = folderWith({ '.gitlab-ci.yml': text });
});
afterEach(() => folder.remove());

/** The jobs of a pipeline as GitLab's own schema and rules give them. */
function jobsOf(yaml: string, source: string) {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: folder.path,
      stdio: 'ignore',
    });
  writeFileSync(join(folder.path, '.gitlab-ci.yml'), yaml);
  git('init', '--initial-branch', 'main');
  git('add', '.gitlab-ci.yml');
  git('commit', '--message', 'a commit');
  git('remote', 'add', 'origin', 'https://gitlab.example.com/group/project.git');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [LOCAL, '--list-csv', ...LOCAL_FLAGS, '--variable', `CI_PIPELINE_SOURCE=${source}`],
    { cwd: folder.path, encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: folder.path } },
  );
  const jobs = stdout.trim().split('\n').slice(1);
  return { status, stderr, jobs: jobs.map((line) => line.split(';')[0]) };
}

describe.runIf(process.platform === 'linux')('the pipeline on GitLab (on Linux)', () => {
  const jobsFor: (readonly [string, readonly string[]])[] = [
    ['merge_request_event', ['validate', 'plan-merge-request']],
    ['push', ['plan', 'apply', 'snapshot']],
    ['schedule', ['snapshot', 'drift']],
  ];
  itEach(jobsFor, ([source]) => source === 'push')('for %s has %j', (source, jobs) => {
    const listed = jobsOf(text, source);
    expect([listed.status, listed.jobs]).toEqual([0, jobs]);
  });

  it('would not pass the schema with a misspelt key', LONG, () => {
    const { status, stderr } = jobsOf(text.replace('resource_group', 'resource_grup'), 'push');
    expect(status).toBe(1);
    expect(stderr).toContain("'resource_grup' property is not expected to be here at apply");
  });

  it('sets where keys may travel, and which version runs', () => {
    expect(pipeline.variables).toMatchObject({
      SETPOINT_VERSION: PACKAGE.version,
      SETPOINT_ALLOWED_ORIGINS: 'https://agents.example.com,https://mcp.example.com',
      SETPOINT_ALLOWED_VARIABLES: 'SETPOINT_API_KEY,LLM_API_KEY,MCP_API_KEY',
    });
    expect(text).toContain('cd /tmp/setpoint\n      npm pack --loglevel=error --ignore-scripts');
  });
});

describe.runIf(process.platform === 'linux')('the pipeline of a fleet on GitLab (on Linux)', () => {
  const fleetText = readText('examples/gitlab-ci/fleet.gitlab-ci.yml');
  const jobs = parse(fleetText) as typeof pipeline & { readonly default: unknown };

  it('has a job for each shard, and one for the report', LONG, () => {
    const listed = jobsOf(fleetText, 'schedule');
    const shards = [1, 2, 3, 4].map((index) => `drift: [${index}/4]`);
    expect([listed.status, listed.jobs]).toEqual([0, [...shards, 'report']]);
  });

  it('installs this version as the other does', () => {
    expect(jobs.variables).toMatchObject({ SETPOINT_VERSION: PACKAGE.version });
    expect(jobs.default).toEqual((pipeline as typeof jobs).default);
  });

  it('reports every environment once, whatever the shards found', LONG, async () => {
    const fleet = await startFleet();
    try {
      const names = fleetNames(40);
      const settings = fleetSettings(fleet.url, names, ['env-7']);
      writeFileSync(join(folder.path, 'settings.yaml'), settings);
      const commands = { setpoint: SETPOINT };
      const run = (job: string, env = {}) =>
        runScript(jobs[job]?.script.join('\n') ?? '', { cwd: folder.path, env, commands });
      const codes: string[] = [];
      for (const CI_NODE_INDEX of ['1', '2', '3', '4'])
        codes.push(String((await run('drift', { CI_NODE_INDEX, CI_NODE_TOTAL: '4' })).code));
      expect(codes.toSorted()).toEqual(['0', '0', '0', '2']);
      expect([...fleet.asked.keys()].toSorted()).toEqual(names.toSorted());
      expect([...fleet.asked.values()].every((times) => times === 1)).toBe(true);
      expect((await run('report')).code).toBe(2);
      const report = readFileSync(join(folder.path, 'report.md'), 'utf8');
      expect(report).toContain(
        '## Drift: 40 environments\n\nAll 4 shards are in it.\n\n39 in sync, 1 drift.',
      );
    } finally {
      await fleet.close();
    }
  });
});

describe.runIf(process.platform === 'linux')('its jobs (on Linux)', () => {
  let service: Emulator;
  let gitlab: GitLab;
  beforeEach(async () => {
    service = await startEmulator({ apiKey: 'a-key' });
    gitlab = await startGitLab('a-token');
    settings('en');
  });
  afterEach(() => Promise.all([service.close(), gitlab.close()]));

  function settings(language: string): void {
    writeFileSync(
      join(folder.path, 'settings.yaml'),
      dedent`
        version: 1
        server:
          url: ${service.url}
          api_key: \${env:SETPOINT_API_KEY}
        settings:
          language: ${language}
      `,
    );
  }

  /** Runs a job's lines as GitLab does, one script, with what a pipeline has. */
  function run(job: string, env: Record<string, string> = {}): Promise<Ran> {
    return runScript(pipeline[job]?.script.join('\n') ?? '', {
      cwd: folder.path,
      env: {
        CI: 'true',
        ...pipeline.variables,
        CI_API_V4_URL: gitlab.url,
        CI_DEFAULT_BRANCH: 'main',
        CI_MERGE_REQUEST_PROJECT_ID: '42',
        CI_MERGE_REQUEST_IID: '3',
        SETPOINT_GITLAB_TOKEN: 'a-token',
        ...env,
      },
      commands: { setpoint: SETPOINT },
    });
  }
  const key = { SETPOINT_API_KEY: 'a-key' };
  const read = (name: string) => readFileSync(join(folder.path, name), 'utf8');

  it('validate distinguishes a valid file from another', async () => {
    expect((await run('validate')).code).toBe(0);
    writeFileSync(join(folder.path, 'settings.yaml'), 'version: 2\n');
    expect((await run('validate')).code).toBe(3);
  });

  it('plan and apply hand the approval over; drift then finds nothing, and later what somebody changed', async () => {
    expect((await run('plan', key)).code).toBe(0);
    expect(await run('apply', key)).toMatchObject({ code: 0 });
    expect(JSON.parse(read('outcome.json'))).toMatchObject({
      environments: [{ status: 'applied', changes: [{ path: ['language'], result: 'verified' }] }],
    });
    expect((await run('drift', key)).code).toBe(0);
    settings('fr');
    expect((await run('drift', key)).code).toBe(2);
    expect(read('drift.md')).toContain('language');
  });

  it('a merge request without a snapshot reports that, and is no failure', async () => {
    const { code, stdout } = await run('plan-merge-request');
    expect([code, gitlab.notes]).toEqual([0, []]);
    expect(stdout).toContain('No snapshot to plan against: run a pipeline on main once.');
  });

  it('a merge request is planned with no key, in one note of its own, written anew', async () => {
    await run('snapshot', key);
    gitlab.snapshot = read('snapshot.json');
    const foreign = { id: 1, author: { id: 8 }, body: '<!-- setpoint: plan -->\nnot mine' };
    gitlab.notes.push({ ...foreign });
    expect(await run('plan-merge-request')).toMatchObject({ code: 0 });
    settings('fr');
    expect(await run('plan-merge-request')).toMatchObject({ code: 0 });
    expect(gitlab.notes).toHaveLength(2);
    expect(gitlab.notes[0]).toEqual(foreign);
    expect(gitlab.notes[1]?.body).toMatch(/^<!-- setpoint: plan -->\n/);
    expect(gitlab.notes[1]?.body).toContain('fr');
  });
});
