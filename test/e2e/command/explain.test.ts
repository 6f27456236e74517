import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explainCommand } from '../../../src/command/cli/commands/explain.ts';
import type { Flags } from '../../../src/command/cli/command-table.ts';
import { startEmulator } from '../../../src/emulator/start.ts';
import type {
  EffectiveDocument,
  EnvironmentExplained,
  ExplainDocument,
} from '../../../src/reconciler/model/documents.gen.ts';
import { explain } from '../../../src/reconciler/operations/explain.ts';
import type { ExplainRequest } from '../../../src/reconciler/operations/options.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { validate } from '../../../src/reconciler/operations/validate.ts';
import { folderWith, type Ended } from '../../fixture/command.ts';
import { runFunction } from '../../fixture/command-function.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import { dedent } from '../../fixture/dedent.ts';
import { listSchemaErrors } from '../../fixture/published-schemas.ts';

const SSE = 'mcp_config.sse_servers[https://a.example.com/sse]';
const ENV = { KEY: 'canary-key', LLM: 'canary-llm', MCP: 'canary-mcp' };
const STORED = {
  language: 'en',
  agent: 'canary-of-somebody-else',
  llm_api_key: 'canary-stored',
  mcp_config: {
    sse_servers: [
      { url: 'https://a.example.com/sse?t=canary', api_key: 'canary-mcp' },
      { url: 'https://gone.example.com/sse', api_key: null },
    ],
    stdio_servers: [],
    shttp_servers: [],
  },
};

let store: StoreServer;
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  store = await startStore({}, structuredClone(STORED));
  folder = folderWith({
    'base.yaml': 'version: 1\nsettings:\n  git_user_name: bot\n',
    'settings.yaml': `version: 1
extends: base.yaml
server: { url: "${store.url}", api_key: "\${env:KEY}" }
settings:
  language: fr
  llm_api_key: \${env:LLM}
  email: \${env:NOBODY_SETS_THIS}
  mcp_config:
    sse_servers:
      - url: https://a.example.com/sse?t=canary
        api_key: \${env:MCP}
    stdio_servers:
      - { name: files, command: npx, args: "--token canary", env: { LEVEL: info, TOKEN: "\${env:MCP}" } }
  git_user_email: \${env:GIT_EMAIL:-bot@example.com}
  sandbox_api_key: null
unmanaged: [agent]
environments:
  staging: {}
  production:
    settings: { language: en, max_iterations: 7 }
`,
  });
});
afterEach(async () => {
  await store.close();
  folder.remove();
});

const cwd = process.cwd();
beforeEach(() => process.chdir(folder.path));
afterEach(() => process.chdir(cwd));

function run(
  flags: Flags<'explain'>,
  path?: string,
  env: Record<string, string> = ENV,
): Promise<Ended> {
  return runFunction(explainCommand, flags, env, path);
}

async function explained(
  path: string,
  more: Partial<ExplainRequest> = {},
): Promise<EnvironmentExplained> {
  const document = await explain({ path, env: ENV, targets: ['staging'], ...more });
  expect(schemaErrors(document)).toEqual([]);
  const [environment] = document.environments;
  if (environment === undefined) throw new Error('no target');
  return environment;
}

const schemaErrors = (document: unknown): readonly unknown[] =>
  listSchemaErrors('explain', document);

