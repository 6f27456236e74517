import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/command/cli/command-table.ts';
import { startEmulator, type Emulator } from '../../src/emulator/start.ts';
import { folderWith } from '../fixture/command.ts';
import { readText } from './read-text.ts';
import { runScript, SETPOINT, type Ran } from './run-script.ts';
import { EXAMPLES, stepNamed } from './workflow-file.ts';

const found = EXAMPLES.find(({ path }) => path.endsWith('/with-the-command.yml'));
if (found === undefined) throw new Error('There is no example with the command.');
const { workflow } = found;

let folder: ReturnType<typeof folderWith>;
let service: Emulator;
beforeEach(async () => {
  service = await startEmulator({ apiKey: 'a-key' });
  const settings = readText('examples/minimal/settings.yaml');
  folder = folderWith({
    'settings.yaml': settings.replace('https://agents.example.com', service.url),
  });
});
afterEach(async () => {
  await service.close();
  folder.remove();
});

/** Runs a step with the workflow's variables, and a key in place of each of its secrets. */
function run(job: string, name: string): Promise<Ran> {
  const step = stepNamed(workflow, job, name);
  const secrets = Object.keys(step.env ?? {}).map((variable) => [variable, 'a-key']);
  return runScript(step.run ?? '', {
    cwd: folder.path,
    env: { CI: 'true', ...workflow.env, ...Object.fromEntries(secrets) },
    commands: { setpoint: SETPOINT },
  });
}

describe.runIf(process.platform === 'linux')(
  'the workflow with nothing but the command (on Linux)',
  () => {
    it('validates, and shows and keeps the plan with no more than the key of the service', async () => {
      expect((await run('plan', 'Validate')).code).toBe(0);
      const { code, summary } = await run('plan', 'Plan');
      expect(code).toBe(0);
      expect(summary).toContain('llm_model');
      const plan = readFileSync(join(folder.path, 'plan.json'), 'utf8');
      expect(JSON.parse(plan)).toMatchObject({
        kind: 'plan',
        environments: [{ status: 'differs' }],
      });
    });

    it('applies with every secret that the file reads', async () => {
      expect(await run('apply', 'Apply')).toMatchObject({ code: 0 });
      expect((await run('plan', 'Plan')).summary).not.toContain('llm_model');
    });

    it('names commands that there are', () => {
      const scripts = Object.values(workflow.jobs).flatMap(({ steps = [] }) =>
        steps.flatMap((step) => step.run ?? []),
      );
      const named = scripts.flatMap((script) =>
        [...script.matchAll(/^\s*setpoint (\w+)/gm)].map(([, name]) => name),
      );
      const known: (string | undefined)[] = Object.keys(COMMANDS);
      expect(named.length).toBeGreaterThan(4);
      expect(named.filter((name) => !known.includes(name))).toEqual([]);
    });
  },
);
