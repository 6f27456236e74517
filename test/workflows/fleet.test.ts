import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CronJob, Job, JobSpec } from 'kubernetes-types/batch/v1.js';
import { parse } from 'yaml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlanDocument } from '../../src/reconciler/model/plan.ts';
import { folderWith, start, type Ended } from '../fixture/command.ts';
import { fleetNames, fleetSettings, startFleet, type Fleet } from '../fixture/fleet.ts';
import { mistakesIn } from './manifest.ts';
import { readText } from './read-text.ts';
import { runScript, SETPOINT } from './run-script.ts';
import { PACKAGE, stepNamed, EXAMPLES } from './workflow-file.ts';
import { LONG } from '../fixture/long.ts';

const FOLDER = 'examples/kubernetes';
const drift = parse(readText(`${FOLDER}/fleet-drift.yml`)) as CronJob;
const apply = parse(readText(`${FOLDER}/fleet-apply.yml`)) as Job;
const report = parse(readText(`${FOLDER}/fleet-report.yml`)) as CronJob;
const driftSpec = drift.spec?.jobTemplate.spec;

const MANIFESTS = [
  ['fleet-drift.yml', ['batch', 'CronJob'], driftSpec],
  ['fleet-apply.yml', ['batch', 'Job'], apply.spec],
  ['fleet-report.yml', ['batch', 'CronJob'], report.spec?.jobTemplate.spec],
] as const;

describe.each(MANIFESTS)('%s', (name, [group, kind], spec) => {
  const text = readText(`${FOLDER}/${name}`);

  it(`is a ${kind}, by the types of Kubernetes`, () => {
    expect(mistakesIn(text, [group, kind])).toEqual([]);
    const broken = text.replace('readOnlyRootFilesystem', 'readOnlyRoot');
    expect(mistakesIn(broken, [group, kind]).join()).toMatch(/readOnlyRoot/);
  });

  it('runs as nobody who could harm the node, this version, with a limit of memory', () => {
    expect(spec?.template.spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          image: `registry.example.com/setpoint:${PACKAGE.version}`,
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          resources: { limits: { memory: '256Mi' } },
        },
      ],
    });
  });
});

it('fleet-volume.yml is a claim that pods on several nodes may write to', () => {
  const text = readText(`${FOLDER}/fleet-volume.yml`);
  expect(mistakesIn(text, ['core', 'PersistentVolumeClaim'])).toEqual([]);
  expect(parse(text)).toMatchObject({
    metadata: { name: 'setpoint-reports' },
    spec: { accessModes: ['ReadWriteMany'] },
  });
});

describe.each([
  ['fleet-drift.yml', driftSpec, [2, 3, 4]],
  ['fleet-apply.yml', apply.spec, [3, 4, 5, 7, 8]],
] as const)('the shards of %s', (_, spec, codes) => {
  it('are as many as the command is told', () => {
    expect(spec).toMatchObject({ completionMode: 'Indexed', completions: shardsTold(spec) });
    expect(spec?.parallelism).toBeLessThanOrEqual(shardsTold(spec));
  });

  it('fail alone, those that another try would not mend at once', () => {
    // Both are conditions of Kubernetes for backoffLimitPerIndex.
    expect([spec?.template.spec?.restartPolicy, spec?.completionMode]).toEqual([
      'Never',
      'Indexed',
    ]);
    expect(spec?.backoffLimitPerIndex).toBeGreaterThan(0);
    const byCode = spec?.podFailurePolicy?.rules.filter(
      ({ onExitCodes }) => onExitCodes !== undefined,
    );
    const onExitCodes = { containerName: 'setpoint', operator: 'In', values: codes };
    expect(byCode).toEqual([{ action: 'FailIndex', onExitCodes }]);
  });
});

const COUNT = 120;
const names = fleetNames(COUNT);
const RUN = 'setpoint-fleet-drift-29400000';

