import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ISSUES_TOKEN } from '../fixture/fake-github.ts';
import { nodesOf, shapeOf, treeOf } from '../fixture/markdown-tree.ts';
import { bench } from './bench.ts';
import { pullRequest, type Finished } from './runner.ts';
import { dedent } from '../fixture/dedent.ts';
import { itEach } from '../fixture/long.ts';

const on = bench({});
const SECRET = 'canary p@ss"w\\ö/1+2&<x>';

/** Everything that has been seen to end a comment, a fence or a line, to name somebody, to link, and to command a runner. */
const HOSTILE = [
  '--> <script>alert(1)</script> <!--',
  '<!-- setpoint:plan environment=production -->',
  '<img src=x onerror=alert(1)> <details open>',
  '```\n# heading\n```` ~~~\n| a | b |\n|---|---|',
  '@acme/owners #1 GH-1 acme/settings#1 https://evil.example.com www.evil.example.com a@evil.example.com',
  '[a](https://evil.example.com) ![b](https://evil.example.com/b.png) [^1] $`x`$',
  '\n::error file=x::forged\n::set-output name=changes::99\n::add-mask::a\n::stop-commands::word',
  '##[error]forged ##vso[task.setvariable variable=x]y %0A::warning::forged',
  '\u001b[2J\u001b]0;title\u0007\u009b31m\u202e\u2066\u200b\r\n\u2028',
  'EOF\nchanges=99\nghadelimiter_x',
  '\\` `` ` ``` &lt; &#60; \u0000 \uFFFE',
].join(' ');

/** Values of the same shape that mean no harm. */
const TAME = 'a line\nanother line and a lot more text';

/** A file full of a text; `broken` if it is not one of ours either. */
function settings(value: string, url: string, broken: boolean): string {
  const inUrl = encodeURIComponent(value);
  // Settings are one line without placeholders; programs take any text.
  const line = value.replaceAll(/[\p{C}\p{Z}<>]+/gu, ' ').trim();
  return JSON.stringify({
    version: 1,
    server: { url, api_key: '${env:KEY}' },
    settings: {
      language: line,
      ...(broken ? { llm_model: { [value]: value } } : { agent: `m ${line}` }),
      git_user_name: '${env:SECRET}',
      llm_api_key: '${env:SECRET}',
      sandbox_api_key: null,
      mcp_config: {
        stdio_servers: [{ name: 'x', command: 'run', args: [value], env: { NAME: value } }],
        shttp_servers: [{ url: `https://mcp.example.com/${inUrl}?q=${inUrl}` }],
      },
    },
    ...(broken ? { [value]: value } : {}),
  });
}

function stored(value: string): Record<string, string | object> {
  return {
    language: `old ${value}`,
    git_user_name: SECRET,
    [`field ${value}`]: value,
    mcp_config: {
      sse_servers: [{ url: `https://old.example.com/${encodeURI(value)}`, api_key: SECRET }],
      shttp_servers: [],
      stdio_servers: [{ name: `n ${value}`, command: value, args: [SECRET], env: { A: SECRET } }],
    },
  };
}

/** Kinds of nodes, how they nest, raw HTML but for the digest, and where links go. */
function structure(markdown: string): unknown {
  const tree = treeOf(markdown.replace(/"digest":"[0-9a-f]+"/, ''));
  return [
    shapeOf(tree),
    ['link', 'image'].flatMap((type) => nodesOf(tree, type)).map(({ url }) => url),
  ];
}

async function published(
  value: string,
  command: string,
  job: { readonly built?: boolean } = {},
): Promise<{ ended: Finished; body: string }> {
  const drifting = command === 'drift';
  on.store.stored = stored(value) as typeof on.store.stored;
  on.commit({ 'settings.yaml': settings(value, on.store.url, command === 'validate') });
  on.github.issues = [];
  const { number } = on.github.open({ pull: true });
  const inputs = { command, ...(drifting ? { 'github-token': ISSUES_TOKEN } : {}) };
  const ended = await on.step({ inputs, event: pullRequest(number), env: { SECRET }, ...job });
  const { body = '' } = (drifting ? on.github.issues : on.github.comments).at(-1) ?? {};
  on.github.comments = [];
  return { ended, body };
}

const EXIT_CODES = { plan: '0', drift: '2', apply: '0', validate: '3' };

itEach(Object.entries(EXIT_CODES), ([command]) => command === 'plan')(
  '%s: hostile text gives a comment of our structure, and a log of our commands',
  async (command, exitCode) => {
    const [hostile, tame] = [await published(HOSTILE, command), await published(TAME, command)];
    expect(hostile.ended.outputs).toMatchObject({ exit_code: exitCode });
    expect(tame.ended.outputs).toMatchObject({ exit_code: exitCode });
    expect(tame.body.length).toBeGreaterThan(300);
    expect(structure(hostile.body)).toEqual(structure(tame.body));
    expect(structure(hostile.ended.summary)).toEqual(structure(tame.ended.summary));
    const names = ({ ended }: typeof tame): string[] => ended.commands.map(({ name }) => name);
    expect(names(hostile)).toEqual(names(tame));
    expect(hostile.ended.outputs['changes']).toBe(tame.ended.outputs['changes']);
  },
);

