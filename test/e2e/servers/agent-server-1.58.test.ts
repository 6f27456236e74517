/** What Agent Servers from 1.58 on take no more. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { validate } from '../../../src/reconciler/operations/validate.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { quickClock } from '../../fixture/settings.ts';

it('a key of a connection that the server does not take away is told as such', async () => {
  const folder = folderWith({});
  const data = join(folder.path, 'store.json');
  const front = await startFronted({ dialect: 'agent-server', data });
  const applied = (key: string) =>
    apply({
      text: `version: 1\nserver: { url: "${front.url}" }\nprovider_connections: { team: { api_key: ${key} } }\n`,
      env: { TEAM: 'canary-team' },
      clock: quickClock(),
    });
  try {
    expect(await applied('"${env:TEAM}"')).toMatchObject({ environments: [{ error: null }] });
    front.instead = ({ method, body }) =>
      method === 'PATCH' && body.includes('"api_key":""')
        ? { status: 422, body: { detail: 'canary-detail' } }
        : null;
    const refused = await applied('null');
    const [environment] = refused.environments;
    expect(environment?.error).toMatchObject({ code: 'settings-refused' });
    expect(environment?.error?.message).toContain('do not take the key of a connection away');
    expect(JSON.stringify(refused)).not.toContain('canary');
  } finally {
    await front.close();
    folder.remove();
  }
});

it('a meta profile that routes nothing is a warning', async () => {
  const text = `version: 1
server: { url: "http://127.0.0.1:1" }
meta_profiles: { router: { classifier: cheap }, asking: { classifier: cheap, prompt_template: "{{ instance_text }}" } }
`;
  const { diagnostics } = await validate({ text, env: {} });
  expect(diagnostics).toMatchObject([
    { severity: 'warning', code: 'missing-key', path: ['meta_profiles', 'router'] },
  ]);
});
