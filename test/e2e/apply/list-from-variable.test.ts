/** A list of text that is one reference: planned, written, pulled and masked as the list of its parts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startFronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';

const DECLARED = `
disabled_skills: \${env:SKILLS}
mcp_servers: { files: { command: npx, args: "\${env:ARGS}" } }
llm_profiles: { main: { model: openai/gpt-5 } }
agent_profiles: { review: { llm_profile: main, disabled_skills: "\${env:SKILLS}" } }
`;
const ENV = { SKILLS: 'canary-deploy, canary-notes', ARGS: '-y,canary-files' };

async function start() {
  const fronted = await startFronted({ dialect: 'agent-server' });
  onTestFinished(() => fronted.close());
  const folder = folderWith({});
  onTestFinished(() => folder.remove());
  writeFileSync(
    join(folder.path, 'settings.yaml'),
    `version: 1\nserver: { url: "${fronted.url}" }${DECLARED}`,
  );
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = ENV) =>
    setpoint(args, { cwd: folder.path, env });
  const stored = async (path: string): Promise<string> =>
    (await fetch(`${fronted.url}/api/${path}`)).text();
  return { run, stored };
}

it('is written as its parts, is in sync after it, and shows none of them', async () => {
  const { run, stored } = await start();
  const outputs = [await run(['plan']), await run(['apply', '--yes', '-o', 'json'])];
  expect(outputs.map(({ code }) => code)).toEqual([0, 0]);
  const settings = await stored('settings');
  expect(settings).toContain('"disabled_skills":["canary-deploy","canary-notes"]');
  expect(settings).toContain('"args":["-y","canary-files"]');
  expect(await stored('agent-profiles/review')).toContain('["canary-deploy","canary-notes"]');
  const after = await run(['drift']);
  expect(after).toMatchObject({ code: 0 });
  const fewer = await run(['plan', '-v'], { ...ENV, SKILLS: 'canary-notes' });
  expect(fewer.stdout).toContain('disabled_skills: differs (${env:SKILLS})');
  const pulled = await run(['pull'], { ...ENV, SKILLS: 'canary-notes' });
  expect(pulled.stdout).toContain('disabled_skills: kept: written as a reference');
  for (const { stdout, stderr } of [...outputs, after, fewer, pulled])
    expect(stdout + stderr).not.toContain('canary');
});

it('is not written with an empty part, which is named with its place', async () => {
  const { run, stored } = await start();

  const refused = await run(['apply', '--yes'], { ...ENV, SKILLS: 'canary-deploy,' });
  expect(refused).toMatchObject({ code: 3 });
  expect(refused.stderr).toContain(
    'disabled_skills, agent_profiles.review.disabled_skills (${env:SKILLS}): the variable SKILLS has an empty part between its commas',
  );
  expect(refused.stdout + refused.stderr).not.toContain('canary');
  const settings = await stored('settings');
  expect(settings).toContain('"disabled_skills":[]');
  expect(settings).toContain('"mcp_config":{}');
});
