import { describe, expect, it } from 'vitest';
import { EXAMPLES, PACKAGE, WORKFLOWS, type Job, type WorkflowFile } from './workflow-file.ts';

const ALL = [...WORKFLOWS, ...EXAMPLES];
const TOOL = './.setpoint-cli/node_modules/setpoint';
const PLACEHOLDER = `@${'0'.repeat(40)}`;

/** What a workflow may write, by job; whatever is not here only reads. */
const WRITES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '.github/workflows/plan.yml': { plan: ['pull-requests'] },
  '.github/workflows/drift.yml': { drift: ['issues'] },
  '.github/workflows/release.yml': {
    publish: ['id-token'],
    action: ['contents'],
    attest: ['id-token', 'attestations'],
    release: ['contents'],
  },
  'examples/github-actions/plan.yml': { plan: ['pull-requests'] },
  'examples/github-actions/drift.yml': { drift: ['issues'] },
  'examples/github-actions/drift-pull-requests.yml': { drift: ['contents', 'pull-requests'] },
  'examples/github-actions/with-the-command.yml': { plan: ['pull-requests'] },
};

/** Everything that breaks a rule of ours in a workflow, as sentences. */
function breaches({ path, text, workflow }: WorkflowFile): readonly string[] {
  const jobs = Object.entries(workflow.jobs);
  const events = Object.keys(workflow.on);
  return [
    ...events
      .filter((event) => ['pull_request_target', 'workflow_run', 'issue_comment'].includes(event))
      .map((event) => `is started by ${event}`),
    ...(JSON.stringify(workflow.permissions) === '{}' ? [] : ['grants permissions to all jobs']),
    ...pins(text),
    ...jobs.flatMap(([name, job]) => ofJob(name, job, WRITES[path]?.[name] ?? [])),
    ...unexplained(text),
  ];
}

function pins(text: string): readonly string[] {
  const lines = text.split('\n').filter((line) => /^\s*(- )?uses:/.test(line));
  return lines
    .filter((line) => !line.endsWith(`uses: ${TOOL}`))
    .filter((line) => !/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))
    .map((line) => `does not pin ${line.trim()}`);
}

function unexplained(text: string): readonly string[] {
  const blocks = text.matchAll(/^( +)permissions:\n((?:\1 {2}.*\n)+)/gm);
  return [...blocks]
    .flatMap(([, , lines = '']) => lines.trimEnd().split('\n'))
    .filter((line) => !/: (read|write) # \w/.test(line))
    .map((line) => `does not explain ${line.trim()}`);
}

function ofJob(name: string, job: Job, writes: readonly string[]): readonly string[] {
  const granted = Object.entries(job.permissions ?? {}).filter(([, access]) => access === 'write');
  return [
    ...(job.permissions === undefined ? [`${name} has no permissions of its own`] : []),
    ...(JSON.stringify(granted.map(([scope]) => scope)) === JSON.stringify(writes)
      ? []
      : [`${name} writes ${granted.map(([scope]) => scope).join()}`]),
    ...(job.uses === undefined && job['timeout-minutes'] === undefined
      ? [`${name} has no end`]
      : []),
    ...(job.steps ?? []).flatMap((step) => [
      ...(step.run?.includes('${{') === true ? [`${name} puts text into a script`] : []),
      ...(step.uses?.startsWith('actions/checkout@') === true &&
      step.with?.['persist-credentials'] !== false
        ? [`${name} leaves a token behind in the checkout`]
        : []),
      ...(step.with?.['cache'] === undefined ? [] : [`${name} restores a cache`]),
    ]),
  ];
}

describe('the rules of our workflows', () => {
  it.each(ALL)('hold in $path', (file) => {
    expect(breaches(file)).toEqual([]);
  });

  it('are not held by one that breaks them', () => {
    const workflow = {
      on: { pull_request_target: null },
      permissions: { contents: 'write' },
      jobs: {
        a: { steps: [{ uses: 'actions/checkout@v5' }, { run: 'echo ${{ github.head_ref }}' }] },
        b: { permissions: { contents: 'write' }, 'timeout-minutes': 1, steps: [] },
      },
    };
    const text =
      '    steps:\n      - uses: actions/checkout@v5\n    permissions:\n      contents: write\n';
    expect(breaches({ path: 'x', text, workflow })).toEqual([
      'is started by pull_request_target',
      'grants permissions to all jobs',
      'does not pin - uses: actions/checkout@v5',
      'a has no permissions of its own',
      'a has no end',
      'a leaves a token behind in the checkout',
      'a puts text into a script',
      'b writes contents',
      'does not explain contents: write',
    ]);
  });
});

describe('the tool in a workflow', () => {
  const using = ALL.filter(({ text }) => text.includes('setpoint@$SETPOINT_VERSION'));

  it('is this version, wherever one is named', () => {
    expect(using.map(({ path }) => path)).toHaveLength(6);
    for (const { text, workflow } of using) {
      expect(workflow.env?.['SETPOINT_VERSION']).toBe(PACKAGE.version);
      expect(workflow.env?.['SETPOINT_INTEGRITY']).toMatch(/^(sha512-[\w+/]{86}==)?$/);
      expect(text.match(/setpoint@[\w.$"]+/g)).toSatisfy((found: string[]) =>
        found.every((name) => name.startsWith('setpoint@$SETPOINT_VERSION')),
      );
    }
    for (const { text } of EXAMPLES)
      for (const [, version] of text.matchAll(/OWNER\/setpoint\S+ # v(.*)$/gm))
        expect(version).toBe(PACKAGE.version);
  });

  it('is installed before anything of the branch is there, and never in the checkout', () => {
    const jobs = using.flatMap(({ workflow }) => Object.values(workflow.jobs));
    for (const { steps = [] } of jobs) {
      const install = steps.findIndex(({ run }) => run?.includes('npm pack') === true);
      const checkout = steps.findIndex(
        ({ uses }) => uses?.startsWith('actions/checkout@') === true,
      );
      expect(install).toBeGreaterThanOrEqual(0);
      expect(checkout === -1 || install < checkout).toBe(true);
      expect(steps[install]?.run).toContain(
        'cd "$RUNNER_TEMP"\nnpm pack --loglevel=error --ignore-scripts',
      );
      if (steps.some(({ uses }) => uses === TOOL)) {
        expect(steps[install]?.run).toContain('rm -rf .setpoint-cli\n');
        expect(steps[checkout]?.with?.['path']).toBe('repository');
      }
    }
  });

  it('knows in every step where keys may travel', () => {
    for (const { workflow } of using) {
      for (const job of Object.values(workflow.jobs)) {
        const env = { ...workflow.env, ...job.env };
        expect(env['SETPOINT_ALLOWED_ORIGINS']).toBeTruthy();
        expect(env['SETPOINT_ALLOWED_VARIABLES']).toBeTruthy();
      }
    }
  });

  it('is named in the examples by a commit that nobody can mistake for one', () => {
    const named = EXAMPLES.flatMap(({ workflow }) => Object.values(workflow.jobs)).flatMap(
      ({ uses }) => uses ?? [],
    );
    expect(named).toHaveLength(4);
    for (const uses of named) expect(uses).toMatch(new RegExp(`^OWNER/setpoint/.*${PLACEHOLDER}$`));
  });
});
