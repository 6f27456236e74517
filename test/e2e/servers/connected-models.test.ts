import { expect, it, onTestFinished } from 'vitest';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { quickClock } from '../../fixture/settings.ts';

/* A model of another provider sends the key of its connection there, unless the connection has an address. */

async function planned(address: string | null, blocks: string, rotate: readonly string[] = []) {
  const front = await startFronted({ dialect: 'agent-server' });
  onTestFinished(() => front.close());
  const connection = {
    display_name: 'team',
    provider: 'openai',
    api_key: 'a-key',
    ...(address === null ? {} : { base_url: address }),
  };
  const { body } = await front.ask('POST', '/api/llm/provider-connections', connection);
  const { id } = body as { id: string };
  const llm = { model: 'openai/gpt-5', provider_connection_id: id };
  await front.ask('POST', '/api/profiles/main', { llm });
  const text = `version: 1\nserver: { url: "${front.url}" }\nguards: { move_endpoint: true }\n${blocks}\n`;
  const asked = { env: { K: 'new' }, clock: quickClock(), rotate };
  const [found] = (await plan({ ...asked, text })).environments;
  expect(found?.error ?? null).toBeNull();
  return found?.refusals.map(({ message }) => message) ?? [];
}

const OTHER = 'llm_profiles: { main: { model: anthropic/claude-sonnet-4-5, connection: team } }';

it('moves the stored key of a connection without an address', async () => {
  expect(await planned(null, OTHER)).toEqual([
    'The plan moves llm_profiles.main.model to another provider, and any stored provider_connections.team.api_key would go there.',
  ]);
});

it.each([
  ['the connection has an address', 'https://llm.example.com', OTHER],
  [
    'the provider is the same',
    null,
    OTHER.replace('anthropic/claude-sonnet-4-5', 'openai/gpt-5-mini'),
  ],
  ['the profile leaves the connection', null, OTHER.replace(', connection: team', '')],
])('moves no key if %s', async (_, address, blocks) => {
  expect(await planned(address, blocks)).toEqual([]);
});

it('moves no stored key if the plan writes another one', async () => {
  const connection = 'provider_connections: { team: { provider: anthropic, api_key: "${env:K}" } }';
  const text = `${connection}\n${OTHER}`;
  expect(await planned(null, text)).toHaveLength(1);
  expect(await planned(null, text, ['provider_connections.team.api_key'])).toEqual([]);
});
