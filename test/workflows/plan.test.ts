import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderWith } from '../fixture/command.ts';
import { fakeGh, hasJq, type Repository } from './fake-gh.ts';
import { runScript } from './run-script.ts';
import { stepNamed, workflowNamed } from './workflow-file.ts';

const WORKFLOW = workflowNamed('plan');
const linux = process.platform === 'linux';

const snapshot = (text: string) => ({ 'setpoint-snapshot-production': { 'snapshot.json': text } });
const scheduled = { workflow: 'drift.yml', headBranch: 'main', event: 'schedule' };

/** The snapshot that a pull request is planned against, null if there is none, and what the step printed. */
async function newestSnapshot(runs: Repository['runs'] = []) {
  const folder = folderWith({});
  try {
    const script = stepNamed(WORKFLOW, 'plan', 'Find the newest snapshot').run ?? '';
    const ran = await runScript(script, {
      cwd: folder.path,
      env: {
        RUNNER_TEMP: folder.path,
        GH_TOKEN: 'a-token',
        GH_REPO: 'o/r',
        DRIFT_WORKFLOW: 'drift.yml',
        APPLY_WORKFLOW: 'apply.yml',
        DEFAULT_BRANCH: 'main',
        ENVIRONMENT: 'production',
      },
      commands: { gh: fakeGh({ runs }) },
    });
    const path = join(folder.path, 'snapshot/snapshot.json');
    expect(ran.code).toBe(0);
    expect(ran.output).toBe(existsSync(path) ? `path=${path}\n` : '');
    return { ...ran, snapshot: existsSync(path) ? readFileSync(path, 'utf8') : null };
  } finally {
    folder.remove();
  }
}

describe.runIf(linux && hasJq)(
  'the snapshot that a pull request is planned against (on Linux, with jq)',
  () => {
    it('is that of the newest run that kept one', async () => {
      const { snapshot: found } = await newestSnapshot([
        { databaseId: 4, ...scheduled },
        { databaseId: 3, ...scheduled, artifacts: { 'setpoint-snapshot-staging': {} } },
        { databaseId: 2, ...scheduled, event: 'workflow_dispatch', artifacts: snapshot('newest') },
        { databaseId: 1, ...scheduled, artifacts: snapshot('older') },
      ]);
      expect(found).toBe('newest');
    });

    it('is that of an apply, if nothing was saved since', async () => {
      const pushed = { workflow: 'apply.yml', headBranch: 'main', event: 'push' };
      const { snapshot: found } = await newestSnapshot([
        { databaseId: 3, ...pushed, event: 'pull_request', artifacts: snapshot('forged') },
        { databaseId: 2, ...pushed, artifacts: snapshot('after the apply') },
        { databaseId: 1, ...scheduled, artifacts: snapshot('before it') },
      ]);
      expect(found).toBe('after the apply');
      const later = { databaseId: 4, ...scheduled, artifacts: snapshot('after both') };
      const { snapshot: newest } = await newestSnapshot([
        later,
        { databaseId: 2, ...pushed, artifacts: snapshot('after the apply') },
      ]);
      expect(newest).toBe('after both');
    });

    it('never comes from a run of a fork, whose branch has the same name, nor of another branch or workflow', async () => {
      const { snapshot: found } = await newestSnapshot([
        { databaseId: 5, ...scheduled, event: 'pull_request', artifacts: snapshot('forged') },
        { databaseId: 4, ...scheduled, event: 'push', artifacts: snapshot('forged') },
        { databaseId: 3, ...scheduled, headBranch: 'feature', artifacts: snapshot('forged') },
        { databaseId: 2, ...scheduled, workflow: 'other.yml', artifacts: snapshot('forged') },
        { databaseId: 1, ...scheduled, artifacts: snapshot('honest') },
      ]);
      expect(found).toBe('honest');
    });

    it.each([
      ['the workflow never ran', []],
      ['no run kept a snapshot', [{ databaseId: 1, ...scheduled }]],
      [
        'only forks did',
        [{ databaseId: 1, ...scheduled, event: 'pull_request', artifacts: snapshot('x') }],
      ],
    ])('is reported missing if %s', async (_, runs) => {
      const { snapshot: found, stdout, summary } = await newestSnapshot(runs);
      expect(found).toBeNull();
      expect(stdout).toMatch(
        /^::warning title=No plan::.*No snapshot of production.*Run drift\.yml once on main/m,
      );
      expect(summary).toContain('Run drift.yml once on main');
    });
  },
);

describe('plan.yml', () => {
  const steps = WORKFLOW.jobs['plan']?.steps ?? [];

  it('validates always, and plans if there is a snapshot or a key', () => {
    expect(stepNamed(WORKFLOW, 'plan', 'Validate').if).toBeUndefined();
    expect(stepNamed(WORKFLOW, 'plan', 'Plan').if).toMatch(
      /steps\.checkout\.outcome == 'success' && \(inputs\.live \|\| steps\.snapshot\.outputs\.path != ''\)/,
    );
    expect(steps.map(({ name }) => name).slice(-2)).toEqual(['Validate', 'Plan']);
  });

  it('hands secrets over only for a live plan, and refuses that to a fork first of all', () => {
    const secret = steps.filter((step) => JSON.stringify(step).includes('secrets'));
    expect(secret.map(({ name }) => name)).toEqual(['Plan']);
    expect(secret[0]?.with?.['secrets']).toBe("${{ inputs.live && toJSON(secrets) || '' }}");
    expect(steps[0]?.if).toBe(
      'inputs.live && github.event.pull_request.head.repo.full_name != github.repository',
    );
    expect(steps[0]?.run).toContain('exit 1');
  });
});