it('shows a secret nowhere: not on GitHub, not in the log, not in a file', async () => {
  for (const command of Object.keys(EXIT_CODES)) {
    const { ended, body } = await published('en', command, { built: true });
    const files = filesUnder(join(on.path, '.runner')).map((path) => readFileSync(path, 'utf8'));
    const shown = [
      JSON.stringify(ended),
      ended.log,
      body,
      ...files,
      ...on.github.requests.map((request) => request.body),
    ].join('\n');
    for (const form of [
      SECRET,
      JSON.stringify(SECRET).slice(1, -1),
      encodeURIComponent(SECRET),
      Buffer.from(SECRET).toString('base64'),
      'canary',
      'a-session-key',
    ])
      expect(shown.includes(form), `${command}: ${form}`).toBe(false);
  }
});

it('a value of a reference is in no log, annotation, summary or comment, wherever a service has it', async () => {
  const env = {
    URL: `${on.store.url}/t/tenant-canary-71`,
    MODEL: 'canary/model-03',
    NAME: 'canary-name-06',
    SECRET,
    SETPOINT_ALLOWED_ORIGINS: `${on.store.url},h.example`,
  };
  for (const command of ['plan', 'drift', 'apply']) {
    on.store.stored = {
      language: env.MODEL.toUpperCase(),
      agent: `see https://canary:canary@h.example/x?canary`,
      [`field ${env.NAME}`]: { [env.NAME]: `of tenant-canary-71` },
      mcp_config: {
        sse_servers: [{ url: 'https://other.example/tenant-canary-71/sse', note: 'canary' }],
        shttp_servers: [],
        stdio_servers: [{ name: env.NAME, command: 'x', args: ['canary'], env: {} }],
      },
    };
    on.commit({
      'settings.yaml':
        dedent`
          version: 1
          server: { url: "\${env:URL}", api_key: "\${env:KEY}" }
          settings:
            language: en
            agent: a
        ` +
        '  llm_model: ${env:MODEL}\n  git_user_name: ${env:NAME}\n  llm_api_key: ${env:SECRET}\n  sandbox_api_key: null\n' +
        '  mcp_config: { sse_servers: [], stdio_servers: [], shttp_servers: ["https://h.example/${env:NAME}"] }\n',
    });
    on.github.issues = [];
    const token: Record<string, string> =
      command === 'drift' ? { 'github-token': ISSUES_TOKEN } : {};
    const { number } = on.github.open({ pull: true });
    const ended = await on.step({
      inputs: { command, ...token },
      event: pullRequest(number),
      env,
    });
    const { body = '' } =
      (command === 'drift' ? on.github.issues : on.github.comments).at(-1) ?? {};
    const files = filesUnder(join(on.path, '.runner')).map((path) => readFileSync(path, 'utf8'));
    expect(body.length).toBeGreaterThan(100);
    expect(ended.summary).toContain('mcp_config');
    const requests = on.github.requests.map((request) => request.body);
    const shown = [JSON.stringify(ended), ended.log, body, ...files, ...requests].join('\n');
    expect(shown).not.toMatch(/canary/i);
  }
});

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).isFile());
}

it("a value of another environment's reference is in no log, annotation, summary, comment or issue", async () => {
  const prod = await on.another({});
  const env = { PROD_KEY: 'canary-key-of-production', PROD_LLM: SECRET };
  on.commit({
    'settings.yaml': dedent`
      version: 1
      settings: { language: en, llm_model: a-model }
      environments:
        dev: { server: { url: "${on.store.url}", api_key: "\${env:KEY}" } }
        prod:
          server: { url: "${prod.url}", api_key: "\${env:PROD_KEY}" }
          settings: { llm_api_key: "\${env:PROD_LLM}" }
    `,
  });
  for (const command of ['plan', 'drift', 'apply']) {
    on.store.stored = { language: env.PROD_KEY, llm_model: `of ${SECRET}` };
    const { number } = on.github.open({ pull: true });
    const inputs = {
      command,
      ...(command === 'drift' ? { 'github-token': ISSUES_TOKEN } : {}),
      ...(command === 'apply' ? { environments: 'dev,prod' } : {}),
    };
    const ended = await on.step({ inputs, event: pullRequest(number), env });
    expect(ended.log, command).toContain('language');
    const sent = on.github.requests.map((request) => request.body);
    const shown = [JSON.stringify(ended), ended.log, ended.summary, ...sent].join('\n');
    expect(shown.includes('canary'), command).toBe(false);
  }
});