let fleet: Fleet;
let folder: ReturnType<typeof folderWith>;
beforeEach(async () => {
  fleet = await startFleet();
  const settings = fleetSettings(fleet.url, names, ['env-7']);
  folder = folderWith({ 'fleet.yaml': settings });
});
afterEach(async () => {
  await fleet.close();
  folder.remove();
});

describe.runIf(process.platform === 'linux')('the shards of a run (on Linux)', () => {
  it.each([1, 2, 3, 7, 64])('%i: every environment is asked exactly once', LONG, async (shards) => {
    const open = Array.from({ length: shards }, (_, index) => index);
    const codes: string[] = [];
    const worker = async (): Promise<void> => {
      for (let index = open.pop(); index !== undefined; index = open.pop())
        codes.push(String((await startShard(index, shards).ended).code));
    };
    await Promise.all([worker(), worker(), worker()]);
    // Every one that has none of the drift is in sync, a shard without environments too.
    expect(codes.toSorted()).toEqual([...Array<string>(shards - 1).fill('0'), '2']);
    expect([...fleet.asked].filter(([, times]) => times !== 1)).toEqual([]);
    expect([...fleet.asked.keys()].toSorted()).toEqual(names.toSorted());
    expect(documents().flatMap(namesIn).toSorted()).toEqual(names.toSorted());
  });

  it(
    'one that was killed is named by the report, and run again alone makes it whole',
    LONG,
    async () => {
      const shards = shardsTold(driftSpec);
      const halfway = fleet.stopAfter(20);
      const killed = startShard(1, shards);
      await halfway;
      killed.child.kill('SIGKILL');
      expect((await killed.ended).code).toBeNull();
      fleet.resume();
      for (const index of [0, 2, 3]) await startShard(index, shards).ended;
      expect(documents()).toHaveLength(3);

      const before = await runReport();
      expect(before.code).not.toBe(0);
      expect(before.stdout + before.stderr).toMatch(/\b1\b.*missing|missing.*\b1\b/i);

      fleet.asked.clear();
      await startShard(1, shards).ended;
      const own = namesIn(documents()[1]);
      expect([...fleet.asked.keys()].toSorted()).toEqual(own.toSorted());

      const after = await runReport();
      expect(after.code).toBe(2);
      expect(after.stdout + after.stderr).not.toMatch(/missing/i);
      expect(after.stdout).toContain('120 environments: 119 in sync, 1 drift');
    },
  );
});

it.runIf(process.platform === 'linux')(
  'the shards of an apply keep to its ring, each to its own part (on Linux)',
  async () => {
    const shards = shardsTold(apply.spec);
    for (let index = 0; index < shards; index += 1)
      expect(await startShard(index, shards, apply.spec).ended).toMatchObject({ code: 0 });
    const ring = names.filter((_, index) => index % 2 === 0);
    expect([...fleet.asked.keys()].toSorted()).toEqual(ring.toSorted());
    expect(documents().flatMap(namesIn).toSorted()).toEqual(ring.toSorted());
  },
);

/** How many shards the manifest divides the environments among. */
function shardsTold(spec: JobSpec | undefined): number {
  const args = spec?.template.spec?.containers[0]?.args ?? [];
  const [, count] = /^--shard=\$\(JOB_COMPLETION_INDEX\)\/(\d+)$/m.exec(args.join('\n')) ?? [];
  return Number(count);
}

/** Starts a pod's container as Kubernetes does: its variables, that of its index, and $(NAME) in its arguments; for another number of shards. */
function startShard(index: number, shards: number, spec = driftSpec): ReturnType<typeof start> {
  const container = spec?.template.spec?.containers[0];
  const given = (container?.env ?? []).map(({ name, value, valueFrom }) => {
    const isName =
      valueFrom?.fieldRef?.fieldPath === "metadata.labels['batch.kubernetes.io/job-name']";
    return [name, isName ? RUN : value];
  });
  const env = Object.fromEntries([...given, ['JOB_COMPLETION_INDEX', String(index)]]) as Record<
    string,
    string
  >;
  const expanded = (text: string): string =>
    text.replaceAll(/\$\((\w+)\)/g, (whole, name: string) => env[name] ?? whole);
  const mounts = (container?.volumeMounts ?? []).filter(({ name }) => name === 'reports');
  expect(mounts).toMatchObject([{ mountPath: '/reports', subPathExpr: '$(JOB_NAME)' }]);
  const reports = join(folder.path, 'reports', expanded(mounts[0]?.subPathExpr ?? ''));
  mkdirSync(reports, { recursive: true });
  const args = (container?.args ?? []).map((arg) =>
    expanded(arg.replace(/^(--shard=.*\/)\d+$/, `$1${shards}`))
      .replace('/etc/setpoint', folder.path)
      .replace('/reports', reports),
  );
  return start(args, { cwd: folder.path, env });
}

