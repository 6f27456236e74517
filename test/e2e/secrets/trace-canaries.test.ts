import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ATTRIBUTES } from '../../../src/reconciler/host/spans.ts';
import { encodings } from '../../fixture/encodings.ts';
import { folderWith, quickTime, setpoint, start } from '../../fixture/command.ts';
import { dedent } from '../../fixture/dedent.ts';
import { startOtlpReceiver, tracedBy, type OtlpReceiver } from '../../fixture/otlp-receiver.ts';
import { startSandboxServer, type SandboxServer } from '../../fixture/sandbox-server.ts';
import { LONG, itEach } from '../../fixture/long.ts';
import { until } from '../../fixture/until.ts';

const TENANT = 'tenant-canary-71';

/** A value of every kind that a reference may come to, each with a word in it that is nowhere else. */
const ENV = {
  KEY: 'canary-key-01',
  HEADER: 'canary-header-02',
  MODEL: 'canary/model-03',
  MCP_URL: 'https://canary:canary-pw@canary.example/canary-04/sse?k=canary-05',
  MCP_KEY: 'canary-key-07',
  ARG: '--root=/canary-08',
  SECRET: 'canary p@ss"w\\ö/1+2\ncanary line2&<x>',
  ID: 'canary-sandbox-11',
  // In a document it is masked, because a field refers to it.
  GITHUB_SHA: 'ca9a47ca9a47ca9a47ca9a47ca9a47ca9a47ca9a',
};

const FILE = dedent`
  version: 1
  server:
    url: \${env:URL}
    api_key: \${env:KEY}
    headers: { X-Tenant: "\${env:HEADER}" }
  settings:
    llm_model: \${env:MODEL}
    llm_api_key: \${env:KEY}
    agent: \${env:GITHUB_SHA}
    sandbox_api_key: null
    email: \${env:ID}
    mcp_config:
      sse_servers: [{ url: "\${env:MCP_URL}", api_key: "\${env:MCP_KEY}" }]
      stdio_servers: [{ name: plain, command: npx, args: [-y, "\${env:ARG}"], env: { TOKEN: "\${env:SECRET}" } }]
      shttp_servers: []
  sandboxes:
    - running: 2
  watch: { mode: heal, interval: 10s }
`;

let server: SandboxServer;
let receiver: OtlpReceiver;
let folder: ReturnType<typeof folderWith>;
let env: Record<string, string>;

beforeEach(async () => {
  server = await startSandboxServer(
    { now: () => Date.now() },
    {
      stored: { language: ENV.ID, later: { [ENV.KEY]: ENV.SECRET } },
      specs: ['canary-spec:12', 'spec-b'],
      sandboxes: [
        { created_at: null, sandbox_spec_id: 'canary-spec:12', id: ENV.ID, status: 'PAUSED' },
      ],
      boots: 0,
    },
  );
  receiver = await startOtlpReceiver();
  folder = folderWith({ 'settings.yaml': FILE });
  env = { ...ENV, URL: server.url, ...tracedBy(folder.path, receiver) };
});
afterEach(async () => {
  await server.close();
  await receiver.close();
  folder.remove();
});

/** Nothing that arrived holds a value or an address; and every attribute is one that the code lists. */
function expectNothing(): void {
  expect(receiver.spans).not.toEqual([]);
  const { text } = receiver;
  expect(text).not.toMatch(/canary/i);
  for (const value of [
    ...Object.values(ENV),
    env['URL'] ?? '',
    server.url,
    new URL(server.url).port,
  ])
    for (const form of encodings(value))
      if (form.length >= 5) expect(text.includes(form), form).toBe(false);
  const known: ReadonlySet<string> = new Set(ATTRIBUTES);
  const names = receiver.spans.flatMap(({ attributes }) => Object.keys(attributes));
  expect(names.filter((name) => !known.has(name))).toEqual([]);
}

function run(...args: readonly string[]) {
  return setpoint(args, { cwd: folder.path, env });
}

describe('nothing of a reference, of a service or of an address is in a span', () => {
  const commands = [
    [0, ['plan']],
    [2, ['drift', '-v']],
    [0, ['apply', '--yes']],
    [0, ['get', 'settings,sandboxes']],
    [2, ['pull', '--check']],
    [0, ['doctor']],
    [1, ['smoke', '--yes']],
    [0, ['explain', 'llm_model']],
    [3, ['plan', '-f', ENV.MODEL]],
    [3, ['apply', '--yes', '--rotate', ENV.KEY]],
  ] as const;
  itEach<readonly [number, readonly string[]]>(commands, ([, [name]]) =>
    ['plan', 'apply', 'smoke'].includes(name ?? ''),
  )('that ends with %s: %j', async (code, args) => {
    expect((await run(...args)).code).toBe(code);
    expectNothing();
  });

  itEach([307, 400, 404, 422, 500], (status) => status === 422)(
    'although the service answers with all of it: %i',
    async (status) => {
      server.intercept = (_request, response, _proceed, _count, body) => {
        const told = JSON.stringify({ detail: Object.values(ENV), error: body });
        const location = `https://${TENANT}.example/${ENV.KEY}`;
        response.writeHead(status, { 'content-type': 'application/json', location }).end(told);
        return true;
      };
      await run('apply', '--yes', '--timeout', '1s');
      expect(receiver.spans.filter(({ status }) => status === 2)).not.toEqual([]);
      expectNothing();
    },
  );

  it('of a controller that heals', LONG, async () => {
    const { child, ended } = start(['watch'], { cwd: folder.path, env, time: quickTime() });
    const journal = join(folder.path, '.setpoint/watch/journal.jsonl');
    const text = (): string => (existsSync(journal) ? readFileSync(journal, 'utf8') : '');
    await until(() => child.exitCode !== null || text().includes('"kind":"write"'), { show: text });
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
    expect(receiver.spans.map(({ name }) => name)).toContain('start sandbox');
    expectNothing();
  });
});
