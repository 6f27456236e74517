import { describe, expect, it } from 'vitest';
import { folderWith } from '../fixture/command.ts';
import { fakeGh, hasJq, type Repository } from './fake-gh.ts';
import { runScript } from './run-script.ts';
import { stepNamed, workflowNamed } from './workflow-file.ts';

const WORKFLOW = workflowNamed('drift');
const linux = process.platform === 'linux';

async function lastDeployed(deployments: Repository['deployments'], token = 'a-token') {
  const script = stepNamed(WORKFLOW, 'drift', 'Find the commit last deployed').run ?? '';
  const folder = folderWith({});
  try {
    return await runScript(script, {
      cwd: folder.path,
      env: { GH_TOKEN: token, GITHUB_REPOSITORY: 'o/r', ENVIRONMENT: 'production' },
      commands: { gh: fakeGh({ deployments: deployments ?? [] }) },
    });
  } finally {
    folder.remove();
  }
}

describe.runIf(linux && hasJq)('the commit last deployed (on Linux, with jq)', () => {
  const production = { environment: 'production' };

  it('is that of the newest deployment whose last state is success', async () => {
    const { code, output } = await lastDeployed([
      { id: 5, sha: 'e', ...production, states: ['waiting'] },
      { id: 4, sha: 'd', ...production, states: ['failure', 'in_progress'] },
      { id: 3, sha: 'c', ...production, states: [] },
      { id: 2, sha: 'b', ...production, states: ['success', 'in_progress'] },
      { id: 1, sha: 'a', ...production, states: ['inactive', 'success'] },
    ]);
    expect([code, output]).toEqual([0, 'sha=b\n']);
  });

  it.each([
    ['there is none', []],
    [
      'there are only those of others',
      [{ id: 1, sha: 'a', environment: 'staging', states: ['success'] }],
    ],
    ['none succeeded', [{ id: 1, sha: 'a', ...production, states: ['error'] }]],
  ])('is nothing if %s, and the run reports that', async (_, deployments) => {
    const { code, output, stdout } = await lastDeployed(deployments);
    expect([code, output]).toEqual([0, '']);
    expect(stdout).toContain('::notice::Nothing was deployed to production yet');
  });

  it('is no guess if GitHub does not answer', async () => {
    const { code, output } = await lastDeployed([], '');
    expect([code, output]).toEqual([1, '']);
  });
});

describe.runIf(linux)('the base (on Linux)', () => {
  const script = stepNamed(WORKFLOW, 'drift', 'Take its settings file for the base').run ?? '';

  it.each([
    ['settings.yaml', 'file=.deployed/settings.yaml\n'],
    ['deploy/staging.yaml', 'file=.deployed/deploy/staging.yaml\n'],
    ['of-today.yaml', ''],
  ])('%s, from the commit last deployed, if it had one', async (file, output) => {
    const folder = folderWith({
      'repository/of-today.yaml': '',
      'repository/.deployed/settings.yaml': '',
      'repository/.deployed/deploy/staging.yaml': '',
    });
    try {
      expect(await runScript(script, { cwd: folder.path, env: { FILE: file } })).toMatchObject({
        code: 0,
        output,
      });
    } finally {
      folder.remove();
    }
  });
});

describe('drift.yml', () => {
  it('keeps the snapshot under the name that plan.yml downloads, after drift too', () => {
    const keep = stepNamed(WORKFLOW, 'drift', 'Keep the snapshot');
    const asked = stepNamed(workflowNamed('plan'), 'plan', 'Find the newest snapshot').run;
    expect(keep.with?.['name']).toBe('setpoint-snapshot-${{ inputs.environment }}');
    expect(asked).toContain('--name "setpoint-snapshot-$ENVIRONMENT"');
    expect(keep.with?.['path']).toBe(
      stepNamed(WORKFLOW, 'drift', 'Detect drift').with?.['snapshot-out'],
    );
    expect(keep.if).toBe('${{ !cancelled() }}');
  });

  it('never counts as a deployment to the environment', () => {
    expect(WORKFLOW.jobs['drift']?.environment).toBe('${{ inputs.snapshot-environment }}');
  });
});
