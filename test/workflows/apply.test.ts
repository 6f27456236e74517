import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folderWith } from '../fixture/command.ts';
import { fakeGh } from './fake-gh.ts';
import { runScript } from './run-script.ts';
import { stepNamed, workflowNamed } from './workflow-file.ts';

const WORKFLOW = workflowNamed('apply');
const script = stepNamed(WORKFLOW, 'apply', 'Refuse a commit that is no longer the tip').run ?? '';

let folder: ReturnType<typeof folderWith>;
let server: Server;
let url: string;

function git(...args: readonly string[]): string {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  const options = { cwd: join(folder.path, 'o/r'), encoding: 'utf8' } as const;
  return execFileSync('git', [...identity, ...args], options).trim();
}

/** A commit on the branch that the server shows from now on. */
function commit(): string {
  git('commit', '--quiet', '--allow-empty', '--message', 'a commit');
  git('update-server-info');
  return git('rev-parse', 'HEAD');
}

function check(sha: string, repository = 'o/r', token = 'a-token') {
  return runScript(script, {
    cwd: folder.path,
    env: {
      GH_TOKEN: token,
      GITHUB_SERVER_URL: url,
      GITHUB_REPOSITORY: repository,
      GITHUB_SHA: sha,
    },
    commands: { gh: fakeGh({}) },
  });
}

describe.runIf(process.platform === 'linux')('the check for the tip (on Linux)', () => {
  /** A private repository: read by whoever has the token, over HTTP. */
  beforeEach(async () => {
    folder = folderWith({ 'o/r/.keep': '' });
    git('init', '--quiet', '--initial-branch', 'main');
    const authorization = `Basic ${Buffer.from('x-access-token:a-token').toString('base64')}`;
    server = createServer((request, response) => {
      const path = new URL(request.url ?? '', 'http://x').pathname.replace('/o/r/', '/o/r/.git/');
      if (request.headers.authorization !== authorization)
        response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      else if (existsSync(join(folder.path, path)))
        response.end(readFileSync(join(folder.path, path)));
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    folder.remove();
  });

  it('lets the tip through, and refuses the same commit once the branch has moved', async () => {
    const older = commit();
    expect(await check(older)).toMatchObject({ code: 0, stdout: '' });
    const newer = commit();
    const refused = await check(older);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain(
      `This run is for ${older}, and the default branch is at ${newer}.`,
    );
    expect(await check(newer)).toMatchObject({ code: 0 });
  });

  it('refuses the tip of another branch', async () => {
    commit();
    git('checkout', '--quiet', '-b', 'feature');
    const sha = commit();
    git('checkout', '--quiet', 'main');
    expect(await check(sha)).toMatchObject({ code: 1 });
  });

  it.each([
    ['there is no such repository', 'o/gone', 'a-token'],
    ['nobody answers for the token', 'o/r', 'another-token'],
  ])('refuses if %s', async (_, repository, token) => {
    const { code, stdout } = await check(commit(), repository, token);
    expect([code, stdout]).toEqual([128, '']);
  });
});

describe('apply.yml', () => {
  it('holds one lock for a target from its plan to its end, and never cuts a run off', () => {
    expect(WORKFLOW).toMatchObject({
      concurrency: {
        group: 'setpoint-apply-${{ inputs.environment }}',
        'cancel-in-progress': false,
      },
    });
    expect(Object.values(WORKFLOW.jobs).map(({ concurrency }) => concurrency)).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('applies what was planned, behind the protection of its environment, right after the check', () => {
    expect(WORKFLOW.jobs['apply']?.environment).toBe('${{ inputs.environment }}');
    expect(WORKFLOW.jobs['plan']?.environment).toBe('${{ inputs.snapshot-environment }}');
    const names = WORKFLOW.jobs['apply']?.steps?.map(({ name }) => name);
    expect(names?.slice(-3)).toEqual([
      'Refuse a commit that is no longer the tip',
      'Apply',
      'Keep the snapshot',
    ]);
    const [upload, download] = [
      stepNamed(WORKFLOW, 'plan', 'Hand the plan over'),
      stepNamed(WORKFLOW, 'apply', 'Take the plan'),
    ];
    expect(download.with?.['name']).toBe(upload.with?.['name']);
    expect(stepNamed(WORKFLOW, 'plan', 'Plan').with?.['plan']).toBe(upload.with?.['path']);
    expect(stepNamed(WORKFLOW, 'apply', 'Apply').with?.['plan']).toBe(
      `${String(download.with?.['path'])}/plan.json`,
    );
  });

  it('keeps a fresh snapshot after the apply, where plan.yml finds one', () => {
    const keep = stepNamed(WORKFLOW, 'apply', 'Keep the snapshot');
    expect(keep.with?.['path']).toBe(stepNamed(WORKFLOW, 'apply', 'Apply').with?.['snapshot-out']);
    const drift = stepNamed(workflowNamed('drift'), 'drift', 'Keep the snapshot');
    expect(keep.with?.['name']).toBe(drift.with?.['name']);
    expect(keep.if).toBe('${{ !cancelled() }}');
  });
});
