import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { readText } from './read-text.ts';
import { EXAMPLES, workflowNamed, WORKFLOWS, type Job, type Workflow } from './workflow-file.ts';

const TOOL = './.setpoint-cli/node_modules/setpoint';

/** What the examples apply. */
const SETTINGS = parse(readText('examples/environments/settings.yaml')) as {
  readonly settings: unknown;
  readonly environments: Readonly<Record<string, { readonly server: { readonly url: string } }>>;
};

interface Input {
  readonly required?: boolean;
  readonly description?: string;
}

const calls = EXAMPLES.flatMap(({ path, workflow }) =>
  Object.entries(workflow.jobs).flatMap(([name, job]) => {
    const called = /\.github\/workflows\/(\w+)\.yml@/.exec(job.uses ?? '')?.[1];
    return called === undefined ? [] : [{ path, name, job, called: workflowNamed(called) }];
  }),
);

function inputsOf(workflow: Workflow): Readonly<Record<string, Input>> {
  const { inputs = {} } = workflow.on['workflow_call'] as { inputs?: Record<string, Input> };
  return inputs;
}

describe.each(calls)('$path: $name', ({ job, called }) => {
  it('gives inputs that exist, and all that are required', () => {
    const inputs = inputsOf(called);
    const given = Object.keys(job.with ?? {});
    expect(given.filter((name) => !(name in inputs))).toEqual([]);
    const required = Object.keys(inputs).filter((name) => inputs[name]?.required === true);
    expect(required.filter((name) => !given.includes(name))).toEqual([]);
    expect(required).toEqual(expect.arrayContaining(['allowed-origins', 'allowed-variables']));
  });

  it('grants what the called jobs ask for, without which GitHub starts none of them, and nothing beyond', () => {
    const asked = Object.assign({}, ...Object.values(called.jobs).map(permissionsOf)) as object;
    expect(job.permissions).toEqual(asked);
  });

  it('lists where the keys of the example settings travel, and which variables it reads', () => {
    const { strategy } = job as { strategy?: { matrix: { environment: string[] } } };
    const names = strategy?.matrix.environment ?? [String(job.with?.['environment'])];
    const blocks = names.map((name) => SETTINGS.environments[name]);
    const origins = blocks.map((block) => block?.server.url ?? '');
    expect(listed(job, 'allowed-origins')).toEqual(origins.toSorted());
    const text = JSON.stringify([SETTINGS.settings, blocks]);
    const read = new Set([...text.matchAll(/\$\{env:(\w+)/g)].map(([, name = '']) => name));
    expect(listed(job, 'allowed-variables')).toEqual([...read].toSorted());
  });
});

function permissionsOf({ permissions = {} }: Job) {
  return permissions;
}

function listed({ with: given }: Job, input: string): readonly string[] {
  return String(given?.[input]).split(',').toSorted();
}

describe('the reusable workflows', () => {
  it('describe every input', () => {
    for (const name of ['plan', 'apply', 'drift'])
      for (const input of Object.values(inputsOf(workflowNamed(name))))
        expect(input.description).toMatch(/^[A-Z].{10,}/);
  });

  it('give no key to a pull request', () => {
    const call = calls.find(({ path }) => path.endsWith('/plan.yml'));
    expect(call?.job.secrets).toBeUndefined();
    expect(call?.job.with?.['live']).toBeUndefined();
  });

  it('give the action inputs that it has, and read outputs that it has', () => {
    const { inputs, outputs } = parse(readText('action.yml')) as Record<
      'inputs' | 'outputs',
      Record<string, unknown>
    >;
    for (const { text, workflow } of [...WORKFLOWS, ...EXAMPLES]) {
      const steps = Object.values(workflow.jobs).flatMap(({ steps: all = [] }) => all);
      const using = steps.filter(({ uses }) => uses === TOOL);
      const given = using.flatMap(({ with: values = {} }) => Object.keys(values));
      expect(given.filter((name) => !(name in inputs))).toEqual([]);
      const ids = using.flatMap(({ id }) => id ?? []);
      const read = ids.flatMap((id) =>
        [...text.matchAll(new RegExp(`steps\\.${id}\\.outputs\\.([\\w-]+)`, 'g'))].map(
          ([, name = '']) => name,
        ),
      );
      expect(read.filter((name) => !(name in outputs))).toEqual([]);
    }
  });
});
