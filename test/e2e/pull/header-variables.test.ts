import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { apply, init, plan, startEmulator, validate, type Emulator } from '../../../src/index.ts';
import { folderWith } from '../../fixture/command.ts';

let service: Emulator;
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  service = await startEmulator({ dialect: 'agent-server' });
  folder = folderWith({});
});
afterEach(async () => {
  folder.remove();
  await service.close();
});

function settingsWith(header: string): string {
  return `version: 1
server: { url: "${service.url}", compare_secrets: true }
settings:
  mcp_config:
    shttp_servers:
      - name: jira
        url: https://mcp.example.com/jira
        headers: { Authorization: ${JSON.stringify(header)} }
`;
}

it('a header is a scheme and a reference, on the service as one value', async () => {
  const text = settingsWith('Bearer ${env:TOKEN}');
  const env = { TOKEN: 'jira-1' };
  expect(await apply({ text, env })).toMatchObject({ environments: [{ status: 'applied' }] });
  const whole = settingsWith('${env:WHOLE}');
  const same = await plan({ text: whole, env: { WHOLE: 'Bearer jira-1' } });
  expect(same.environments[0]).toMatchObject({ status: 'in-sync', unknown: [] });
  const other = await plan({ text, env: { TOKEN: 'jira-2' } });
  expect(other.environments[0]).toMatchObject({ status: 'differs' });
  expect(JSON.stringify(other)).not.toMatch(/jira-[12]/);
});

it.each(['Bearer', 'bearer', 'Basic', 'Token', 'ApiKey'])('takes the scheme %s', async (scheme) => {
  const text = settingsWith(`${scheme} \${env:TOKEN}`);
  expect(await validate({ text, env: {} })).toMatchObject({ valid: true });
});

it.each([
  ['Bearer sk-literal', 'literal-secret'],
  ['Bearer', 'literal-secret'],
  ['sk-part ${env:TOKEN}', 'literal-secret'],
  ['Bearer ${env:TOKEN} tail', 'literal-secret'],
  ['Bearer ${env:TOKEN:-sk-default}', 'bad-reference'],
  ['Bearer ${TOKEN}', 'bad-reference'],
  ['Bearer ${env:GITHUB_TOKEN}', 'bad-reference'],
])('refuses %s', async (header, code) => {
  const { valid, diagnostics } = await validate({ text: settingsWith(header), env: {} });
  expect({ valid, codes: diagnostics.map((one) => one.code) }).toEqual({
    valid: false,
    codes: [code],
  });
});

it('init names variables after their servers, and says that a scheme belongs into the value', async () => {
  const headers = (team: string) => ({ Authorization: `Bearer ${team}-1`, 'X-Team': team });
  const server = (name: string) => ({
    url: `https://mcp.example.com/${name}`,
    transport: 'http',
    headers: headers(name),
  });
  const answer = await fetch(`${service.url}/api/settings`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      agent_settings_diff: { mcp_config: { jira: server('jira'), wiki: server('wiki') } },
    }),
  });
  expect(answer.ok).toBe(true);
  const file = join(folder.path, 'settings.yaml');
  const { variables } = await init({ file, server: service.url, env: {} });
  const names = variables.map(({ name }) => name);
  expect(names).toEqual(['JIRA_AUTHORIZATION', 'JIRA_X_TEAM', 'WIKI_AUTHORIZATION', 'WIKI_X_TEAM']);
  const lines = readFileSync(join(folder.path, '.env.example'), 'utf8').split('\n');
  for (const name of names) {
    const comment = lines[lines.indexOf(`${name}=`) - 1];
    expect(comment?.includes('such as "Bearer TOKEN"')).toBe(name.endsWith('_AUTHORIZATION'));
  }
});
