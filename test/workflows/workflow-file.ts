import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { readText } from './read-text.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What the tests read of a workflow; the rest of its form is actionlint's. */
export interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: unknown;
  readonly env?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

export interface Job {
  readonly needs?: string | readonly string[];
  readonly 'timeout-minutes'?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly environment?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly outputs?: Readonly<Record<string, string>>;
  readonly concurrency?: unknown;
  /** Of a caller: the reusable workflow. */
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly secrets?: unknown;
  readonly steps?: readonly Step[];
}

export interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly run?: string;
}

export interface WorkflowFile {
  /** From the repository's root. */
  readonly path: string;
  readonly text: string;
  readonly workflow: Workflow;
}

function workflowsIn(folder: string): readonly WorkflowFile[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.yml'))
    .map((name) => {
      const text = readText(`${folder}/${name}`);
      return { path: `${folder}/${name}`, text, workflow: parse(text) as Workflow };
    });
}

/** The workflows that this repository runs or hands out. */
export const WORKFLOWS = workflowsIn('.github/workflows');

/** The workflows that people copy. */
export const EXAMPLES = workflowsIn('examples/github-actions');

/** A workflow of this repository by its file name, without the ending. */
export function workflowNamed(name: string): Workflow {
  const found = WORKFLOWS.find(({ path }) => basename(path, '.yml') === name);
  if (found === undefined) throw new Error(`There is no workflow ${name}.`);
  return found.workflow;
}

/** A step of a job by its name. */
export function stepNamed(workflow: Workflow, job: string, name: string): Step {
  const found = workflow.jobs[job]?.steps?.find((step) => step.name === name);
  if (found === undefined) throw new Error(`The job ${job} has no step "${name}".`);
  return found;
}

export const PACKAGE = JSON.parse(readText('package.json')) as {
  readonly version: string;
};
