/** `plan --check` and `doctor --check` on a real server: the provider is a stand-in on loopback, the mcp servers are scripts. */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apply } from '../../src/reconciler/operations/apply.ts';
import { doctor } from '../../src/reconciler/operations/doctor.ts';
import { plan } from '../../src/reconciler/operations/plan.ts';
import { folderWith } from '../fixture/command.ts';
import { startRealServer, type RealServer } from './real-server.ts';
import { theRelease } from './releases.ts';

/* What the service found, with what to do about it. */
const KEY_REFUSED = expect.stringMatching(/^the provider refuses the key: check .* --rotate$/);
const UNREACHED = expect.stringMatching(/^\(1\) nothing answers at its url: .*; \(2\) .*; \(3\) /);
const { release, venv } = theRelease();
/** The client library of 1.49.1 does not report the status. */
const SERVER_KEY_REFUSED = expect.stringMatching(
  release.release === '1.49.1'
    ? /^it was started or reached, and does not answer as an mcp server$/
    : /^the server refuses the key \(status 401\): /,
);
const MCP = `
const lines = require('node:readline').createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const tools = [{ name: 'echo', inputSchema: { type: 'object', properties: {} } }];
  const hello = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } };
  const result = method === 'initialize' ? hello : method === 'tools/list' ? { tools } : {};
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});
`;
const FAULTLESS = 'the service asked the model, and found no fault';

