import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { stringify } from 'yaml';
import { SetpointError } from '../../src/reconciler/model/error.ts';
import { init } from '../../src/reconciler/operations/init.ts';
import { validate } from '../../src/reconciler/operations/validate.ts';
import { initText } from '../../src/reconciler/render/pulled-text.ts';
import { folderWith } from '../fixture/command.ts';
import { encodings } from '../fixture/encodings.ts';
import { itHolds } from '../fixture/property-runs.ts';

const STYLE = { color: false, width: null, verbose: true };

/** Texts that a person or a machine would take as a secret; the word in front makes each one of a kind. */
const secret = fc
  .tuple(fc.integer({ min: 100, max: 999 }), fc.string({ minLength: 4, maxLength: 20 }))
  .map(([number, rest]) => `qzK${number}${rest.replaceAll(/[\n\r\0`'\\$]/g, '_')}w`);

/** The secrets of one run, at every place where such files have them. */
type Secrets = readonly [string, string, string, string, string, string];

const servers = ([, , env, arg, header, url]: Secrets) => ({
  program: {
    command: 'npx',
    args: ['-y', 'a-server', '--token', arg, `--key=${arg}`],
    env: { TOKEN: env, LEVEL: 'info' },
  },
  remote: {
    url: 'https://mcp.example.com/mcp',
    headers: { Authorization: `Bearer ${header}`, 'X-Other': header },
  },
  keyed: { url: `https://mcp.example.com/x?key=${encodeURIComponent(url)}` },
  [`named-${env}`]: { command: 'npx' },
});

const FORMS: Readonly<Record<string, (secrets: Secrets) => string>> = {
  'mcp.json': (all) => JSON.stringify({ mcpServers: servers(all), other: { password: all[0] } }),
  'settings.json': (all) =>
    JSON.stringify({
      llm_model: 'openai/gpt-5',
      llm_api_key: all[0],
      llm_base_url: `https://u:${encodeURIComponent(all[1])}@llm.example.com`,
      git_user_name: all[0],
      agent_settings: {
        llm: { extra_headers: { 'X-Team': all[2] }, litellm_extra_body: { a: { token: all[3] } } },
      },
      mcp_config: {
        stdio_servers: [{ name: 'a', command: 'x', args: `--key ${all[4]}`, env: { KEY: all[5] } }],
      },
    }),
  'secrets.json': (all) =>
    JSON.stringify({
      custom_secrets: {
        A: { secret: all[0], description: all[0] },
        [`B_${all[1]}`]: { secret: all[1] },
      },
      provider_tokens: { github: { token: all[2], host: all[2] } },
    }),
  'config.toml': (all) =>
    [
      '[core]',
      `jwt_secret = ${JSON.stringify(all[0])}`,
      '[llm]',
      'model = "openai/gpt-5"',
      `api_key = ${JSON.stringify(all[1])}`,
      '[llm.other]',
      `api_key = ${JSON.stringify(all[2])}`,
      `model = ${JSON.stringify(all[2])}`,
      '[mcp]',
      `shttp_servers = [{ url = "https://a.example.com/mcp", api_key = ${JSON.stringify(all[3])} }]`,
      `stdio_servers = [{ name = "a", command = "x", args = ["--token", ${JSON.stringify(all[4])}], env = { A_KEY = ${JSON.stringify(all[5])} } }]`,
    ].join('\n'),
  'docker-compose.yml': (all) =>
    stringify({
      services: {
        app: {
          environment: { LLM_MODEL: 'openai/gpt-5', LLM_API_KEY: all[0], SEARCH_API_KEY: all[1] },
        },
        db: {
          environment: [
            `POSTGRES_PASSWORD=${all[2]}`,
            `LLM_BASE_URL=https://u:${encodeURIComponent(all[3])}@x.example.com`,
          ],
        },
      },
      'x-token': all[4],
    }),
  '.env': (all) =>
    `LLM_MODEL=openai/gpt-5\nLLM_API_KEY='${all[0]}'\nSEARCH_API_KEY='${all[1]}'\nGIT_USER_NAME='${all[1]}'\nDB_PASSWORD='${all[2]}'\n`,
};

describe('init --from', () => {
  itHolds('shows and writes no secret of its files, whole or cut off', 60, async (numRuns) => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(FORMS)),
        fc.tuple(secret, secret, secret, secret, secret, secret),
        fc.constantFrom(undefined, 'app-server' as const, 'agent-server' as const),
        fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: null, freq: 2 }),
        async (name, secrets, dialect, cut) => {
          const whole = FORMS[name]?.(secrets) ?? '';
          const text = cut === null ? whole : whole.slice(0, Math.floor(whole.length * cut));
          const folder = folderWith({ [name]: text });
          try {
            const file = join(folder.path, 'settings.yaml');
            const shown: string[] = [];
            try {
              const document = await init({
                file,
                from: [join(folder.path, name)],
                dialect,
                env: {},
              });
              shown.push(
                JSON.stringify(document),
                initText(document, STYLE),
                readFileSync(file, 'utf8'),
                readFileSync(join(folder.path, '.env.example'), 'utf8'),
              );
              expect((await validate({ file, env: {} })).diagnostics).toEqual([]);
            } catch (thrown) {
              if (!(thrown instanceof SetpointError)) throw thrown;
              expect(['usage', 'file-unreadable']).toContain(thrown.code);
              shown.push(thrown.message, thrown.hint, String(thrown.stack));
            }
            for (const one of secrets)
              for (const form of encodings(one))
                for (const output of shown)
                  expect(output.includes(form) ? [name, form] : null).toBeNull();
          } finally {
            folder.remove();
          }
        },
      ),
      { numRuns },
    );
  });
});