describe('explain PATH', () => {
  it('shows type, meaning, default, value, origin, variable, and what apply would do, in one GET', async () => {
    const { code, stdout, stderr } = await run({ env: ['staging'] }, 'llm_api_key');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`llm_api_key
  The key for the model's provider. The server does not show it; llm_api_key_set reports whether one is stored.

  type     a secret: one reference, \${env:NAME}, \${file:PATH} or \${secret:NAME/PATH}, or null
  default  null (not set)
  null     clears it: an empty string is sent, because the service ignores null
  reading  the service does not show it; llm_api_key_set shows whether one is stored

staging  ${store.url}
  value    \${env:LLM}
  from     settings.yaml:6:16, at the top of the file
  lookup   the variable LLM is set
  apply
    ? llm_api_key: set; the service does not show this value (\${env:LLM})
`);
    expect(store.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /api/settings',
    ]);
  });

  it('explains every environment if none is named, each with its own value and origin', async () => {
    const { stdout } = await run({}, 'language');
    expect(stdout).toContain(`  value    "fr"
  from     settings.yaml:5:13, at the top of the file
  apply
    ~ language: "en" → "fr"
`);
    expect(stdout).toContain(`  value    "en"
  from     settings.yaml:20:27, in the environment production
  apply    nothing: the service matches the file
`);
    expect((await run({ env: ['staging'] }, 'git_user_name')).stdout).toContain(
      'from     base.yaml:3:18, in the base file',
    );
  });

  it('offline sends nothing, and reports the service as not observed', async () => {
    const { stdout } = await run({ env: ['staging'], offline: true }, 'language');
    expect(stdout).toContain('apply    unknown: the service was not read');
    expect(store.requests).toEqual([]);
  });

  it.each(['server.url', 'server', 'guards.max_changes', 'unmanaged', 'version'])(
    'of %s nothing is kept by the service, so that none is asked',
    async (path) => {
      expect(await explained(path)).toMatchObject({ status: 'not-observed', error: null });
      expect(store.requests).toEqual([]);
    },
  );

  it('shows what is not declared, unmanaged, missing or a default', async () => {
    expect(await explained('max_iterations')).toMatchObject({ declared: null, changes: [] });
    expect(await explained('agent')).toMatchObject({ declared: null, unmanaged: true });
    expect((await run({ env: ['staging'] }, 'agent')).stdout).toContain('nothing: it is unmanaged');
    expect(await explained('email')).toMatchObject({
      references: [{ name: 'NOBODY_SETS_THIS', set: false, problem: expect.any(String) }],
      unknown: [{ path: ['email'], reason: 'the variable NOBODY_SETS_THIS is not set' }],
    });
    const { stdout } = await run({ env: ['staging'] }, 'git_user_email');
    expect(stdout).toContain('the variable GIT_EMAIL is not set; its default is used');
    expect(stdout).toContain('+ git_user_email: not set (${env:GIT_EMAIL:-bot@example.com})');
  });

  it('explains an entry, a member of it, and one that the file does not name', async () => {
    expect(await explained(SSE)).toMatchObject({
      declared: { value: { url: '(sensitive)', api_key: '${env:MCP}' } },
      changes: [],
    });
    expect(await explained('mcp_config.sse_servers[https://gone.example.com/sse]')).toMatchObject({
      declared: null,
      changes: [{ action: 'remove' }],
    });
    store.stored = structuredClone({
      ...STORED,
      mcp_config: {
        ...STORED.mcp_config,
        sse_servers: [{ url: 'https://a.example.com/sse?t=canary', api_key: 'other' }],
      },
    });
    expect(await explained(`${SSE}.api_key`)).toMatchObject({
      declared: { value: '${env:MCP}', source: { line: 11, column: 18 } },
      references: [{ name: 'MCP', set: true, problem: null }],
      changes: [
        { action: 'change', path: ['mcp_config', 'sse_servers', 'https://a.example.com/sse'] },
      ],
    });
    expect(await explained(`${SSE}.url`)).toMatchObject({ changes: [] });
    const files = 'mcp_config.stdio_servers[files]';
    expect(await explained(`${files}.env.LEVEL`)).toMatchObject({
      declared: { value: 'info' },
    });
    expect(await explained(`${files}.args`)).toMatchObject({
      declared: { value: '(sensitive)' },
    });
    expect(await explained(`${files}.env["TOKEN"]`)).toMatchObject({
      declared: { value: '${env:MCP}' },
    });
  });

  it('shows what a plan of the same file shows', async () => {
    const { environments } = await plan({ env: ENV, targets: ['staging'] });
    const all = await explained('settings');
    expect(all.changes).toEqual(environments[0]?.changes);
    expect(all.unknown).toEqual(environments[0]?.unknown);
    // Guards judge a plan as a whole, and explain is about a place.
    const own = environments[0]?.warnings.filter(({ code }) => code !== 'guard');
    expect(all.warnings).toEqual(own);
  });

  it('reads the sandboxes for a path about them, and nothing else', async () => {
    const service = await startEmulator({ startMs: 0 });
    try {
      const text = dedent`
        version: 1
        server: { url: "${service.url}" }
        sandboxes:
          - running: 1
          - { id: nobody, state: paused }
      `;
      const one = await explained('sandboxes[0].running', { text, targets: undefined });
      expect(one).toMatchObject({ declared: { value: 1 }, changes: [{ action: 'start' }] });
      const other = await explained('sandboxes[1]', { text, targets: undefined });
      expect(other).toMatchObject({ changes: [], warnings: [{ code: 'sandbox-gone' }] });
      const whole = await explained('sandboxes', { text, targets: undefined });
      expect(whole.changes).toHaveLength(1);
    } finally {
      await service.close();
    }
  });

  it.each([
    ['llm_modle', 'Did you mean llm_model?'],
    ['sever.url', 'Did you mean server.url?'],
    ['server.ulr', 'Did you mean server.url?'],
    ['sever.ulr', 'Did you mean server.url?'],
    ['settings.x', 'Available: language, agent,'],
    ['mcp_confg.sse_servers[https://x/?t=canary]', 'without userinfo'],
    ['settings.langauge', 'Did you mean language?'],
    ['mcp_config.sse_server[https://x/sse]', 'Did you mean mcp_config.sse_servers[https://x/sse]?'],
    [`${SSE}.api_kye`, `Did you mean ${SSE}.api_key?`],
    ['mcp_config.sse_servers[https://x/sse?t=canary]', 'without userinfo, query and fragment'],
    ['language.x', 'Nothing is under language.'],
    ['sandboxes.running', 'sandboxes[0]'],
    ['environments.production', '-e'],
    ['[', 'such as llm_model'],
    ['', 'such as llm_model'],
  ])('%s is no path: exit 3, and a hint', async (path, hint) => {
    const ended = await run({}, path);
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toContain(hint);
    expect(ended.stderr).not.toContain('canary');
    expect(store.requests).toEqual([]);
  });

  it('if the service cannot be read, it still shows what the file declares', async () => {
    store.intercept = (_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
      return true;
    };
    const ended = await run({ env: ['staging'] }, 'language');
    expect(ended.code).toBe(4);
    expect(ended.stdout).toContain('value    "fr"');
    expect(ended.stdout).toContain('unknown: the service could not be read');
    expect(ended.stderr).toContain('staging: The service refused the key');
    const keyless = await run({ env: ['staging'] }, 'language', {});
    expect(keyless).toMatchObject({ code: 3 });
    expect(keyless.stderr).toContain('the variable KEY is not set');
  });

  it('shows no byte of a secret, as text or as JSON', async () => {
    const paths = ['settings', 'server', 'llm_api_key', 'mcp_config', SSE, 'agent', 'email'];
    for (const path of paths) {
      for (const flags of [{}, { output: ['json'] }, { offline: true }, { verbose: true }]) {
        const { stdout, stderr } = await run(flags, path);
        expect(stdout).not.toBe('');
        expect(stdout + stderr, `${path} ${JSON.stringify(flags)}`).not.toMatch(
          /canary|Y2FuYXJ5|63616e617279/,
        );
      }
    }
  });

  it('as JSON it fits the published schema', async () => {
    for (const path of [
      'llm_api_key',
      'mcp_config',
      'server',
      'settings',
      'sandboxes',
      'version',
    ]) {
      const document = JSON.parse(
        (await run({ output: ['json'], offline: true }, path)).stdout,
      ) as ExplainDocument;
      expect(schemaErrors(document), path).toEqual([]);
      expect(document.environments).toHaveLength(2);
    }
    const failed = JSON.parse((await run({ output: ['json'] }, 'langauge')).stdout) as object;
    expect(failed).toMatchObject({ error: { code: 'usage' } });
  });
});