/** A provider that takes keys with "good" in them, has every model but those called missing, and repeats the key that it refuses. */
async function provider(): Promise<Server> {
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const key = request.headers.authorization ?? '';
      const { model = '' } = request.url === '/mcp' ? {} : (JSON.parse(text) as { model?: string });
      const status = !key.includes('good') ? 401 : model.includes('missing') ? 404 : 200;
      const message = { role: 'assistant', content: 'p' };
      const answer = { id: 'x', object: 'chat.completion', created: 1, model };
      const body =
        status === 200
          ? { ...answer, choices: [{ index: 0, message, finish_reason: 'length' }] }
          : { error: { message: `refused: ${key}`, type: 'refused', code: 'refused' } };
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('what is tried', () => {
  const folder = folderWith({ 'mcp.cjs': MCP, 'broken.cjs': 'console.error(process.env.TOKEN);' });
  let server: RealServer;
  let models: Server;
  beforeAll(async () => {
    models = await provider();
    server = await startRealServer(release, venv);
  });
  afterAll(async () => {
    await server.close();
    models.close();
    folder.remove();
  });

  function asked(blocks: string) {
    const file = join(folder.path, 'settings.yaml');
    const text = `version: 1\nserver: { url: "${server.url}", api_key: "\${env:SERVER_KEY}" }\n${blocks}\n`;
    writeFileSync(file, text);
    const env = { SERVER_KEY: server.key, GOOD: 'canary-good-1', BAD: 'canary-bad-2' };
    return { file, env };
  }

  const url = (path: string) => {
    const { port } = models.address() as AddressInfo;
    return `http://127.0.0.1:${port}${path}`;
  };
  const profile = (name: string, key: string, model = 'openai/gpt-x') =>
    `${name}: { model: ${model}, base_url: "${url('/v1')}", api_key: "\${env:${key}}" }`;
  const script = (name: string) =>
    `{ command: "${process.execPath}", args: ["${join(folder.path, name)}"], env: { TOKEN: "\${env:BAD}" } }`;

  it('is wanted by the guard unproven: nothing that nobody has tried is written', async () => {
    const settings = 'settings: { llm_model: openai/gpt-x }\nguards: { unproven: true }';
    const profiles = `guards: { unproven: true }\nllm_profiles: { ${profile('guarded', 'GOOD')} }`;
    const isAgent = release.dialect === 'agent-server';
    const blocks = isAgent ? profiles : settings;
    const outcome = async (options: object, text = blocks) =>
      (await apply({ ...asked(text), allow: ['empty-store'], ...options })).environments[0];
    const refusals = [{ rule: 'unproven' }];
    expect(await outcome({})).toMatchObject({ status: 'refused', refusals });
    const bad = isAgent ? profiles.replace('GOOD', 'BAD') : settings;
    expect(await outcome({ check: true }, bad)).toMatchObject({ status: 'refused', refusals });
    const approved = await plan({ ...asked(blocks), check: true });
    expect(await outcome({ approved })).toMatchObject(
      isAgent ? { status: 'applied' } : { status: 'refused', refusals },
    );
  });

  it('is told as it is, and nothing of it is stored or shown', async () => {
    if (release.dialect !== 'agent-server') {
      const request = asked('settings: { llm_model: openai/gpt-x }');
      const [environment] = (await plan({ ...request, check: true })).environments;
      expect(environment?.proofs).toMatchObject([{ kind: 'model', status: 'not-checked' }]);
      return;
    }
    const blocks = `mcp_servers:
  files: ${script('mcp.cjs')}
  broken: ${script('broken.cjs')}
  gone: { command: no-such-program }
  closed: { url: "${url('/mcp')}", auth: { strategy: bearer, value: "\${env:BAD}" } }
provider_connections:
  team: { provider: openai, base_url: "${url('/v1')}", api_key: "\${env:GOOD}" }
llm_profiles:
  ${profile('main', 'GOOD')}
  ${profile('wrong', 'BAD')}
  ${profile('unknown', 'GOOD', 'openai/missing')}
  linked: { model: openai/gpt-x, connection: team }`;
    const [before] = (await plan({ ...asked(blocks), check: true })).environments;
    expect(JSON.stringify(before)).not.toContain('canary');
    expect(told(before?.proofs)).toEqual([
      ['files', 'works', 'it lists 1 tool'],
      ['broken', 'fails', 'it was started or reached, and does not answer as an mcp server'],
      ['gone', 'fails', UNREACHED],
      ['closed', 'fails', SERVER_KEY_REFUSED],
      ['team', 'works', FAULTLESS],
      ['main', 'works', FAULTLESS],
      ['wrong', 'fails', KEY_REFUSED],
      ['unknown', 'fails', expect.stringMatching(/^\(1\) the provider has no such model: /)],
      ['linked', 'works', FAULTLESS],
    ]);
    const [stored] = (await apply(asked(blocks))).environments;
    expect(stored).toMatchObject({ status: 'applied', error: null });
    const [health] = (await doctor({ ...asked(blocks), check: true })).environments;
    expect(JSON.stringify(health)).not.toContain('canary');
    const linked = 'its key is that of a provider connection, which only the service knows';
    expect(told(health?.proofs)).toEqual([
      ['files', 'works', 'it lists 1 tool'],
      ['broken', 'fails', 'it was started or reached, and does not answer as an mcp server'],
      ['gone', 'fails', UNREACHED],
      ['closed', 'fails', SERVER_KEY_REFUSED],
      ['main', 'works', FAULTLESS],
      ['wrong', 'fails', KEY_REFUSED],
      ['unknown', 'fails', expect.stringMatching(/^\(1\) the provider has no such model: /)],
      ['linked', 'not-checked', linked],
    ]);
    // The stored key goes along, as the service has encrypted it.
    const kept = `llm_profiles: { main: { model: openai/gpt-x, base_url: "${url('/v1')}", temperature: 0.3 } }`;
    const [changed] = (await plan({ ...asked(kept), check: true })).environments;
    expect(told(changed?.proofs)).toEqual([['main', 'works', FAULTLESS]]);
  });
});

/** The last part of the path, and what came of it; servers that are known by their address are told by their native path. */
function told(
  proofs: readonly { readonly path: readonly string[]; status: string; found: string }[] = [],
) {
  return proofs.map(({ path, status, found }) => [path.at(-1), status, found]);
}
