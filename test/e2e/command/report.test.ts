import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlanDocument } from '../../../src/reconciler/model/plan.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith, type Ended } from '../../fixture/command.ts';
import { change, environment, outcome, outcomeOf, planOf } from '../../fixture/documents.ts';
import { listSchemaErrors } from '../../fixture/published-schemas.ts';

const REFUSED = {
  code: 'unreachable',
  message: 'The service at https://c.example.com refuses connections.',
  hint: 'Check server.url.',
};

const shard = (index: number, count: number): object => ({ shard: { index, count } });
const DIGESTS = { address: 'a'.repeat(64), changes: ['b'.repeat(64)] };

const PLANS = {
  'shard-0.json': {
    ...planOf(environment({ name: 'b' }), environment({ name: 'd' })),
    ...shard(0, 3),
    salt: '00',
  },
  'shard-1.json': {
    ...planOf(environment({ name: 'a', changes: [change()], digests: DIGESTS })),
    ...shard(1, 3),
    salt: '01',
  },
  'shard-2.json': { ...planOf(environment({ name: 'c', error: REFUSED })), ...shard(2, 3) },
};

let folder: ReturnType<typeof folderWith>;

beforeEach(() => {
  folder = folderWith(
    Object.fromEntries(Object.entries(PLANS).map(([name, one]) => [name, JSON.stringify(one)])),
  );
});
afterEach(() => folder.remove());

function report(...args: string[]): Promise<Ended> {
  return setpoint(['report', ...args], { cwd: folder.path });
}

function write(name: string, content: unknown): void {
  writeFileSync(
    join(folder.path, name),
    typeof content === 'string' ? content : JSON.stringify(content),
  );
}