describe('explain', () => {
  it('prints the effective file, which is valid by itself and gives the same plan; offline', async () => {
    const printed = await run({ env: ['production'] });
    expect(printed).toMatchObject({ code: 0, stderr: '' });
    expect(store.requests).toEqual([]);
    for (const line of printed.stdout.trimEnd().split('\n'))
      expect(line).toMatch(/ # (settings|base)\.yaml:\d+( \(production\))?$/);
    expect(printed.stdout).toMatch(/^ {2}language: en +# settings\.yaml:20 \(production\)$/m);
    expect(printed.stdout).toMatch(/^ {2}git_user_name: bot +# base\.yaml:3$/m);
    writeFileSync('effective.yaml', printed.stdout);
    expect(await validate({ file: 'effective.yaml', env: {} })).toMatchObject({
      valid: true,
      diagnostics: [],
    });
    const [one, other] = await Promise.all([
      plan({ env: ENV, targets: ['production'], digests: false }),
      plan({ env: ENV, file: 'effective.yaml', digests: false }),
    ]);
    const ofTheRun = new Set(['created_at', 'run', 'source']);
    const bare = (document: typeof one) =>
      JSON.parse(
        JSON.stringify(document, (key, value: unknown) => (ofTheRun.has(key) ? null : value)),
      ) as object;
    expect(bare(other)).toEqual(bare(one));
  });

  it('is about one environment: with several it needs -e', async () => {
    for (const flags of [{}, { env: ['staging', 'production'] }, { all: true }]) {
      const ended = await run(flags);
      expect(ended).toMatchObject({ code: 3, stdout: '' });
      expect(ended.stderr).toContain('Choose one with -e: staging, production.');
    }
  });

  it('an invalid file is reported as by every command', async () => {
    writeFileSync('settings.yaml', 'version: 1\nsettings: { langage: en }\n');
    const ended = await run({});
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain('Did you mean language?');
  });

  it('as JSON it is a list of values with their origins, masked, and fits the published schema', async () => {
    const { stdout } = await run({ env: ['staging'], output: ['json'] });
    const document = JSON.parse(stdout) as EffectiveDocument;
    expect(schemaErrors(document)).toEqual([]);
    expect(stdout).not.toContain('canary');
    expect(document.values).toContainEqual({
      path: ['settings', 'git_user_name'],
      value: 'bot',
      source: { file: 'base.yaml', line: 3, column: 18 },
      block: 'base',
    });
  });
});

it.each([
  ['secrets_store', 'secrets: { ONE: "${env:LLM}" }\n'],
  ['settings.secrets_store', 'secrets: { ONE: "${env:LLM}" }\n'],
])('%s says what declares it, in either spelling', async (path, declared) => {
  const file = join(folder.path, 'settings.yaml');
  const from = readFileSync(file, 'utf8');
  writeFileSync(file, from.replace('unmanaged: [agent]', `${declared}unmanaged: [agent]`));
  const document = await explain({
    env: ENV,
    file,
    path,
    offline: true,
  });
  expect(document.meaning.description).toContain(
    'the same as the blocks git_providers and secrets',
  );
  for (const { declared: found } of document.environments)
    expect(found).toMatchObject({ value: { custom_secrets: { ONE: '${env:LLM}' } } });
});
