import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What the fake `gh` knows of a repository, in the shapes of GitHub's answers. */
export interface Repository {
  readonly runs?: readonly {
    readonly databaseId: number;
    readonly workflow: string;
    readonly headBranch: string;
    readonly event: string;
    /** Artifacts by name: file by name. */
    readonly artifacts?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  }[];
  readonly deployments?: readonly {
    readonly id: number;
    readonly sha: string;
    readonly environment: string;
    /** Newest first, as the API lists them. */
    readonly states: readonly string[];
  }[];
}

/** `gh` applies --jq itself; its fake has jq do it. */
export const hasJq = (process.env['PATH'] ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'jq')));

/**
 * A fake of GitHub's command: `run list`, `run download`, `api` for deployments and their states, and `auth git-credential`.
 * What it is asked beyond that, or without a token, fails.
 */
export function fakeGh(repository: Repository): string {
  return `#!${process.execPath}
const { spawnSync } = require('node:child_process');
const { mkdirSync, writeFileSync } = require('node:fs');
const { parseArgs } = require('node:util');
const repository = ${JSON.stringify({ runs: [], deployments: [], ...repository })};
const fail = (message) => { console.error(message); process.exit(1); };
if (!process.env.GH_TOKEN) fail('gh: set the GH_TOKEN environment variable');

const text = { type: 'string' };
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    workflow: text, branch: text, limit: text, json: text, jq: text, name: text, dir: text, method: text,
    'raw-field': { ...text, short: 'f', multiple: true }, field: { ...text, short: 'F', multiple: true },
  },
});
const answer = (data) => {
  const { stdout, stderr, status } = spawnSync('jq', ['-r', values.jq], { input: JSON.stringify(data) });
  process.stdout.write(stdout);
  if (status !== 0) fail(String(stderr));
};

// Runs are numbered as they begin.
const createdAt = ({ databaseId }) => new Date(1.7e12 + databaseId * 1000).toISOString();

const [first, second, third] = positionals;
if (first === 'auth' && second === 'git-credential') {
  if (third === 'get') console.log('username=x-access-token\\npassword=' + process.env.GH_TOKEN);
} else if (first === 'run' && second === 'list') {
  if (!process.env.GH_REPO) fail('gh: not a git repository');
  if (!repository.runs.some(({ workflow }) => workflow === values.workflow))
    fail('could not find any workflows named ' + values.workflow);
  const fields = values.json.split(',');
  answer(repository.runs
    .filter(({ workflow, headBranch }) => workflow === values.workflow && headBranch === values.branch)
    .map((run) => Object.fromEntries(fields.map((field) => [field, field === 'createdAt' ? createdAt(run) : run[field]]))));
} else if (first === 'run' && second === 'download') {
  const files = repository.runs.find(({ databaseId }) => databaseId === Number(third))?.artifacts?.[values.name];
  if (!files) fail('no artifact matches any of the names or patterns provided');
  mkdirSync(values.dir, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(values.dir + '/' + name, content);
} else if (first === 'api' && /^repos\\/o\\/r\\/deployments$/.test(second)) {
  if (values.method !== 'GET') fail('HTTP 403: Resource not accessible by integration');
  const environment = values['raw-field'].map((pair) => pair.split('=')).find(([name]) => name === 'environment')[1];
  answer(repository.deployments.filter((deployment) => deployment.environment === environment));
} else if (first === 'api' && /^repos\\/o\\/r\\/deployments\\/\\d+\\/statuses/.test(second)) {
  const id = Number(second.split('/')[4]);
  answer(repository.deployments.find((deployment) => deployment.id === id).states.map((state) => ({ state })));
} else fail('gh: not known to this fake:  ' + positionals.join(' '));
`;
}