describe('the plans of shards', () => {
  it('are one plan, its environments by name, and end as their command would have', async () => {
    const ended = await report('shard-0.json', 'shard-1.json', 'shard-2.json', '-o', 'json');
    const merged = JSON.parse(ended.stdout) as PlanDocument;
    expect(merged.environments.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
    expect(merged).toMatchObject({
      kind: 'plan',
      salt: null,
      merged: { files: 3, missing: [], problems: [], notes: ['All 3 shards are in it.'] },
      summary: {
        change: 1,
        environments: { total: 4, 'in-sync': 2, differs: 1, error: 1 },
        errors: { unreachable: 1 },
      },
    });
    expect(merged.environments.map(({ digests }) => digests)).toEqual([null, null, null, null]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('refuses connections');
    expect(listSchemaErrors('plan', merged)).toEqual([]);
  });

  it('are one text, with the summary at its end', async () => {
    const { stdout } = await report('shard-2.json', 'shard-1.json', 'shard-0.json');
    expect(stdout.split('\n').slice(-5)).toEqual([
      '4 environments: 2 in sync, 1 differs, 1 failed.',
      '  ✗ c  failed   The service at https://c.example.com refuses connections.',
      '  ~ a  differs  1 to change',
      'All 3 shards are in it.',
      '',
    ]);
  });

  it('are worded as drift on request, and end with 2', async () => {
    write('shard-2.json', { ...planOf(environment({ name: 'c' })), ...shard(2, 3) });
    const files = ['shard-0.json', 'shard-1.json', 'shard-2.json'];
    const drift = await report(...files, '--fail-on', 'any');
    expect(drift.stdout).toContain('4 environments: 3 in sync, 1 drift.');
    expect(drift.code).toBe(2);
    expect((await report(...files)).code).toBe(0);
    expect((await report(...files, '--exit-code')).code).toBe(2);
  });

  it('are strict if one of them is, and then end as drift --strict does', async () => {
    const unknown = [{ path: ['llm_api_key'], reason: 'set, origin unknown', ref: null }];
    write('shard-1.json', { ...planOf(environment({ name: 'a', unknown })), ...shard(1, 3) });
    write('shard-2.json', { ...planOf(environment({ name: 'c' })), ...shard(2, 3) });
    const files = ['shard-0.json', 'shard-1.json', 'shard-2.json'];
    expect((await report(...files, '--fail-on', 'any')).code).toBe(0);
    write('shard-2.json', { ...planOf(environment({ name: 'c' })), ...shard(2, 3), strict: true });
    const { code, stdout } = await report(...files, '--fail-on', 'any');
    expect(stdout).toContain('4 environments: 3 in sync, 1 could not be compared.');
    expect(code).toBe(2);
  });

  it.each(['markdown', 'html', 'github'])('are one document as %s', async (format) => {
    const { stdout } = await report('shard-0.json', 'shard-1.json', 'shard-2.json', '-o', format);
    expect(stdout).toContain('refuses connections');
  });

  it('can be reported again', async () => {
    await report('shard-0.json', 'shard-1.json', 'shard-2.json', '-q', '-o', 'json=all.json');
    const again = await report('all.json', '-o', 'json');
    const whole = JSON.parse(readFileSync(join(folder.path, 'all.json'), 'utf8')) as PlanDocument;
    expect(JSON.parse(again.stdout)).toEqual({ ...whole, merged: { ...whole.merged, files: 1 } });
  });
});

describe('a report that is not whole says why, and never looks calm', () => {
  const calm = (index: number, count: number, name: string): object => ({
    ...planOf(environment({ name })),
    ...shard(index, count),
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['a missing shard', { a: calm(0, 2, 'a') }, 'Shard 1 of 2 is missing.'],
    ['missing shards', { a: calm(1, 4, 'a') }, 'Shards 0, 2, 3 of 4 are missing.'],
    [
      'the same shard twice',
      { a: calm(0, 1, 'a'), b: calm(0, 1, 'b') },
      'Shard 0 is in a.json and in b.json.',
    ],
    [
      'different numbers of shards',
      { a: calm(0, 1, 'a'), b: calm(1, 2, 'b') },
      'The documents are of different numbers of shards: 1 (a.json), 2 (b.json).',
    ],
    [
      'a document of no shard among them',
      { a: calm(0, 1, 'a'), b: planOf(environment({ name: 'b' })) },
      'b.json is not of a shard, and the others are.',
    ],
    [
      'the same environment twice',
      { a: planOf(environment({ name: 'x' })), b: planOf(environment({ name: 'x' })) },
      'x is in a.json and in b.json; the later one counts.',
    ],
    [
      'several environments twice',
      {
        a: planOf(environment({ name: 'x' }), environment({ name: 'y' })),
        b: planOf(environment({ name: 'x' }), environment({ name: 'y' })),
      },
      'x is in a.json and in b.json; the later one counts, as for 1 more.',
    ],
    [
      'a document of another kind',
      { a: planOf(environment()), b: outcomeOf(outcome({ name: 'b' })) },
      'b.json is an outcome, and the first document is a plan.',
    ],
    [
      'a file that was cut off',
      { a: planOf(environment()), b: JSON.stringify(planOf(environment())).slice(0, 300) },
      'b.json is not a saved plan or outcome of setpoint.',
    ],
    [
      'a failure in place of a document',
      { a: planOf(environment()), b: { error: { code: 'usage', message: 'no', hint: 'no' } } },
      'b.json is not a saved plan or outcome of setpoint.',
    ],
    ['an empty file', { a: planOf(environment()), b: '' }, 'b.json is not a saved plan or outcome'],
    ['a file that is not there', { a: planOf(environment()), b: null }, 'b.json'],
  ])('%s', async (_, files, problem) => {
    const names = Object.keys(files).map((name) => `${name}.json`);
    for (const [name, content] of Object.entries(files))
      if (content !== null) write(`${name}.json`, content);
    const text = await report(...names);
    expect(text.stdout).toContain(`Not whole: ${problem}`.slice(0, 40));
    expect(text.stdout).toContain(problem);
    expect(text.stderr).toContain('The report is incomplete.');
    expect(text.code).toBe(1);
    const json = await report(...names, '-o', 'json');
    expect((JSON.parse(json.stdout) as PlanDocument).merged?.problems.join(' ')).toContain(problem);
    expect(json.stderr).toContain(problem);
    expect(json.code).toBe(1);
    for (const format of ['markdown', 'html']) {
      const { stdout } = await report(...names, '-o', format);
      expect(stdout).toMatch(/not whole/i);
    }
  });

  it('stays one that is not whole when it is read again', async () => {
    write('a.json', calm(0, 2, 'a'));
    await report('a.json', '-q', '-o', 'json=all.json');
    const again = await report('all.json');
    expect(again.stdout).toContain('Not whole: Shard 1 of 2 is missing.');
    expect(again.code).toBe(1);
    const shown = await setpoint(['plan', 'all.json'], { cwd: folder.path });
    expect(shown.stdout).toContain('Not whole: Shard 1 of 2 is missing.');
  });

  it('of an environment in two documents shows the later one', async () => {
    const later = planOf(environment({ name: 'x', changes: [change()] }));
    write('a.json', { ...later, created_at: '2030-01-01T00:00:00.000Z' });
    write('b.json', planOf(environment({ name: 'x' })));
    const ended = await report('a.json', 'b.json', '-o', 'json');
    expect((JSON.parse(ended.stdout) as PlanDocument).environments).toMatchObject([
      { name: 'x', status: 'differs' },
    ]);
  });
});

describe('outcomes', () => {
  it('are one outcome, from the first start to the last end', async () => {
    const one = outcomeOf(outcome({ name: 'a', changes: [{ ...change(), result: 'verified' }] }));
    write('a.json', { ...one, started_at: '2026-01-01T00:00:00Z', ...shard(0, 2) });
    write('b.json', {
      ...outcomeOf(
        outcome({
          name: 'b',
          status: 'not-converged',
          error: { ...REFUSED, code: 'not-converged' },
        }),
      ),
      finished_at: '2026-12-01T00:00:00Z',
      ...shard(1, 2),
    });
    const ended = await report('a.json', 'b.json', '-o', 'json');
    expect(JSON.parse(ended.stdout)).toMatchObject({
      kind: 'outcome',
      started_at: '2026-01-01T00:00:00Z',
      finished_at: '2026-12-01T00:00:00Z',
      summary: { change: 1, environments: { applied: 1, 'not-converged': 1 } },
    });
    expect(ended.code).toBe(8);
  });

  it('are no drift', async () => {
    write('a.json', outcomeOf(outcome({ name: 'a' })));
    expect(await report('a.json', '--fail-on', 'any')).toMatchObject({ code: 3, stdout: '' });
  });
});

it('says that documents differ in their version and commit, and ends well', async () => {
  const { run, ...one } = planOf(environment({ name: 'a' }));
  write('a.json', { ...one, run });
  const other = { ...planOf(environment({ name: 'b' })), run: { ...run, commit: 'f'.repeat(40) } };
  write('b.json', { ...other, tool: { name: 'setpoint', version: '9.9.9' } });
  const ended = await report('a.json', 'b.json');
  expect(ended.stdout).toContain('The documents are of setpoint 0.1.0, 9.9.9.\n');
  expect(ended.stdout).toContain('The documents are of 2 commits.\n');
  expect(ended.code).toBe(0);
});

it('without a document that can be read ends with 3', async () => {
  mkdirSync(join(folder.path, 'folder'));
  for (const name of ['absent.json', 'folder', '-'])
    expect(await report(name)).toMatchObject({ code: 3, stdout: '' });
  expect((await report()).code).toBe(3);
});

it('approves nothing', async () => {
  await report('shard-1.json', '-q', '-o', 'json=all.json');
  write('settings.yaml', 'version: 1\nserver: { url: "http://127.0.0.1:1" }\nsettings: {}\n');
  const ended = await setpoint(['apply', 'all.json'], { cwd: folder.path });
  expect(ended).toMatchObject({ code: 6, stdout: '' });
});
