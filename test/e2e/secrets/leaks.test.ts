import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/command/cli/command-table.ts';
import { encodings } from '../../fixture/encodings.ts';
import { setpoint as setpointHere } from '../../fixture/command-here.ts';
import { folderWith, setpoint } from '../../fixture/command.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import { dedent } from '../../fixture/dedent.ts';

/** A secret with everything in it that a masker by text has missed. */
const SECRET = 'p@ss"w\\ö/1+2\nline2&<x>';

let store: StoreServer;
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  const entry = {
    url: `https://user:${encodeURIComponent(SECRET)}@a.example.com/sse?k=${encodeURIComponent(SECRET)}`,
    api_key: SECRET,
  };
  const stored = {
    language: 'en',
    git_user_name: SECRET,
    some_token: SECRET,
    mcp_config: {
      sse_servers: [entry],
      stdio_servers: [{ name: 'x', command: 'c', args: [SECRET], env: { A: SECRET } }],
      shttp_servers: [],
    },
  };
  store = await startStore({}, stored);
  folder = folderWith({
    'settings.yaml': dedent`
      version: 1
      server: { url: "${store.url}", api_key: "\${env:KEY}" }
      settings:
        language: fr
        sandbox_api_key: null
        llm_api_key: \${env:KEY}
        mcp_config:
          stdio_servers: [{ name: x, command: c, args: ["\${env:SECRET}", y], env: { TOKEN: "\${env:SECRET}" } }]
    `,
  });
});
afterEach(async () => {
  await store.close();
  folder.remove();
});

describe('M23: a secret in none of seventeen encodings', () => {
  it.each([
    [['plan', '-v']],
    [['plan', '-o', 'json', '--out', 'plan.json']],
    [['drift', '-o', 'json']],
    [['get', 'settings', '-v']],
    [['explain', 'llm_api_key', '-o', 'json']],
    [['explain', 'mcp_config', '-v']],
    [['explain']],
    [['doctor', '-v']],
    [['get', 'settings', '-o', 'json=seen.json']],
    [['apply', '--yes', '-v', '-o', 'json=outcome.json']],
    [['apply', '--yes', '--rotate', 'all', '-o', 'json']],
  ])('%j, though everything that can be debugged is', async (args) => {
    const env = { KEY: 'a-key', SECRET, NODE_DEBUG: 'http,net,tls,undici,fetch,module' };
    const { stdout, stderr } = await setpoint(args, { cwd: folder.path, env });
    const files = readdirSync(folder.path).filter((name) => name !== 'settings.yaml');
    const shown = [
      stdout,
      stderr,
      ...files.map((name) => readFileSync(join(folder.path, name), 'utf8')),
    ].join('\n');
    for (const form of encodings(SECRET)) expect(shown.includes(form), form).toBe(false);
  });

  it.each([422, 500])(
    'echoed by a server in the body, a header and the reason of a %i',
    async (status) => {
      store.intercept = (incoming, response, _proceed, _count, body) => {
        if (incoming.method !== 'POST') return false;
        response.writeHead(status, 'p@ss word', {
          'content-type': 'application/json',
          'x-echo': encodeURIComponent(SECRET),
        });
        response.end(
          JSON.stringify({
            detail: [{ type: SECRET, loc: ['body', SECRET], msg: body, input: body }],
          }),
        );
        return true;
      };
      const ended = await setpointHere(['apply', '--yes', '-v', '-o', 'json'], {
        cwd: folder.path,
        env: { KEY: 'a-key', SECRET },
      });
      expect(ended.code).toBe(1);
      for (const form of [...encodings(SECRET), 'p@ss word'])
        expect((ended.stdout + ended.stderr).includes(form), form).toBe(false);
    },
  );
});

it('M19: no flag takes a secret but the key of the embedded service, which guards a toy', () => {
  // A file, and names of objects of Kubernetes.
  const harmless = new Set([
    'watch --tls',
    'controller --tls',
    'pull --secret',
    'controller --state-secret',
    'render --secret',
  ]);
  const flags = Object.entries(COMMANDS).flatMap(([name, { flags: of }]) =>
    of.map((flag) => `${name} ${flag}`),
  );
  const named = flags.filter((flag) => /key|token|secret|pass/i.test(flag));
  expect(named.filter((flag) => !harmless.has(flag))).toEqual(['serve --api-key']);
});