/** The documents of a run, by the index of their shard. A shard that was killed leaves its part under another name. */
function documents(): readonly PlanDocument[] {
  const reports = join(folder.path, 'reports', RUN);
  return readdirSync(reports)
    .filter((name) => /^\w+-\d+\.json$/.test(name))
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .map((name) => JSON.parse(readFileSync(join(reports, name), 'utf8')) as PlanDocument);
}

function namesIn(document: PlanDocument | undefined): readonly string[] {
  return document?.environments.map(({ name }) => name) ?? [];
}

/** Runs the container of fleet-report.yml. */
function runReport(): Promise<Ended> {
  const [shell, flags, script = ''] =
    report.spec?.jobTemplate.spec?.template.spec?.containers[0]?.command ?? [];
  expect([shell, flags]).toEqual(['sh', '-euc']);
  const here = script
    .replaceAll('/reports', join(folder.path, 'reports'))
    .replaceAll('node /opt/setpoint/dist/bin/setpoint.cjs', 'setpoint');
  return runScript(`set -u\n${here}`, { cwd: folder.path, commands: { setpoint: SETPOINT } });
}

describe.runIf(process.platform === 'linux')('the matrix on GitHub (on Linux)', () => {
  const found = EXAMPLES.find(({ path }) => path.endsWith('/fleet-drift.yml'));
  if (found === undefined) throw new Error('There is no example with a matrix.');
  const { workflow } = found;
  const matrix = (
    workflow.jobs['drift'] as { strategy?: { matrix: { shard: readonly number[] } } } | undefined
  )?.strategy?.matrix.shard;

  it('counts its shards from 0', () => {
    expect(matrix).toEqual(Array.from({ length: matrix?.length ?? 0 }, (_, index) => index));
    expect(matrix?.length).toBeGreaterThan(1);
    expect(stepNamed(workflow, 'drift', 'Drift').env).toMatchObject({
      SHARD: '${{ matrix.shard }}',
      SHARDS: '${{ strategy.job-total }}',
    });
  });

  it('reports every environment once, whatever the shards found', LONG, async () => {
    writeFileSync(
      join(folder.path, 'settings.yaml'),
      readFileSync(join(folder.path, 'fleet.yaml'), 'utf8'),
    );
    const options = { cwd: folder.path, commands: { setpoint: SETPOINT } };
    const codes: string[] = [];
    for (const shard of matrix ?? []) {
      const env = { SHARD: String(shard), SHARDS: String(matrix?.length) };
      const { run = '' } = stepNamed(workflow, 'drift', 'Drift');
      codes.push(String((await runScript(run, { ...options, env })).code));
    }
    expect(codes.toSorted()).toEqual(['0', '0', '0', '2']);
    expect([...fleet.asked].filter(([, times]) => times !== 1)).toEqual([]);
    mkdirSync(join(folder.path, 'shards'));
    for (const shard of matrix ?? []) {
      const name = `drift-${shard}.json`;
      writeFileSync(join(folder.path, 'shards', name), readFileSync(join(folder.path, name)));
    }
    const { run = '' } = stepNamed(workflow, 'report', 'Report');
    const { code, summary } = await runScript(run, options);
    expect(code).toBe(2);
    expect(summary).toContain(
      '## Drift: 120 environments\n\nAll 4 shards are in it.\n\n119 in sync, 1 drift.',
    );
  });
});
