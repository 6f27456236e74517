import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../../src/command/cli/run-cli.ts';
import { SYSTEM_CLOCK } from '../../src/reconciler/host/this-process.ts';
import { startEmulator } from '../../src/emulator/start.ts';
import { folderWith } from '../fixture/command.ts';
import { startOrganization } from '../fixture/organization.ts';
import { expectGolden } from './golden-file.ts';

/* What a new user reads on a terminal of 80 columns, command after command, as it was typed. */

const COLUMNS = 80;
const KEY = 'sk-nobody-may-read-91';

interface Story {
  readonly files?: Readonly<Record<string, string>>;
  /** Commands as they are typed. `NAME=VALUE` before one are its variables; `write FILE` puts the next of `writes` there. */
  readonly typed: readonly string[];
  readonly writes?: readonly string[];
  /** The kinds of services on which it reads differently, besides the first. */
  readonly alsoOn?: readonly ('app-server' | 'agent-server')[];
  /** The service is that of an organisation. */
  readonly isOrganization?: boolean;
}

const SECRETS = `version: 1
server: { url: "embedded:" }
settings:
  language: en
  llm_api_key: \${env:LLM_API_KEY}
  search_api_key: \${env:SEARCH_API_KEY}
  mcp_config:
    shttp_servers:
      - { url: "https://mcp.example.com/mcp", api_key: "\${env:LLM_API_KEY}" }
`;
/** An Agent Server has no search key. */
const OF_AGENT = SECRETS.replace('embedded:', 'embedded:?dialect=agent-server').replace(
  /\n {2}search_api_key:.*/,
  '',
);
const BOTH = 'LLM_API_KEY=KEY SEARCH_API_KEY=KEY';

const SYNONYMS = ['rotate', 'undo', 'rollback', 'revert', 'promote', 'logs', 'secrets', 'export', 'diff', 'sync', 'fmt'];

const STORIES: Readonly<Record<string, Story>> = {
  'a missing value': {
    alsoOn: ['app-server'],
    files: { 'settings.yaml': SECRETS },
    typed: [
      `${BOTH} setpoint apply --yes -q`,
      'write settings.yaml',
      'setpoint plan',
      'setpoint apply --yes',
      'LLM_API_KEY=KEY setpoint plan',
      'LLM_API_KEY=KEY setpoint apply --yes',
      'LLM_API_KEY=KEY setpoint apply --yes --without search_api_key',
      'LLM_API_KEY=KEY setpoint apply --yes --without serch_api_key',
      'LLM_API_KEY=KEY setpoint apply --yes --without mcp_config.shttp_servers[https://mcp.example.com/mcp].url',
    ],
    writes: [SECRETS.replace('language: en', 'language: de')],
  },
  'a missing value of an Agent Server': {
    files: { 'settings.yaml': OF_AGENT },
    typed: [
      'LLM_API_KEY=KEY setpoint apply --yes -q',
      'write settings.yaml',
      'setpoint plan',
      'setpoint apply --yes',
      'setpoint apply --yes --without llm_api_key --without mcp_config.shttp_servers[https://mcp.example.com/mcp]',
    ],
    writes: [OF_AGENT.replace('language: en', 'language: de')],
  },
  'stored secrets': {
    alsoOn: ['app-server', 'agent-server'],
    files: { 'settings.yaml': SECRETS },
    typed: [
      `${BOTH} setpoint apply --yes -q`,
      `${BOTH} setpoint plan`,
      `${BOTH} setpoint plan -v`,
      `${BOTH} setpoint apply --yes`,
      `${BOTH} setpoint drift`,
      `${BOTH} setpoint doctor`,
      `${BOTH} setpoint apply --yes --rotate llm_api_key`,
    ],
  },
  'an end of drift': {
    files: { 'settings.yaml': 'version: 1\nserver: { url: "embedded:" }\nsettings: { language: en }\n' },
    typed: ['setpoint apply --yes -q', 'write settings.yaml', 'setpoint drift', 'setpoint drift -q'],
    writes: ['version: 1\nserver: { url: "embedded:" }\nsettings: { language: de }\n'],
  },
  'a first file': {
    alsoOn: ['app-server', 'agent-server'],
    typed: [
      'setpoint plan',
      'setpoint init -e staging --server http://127.0.0.1:3000',
      'setpoint plan',
    ],
  },
  'a broken file of several': {
    files: {
      'envs/base.yaml': 'version: 1\nsettings: { language: en }\n',
      'envs/good.yaml': 'version: 1\nextends: base.yaml\nserver: { url: "embedded:good" }\n',
      'envs/broken.yaml': 'version: 1\nextends: base.yaml\nserver: { url: "embedded:broken" }\nsettings: { langage: de }\n',
    },
    typed: [
      'setpoint validate -f envs/*.yaml',
      'setpoint plan -f envs/*.yaml',
      'setpoint validate -f envs/good.yaml -f envs/base.yaml',
    ],
  },
  'unknown keys': {
    files: {
      'settings.yaml':
        'version: 1\nserver: { url: "embedded:" }\nsettings:\n  langauge: en\n  wholly_other: 1\n  another_one: 2\n  third_thing: 3\n',
    },
    typed: ['setpoint validate'],
  },
  'a misplaced block': {
    files: {
      'settings.yaml':
        'version: 1\nserver: { url: "embedded:" }\nsettings:\n  language: en\n  secrets: { A: "${env:A}" }\n  guards: { max_changes: 1 }\nlanguage: en\n',
    },
    typed: ['setpoint validate'],
  },
  'a reference that Flux has eaten': {
    files: {
      'settings.yaml': 'version: 1\nserver: { url: "embedded:" }\nsettings:\n  llm_api_key:\n  language: ""\n',
    },
    typed: ['setpoint validate', 'setpoint plan'],
  },
  'a secret of an unknown command': {
    files: {
      'settings.yaml':
        'version: 1\nserver: { url: "embedded:" }\nsettings:\n  language: en\n  llm_api_key: ${secret:valt/llm/key}\n',
    },
    typed: [
      'setpoint validate',
      'SETPOINT_SECRET_COMMANDS={"vault":["vault","read","{}"]} setpoint validate',
      'SETPOINT_SECRET_COMMANDS={"vault":["vault","read","{}"]} setpoint plan',
      'setpoint plan',
    ],
  },
  'words that other tools have': {
    files: { 'settings.yaml': 'version: 1\nserver: { url: "embedded:" }\nsettings: { language: en }\n' },
    typed: SYNONYMS.map((word) => `setpoint ${word}`),
  },
  'an adopted service': {
    alsoOn: ['app-server', 'agent-server'],
    files: {
      'earlier/settings.yaml':
        'version: 1\nserver: { url: "http://127.0.0.1:3000" }\nsettings: { language: en, llm_model: openai/gpt-5, llm_api_key: "${env:LLM_API_KEY}" }\n',
    },
    typed: [
      'LLM_API_KEY=KEY setpoint apply -f earlier/settings.yaml --yes -q',
      'setpoint init --server http://127.0.0.1:3000',
      'setpoint plan',
      'write .env',
      'write settings.yaml',
      'setpoint apply --yes',
      'setpoint doctor',
      'setpoint apply --yes --dotenv .env',
    ],
    writes: [
      `LLM_API_KEY=${KEY}\n`,
      'version: 1\nserver: { url: "http://127.0.0.1:3000" }\nsettings: { language: de, llm_api_key: "${env:LLM_API_KEY}" }\n',
    ],
  },
  'a file of what people have': {
    files: {
      'config.toml': `[llm]\nmodel = "openai/gpt-5"\napi_key = "${KEY}"\n[sandbox]\nbase_container_image = "img:1"\n[core]\nworkspace_base = "/w"\n`,
      'mcp.json': `{"mcpServers": {"jira": {"url": "https://mcp.example.com/jira", "headers": {"Authorization": "Bearer ${KEY}"}}, "gh": {"command": "npx", "args": ["gh-mcp"], "env": {"TOKEN": "${KEY}-2"}}}}\n`,
    },
    typed: [
      'setpoint init --from config.toml --server http://127.0.0.1:3000',
      'setpoint validate',
      'setpoint init --from mcp.json -f servers.yaml --server http://127.0.0.1:3000',
      'setpoint init --from nothing.toml -f other.yaml',
    ],
  },
  'a saved plan of one of two': {
    files: {
      'settings.yaml':
        'version: 1\nsettings: { language: en }\nenvironments:\n  staging: { server: { url: "embedded:a" } }\n  production: { server: { url: "embedded:b" } }\n',
    },
    typed: [
      'setpoint apply',
      'setpoint plan -e staging -q --out plan.json',
      'setpoint apply plan.json --yes',
      'setpoint plan -e stage',
    ],
  },
  'blocks explained': {
    files: { 'settings.yaml': 'version: 1\nserver: { url: "embedded:" }\nsettings: { language: en }\n' },
    typed: ['setpoint explain watch', 'setpoint explain lang', 'setpoint explain maxiter'],
  },
  'files of two names': {
    files: {
      'settings.yaml': 'version: 1\nserver: { url: "embedded:" }\n',
      'team.setpoint.yaml': 'version: 1\nserver: { url: "embedded:" }\n',
    },
    typed: ['setpoint plan', 'setpoint plan -f team.setpoint.yaml'],
  },
  'a key that every member gets': {
    isOrganization: true,
    files: {
      'settings.yaml':
        'version: 1\nserver: { url: "http://127.0.0.1:3000", api_key: "${env:SETPOINT_API_KEY}" }\nsettings: { language: en, llm_api_key: "${env:LLM_API_KEY}" }\n',
    },
    typed: ['plan', 'apply --yes', 'doctor', 'apply --yes --allow shared-key', 'plan'].map(
      (command) =>
        `SETPOINT_ALLOWED_ORIGINS=http://127.0.0.1:3000 SETPOINT_ALLOWED_VARIABLES=* SETPOINT_API_KEY=k-member LLM_API_KEY=KEY setpoint ${command}`,
    ),
  },
  help: { typed: ['setpoint', 'setpoint plan --help', 'setpoint watch --help'] },
};

describe('what a new user reads at 80 columns', () => {
  const told = Object.entries(STORIES).flatMap(([name, { alsoOn = [] }]) =>
    (['settings-v0', ...alsoOn] as const).map((dialect) => [name, dialect] as const),
  );
  it.each(told)('%s, of %s', async (name, dialect) => {
    const { files = {}, typed, writes = [], isOrganization = false } = STORIES[name] as Story;
    const isFirst = dialect === 'settings-v0';
    const service = isOrganization ? await startOrganization() : await startEmulator({ dialect });
    onTestFinished(() => service.close());
    const here = (text: string) => text.replaceAll('http://127.0.0.1:3000', service.url);
    const ofDialect = (text: string) => {
      if (isFirst) return here(text);
      if (dialect === 'agent-server' && text === SECRETS) return OF_AGENT;
      return here(text).replaceAll('"embedded:"', `"embedded:?dialect=${dialect}"`);
    };
    const folder = folderWith(
      Object.fromEntries(Object.entries(files).map(([file, text]) => [file, ofDialect(text)])),
    );
    onTestFinished(() => folder.remove());
    const texts = [...writes];
    const transcript: string[] = [];
    for (const line of typed) {
      const [command = '', file = ''] = line.split(' ');
      if (command === 'write') {
        writeFileSync(join(folder.path, file), ofDialect(texts.shift() ?? ''));
        continue;
      }
      const { code, text } = await typedHere(here(line), folder.path);
      const end = code === 0 ? '' : `  # exit ${code}`;
      transcript.push(`$ ${line}${end}\n${text}`);
    }
    const shown = transcript
      .join('\n')
      .replaceAll(service.url, 'http://127.0.0.1:3000')
      .replaceAll(folder.path, '/work')
      .replace(/\b\d+(\.\d+)? ?ms\b/g, 'N ms')
      .replace(/Node \d[\d.]*/g, 'Node 20');
    expect(shown).not.toContain(KEY);
    const file = `${name.replaceAll(/[^a-z]+/gi, '-')}${isFirst ? '' : `-${dialect}`}.txt`;
    expectGolden(join('messages', file), wrapped(shown));
    rmSync(join(folder.path, '.setpoint'), { recursive: true, force: true });
  });
});

/* What `watch` says until it has read all once: one is equal, one differs, one cannot be read, one hides its key. */
describe('what a controller says first, and its status, at 80 columns', () => {
  it.each(['settings-v0', 'app-server', 'agent-server'] as const)('%s', async (dialect) => {
    quickSleeps();
    const service = await startEmulator({ dialect });
    onTestFinished(() => service.close());
    const of = (name: string, more: string) =>
      `version: 1\nserver: { url: "${service.url}" }\n${more}\nenvironments: { ${name}: {} }\n`;
    const keyed = of('keyed', 'settings: { language: de, llm_api_key: "${env:LLM_API_KEY}" }');
    const folder = folderWith({
      'envs/equal.yaml': of('equal', 'settings: { language: de }'),
      'envs/production.yaml': of('production', 'settings: { language: fr }'),
      'envs/keyless.yaml': of('keyless', '').replace(' }', ', api_key: "${env:MISSING}" }'),
      'envs/keyed.yaml': keyed,
    });
    onTestFinished(() => folder.remove());
    const key = `LLM_API_KEY=${KEY}`;
    await typedHere(`${key} setpoint apply -f envs/keyed.yaml --yes -q`, folder.path);
    const stop = new AbortController();
    const wrote = (text: string): void => {
      if (text.includes('read 4 environments')) stop.abort();
    };
    const watch = `${key} setpoint watch -f envs/*.yaml`;
    const { code, text } = await typedHere(watch, folder.path, { signal: stop.signal, wrote });
    const status = await typedHere('setpoint status', folder.path);
    expect([code, status.code]).toEqual([0, 0]);
    const lines = text.split('\n');
    const about = (part: string) => lines.filter((line) => line.includes(part));
    const shown = [
      '$ setpoint watch -f envs/*.yaml',
      lines[0] ?? '',
      ...['read 4 environments', 'keyless: ', 'production: '].flatMap(about),
      '',
      '$ setpoint status',
      status.text,
    ]
      .join('\n')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-03-01T12:00:00.000Z')
      .replaceAll(/since \d{4}-\d\d-\d\d \d\d:\d\d UTC/g, 'since 2026-03-01 12:00 UTC')
      .replaceAll(/ \d+[smh] {2,}/g, ' 2m   ')
      .replaceAll(/ \d+[smh]$/gm, ' 2m');
    expect(shown).not.toContain(KEY);
    expectGolden(join('messages', `a-controller-of-${dialect}.txt`), wrapped(shown));
  });
});

/** Lets sleeps pass at once until the test is over: time goes on all the same. */
function quickSleeps(): void {
  const clock = { ...SYSTEM_CLOCK };
  let passed = 0;
  Object.assign(SYSTEM_CLOCK, {
    now: () => clock.now() + passed,
    monotonic: () => clock.monotonic() + passed,
    sleep: async (milliseconds: number) => {
      passed += milliseconds;
      await turn();
    },
  });
  onTestFinished(() => void Object.assign(SYSTEM_CLOCK, clock));
}

/** What a command prints to a terminal: stdout, then stderr. */
async function typedHere(
  line: string,
  cwd: string,
  { signal = new AbortController().signal, wrote = () => {} }: {
    readonly signal?: AbortSignal;
    readonly wrote?: (text: string) => void;
  } = {},
): Promise<{ code: number; text: string }> {
  const words = line.split(' ');
  const at = words.indexOf('setpoint');
  const env = Object.fromEntries(
    words.slice(0, at).map((word) => {
      const [key = '', ...value] = word.split('=');
      return [key, value.join('=') === 'KEY' ? KEY : value.join('=')];
    }),
  );
  const before = process.cwd();
  const out = terminal(wrote);
  const errors = terminal();
  process.chdir(cwd);
  try {
    const code = await run(words.slice(at + 1), {
      env: { NO_COLOR: '1', PATH: '', ...env },
      stdin: () => Readable.from([]),
      stdout: out.stream,
      stderr: { write: errors.stream.write },
      signal,
      abandon: new AbortController().signal,
    });
    return { code, text: out.text() + errors.text() };
  } finally {
    process.chdir(before);
  }
}

function terminal(wrote: (text: string) => void = () => {}) {
  const parts: string[] = [];
  const write = (text: string | Uint8Array, done?: () => void): boolean => {
    parts.push(String(text));
    wrote(String(text));
    done?.();
    return true;
  };
  return { stream: { isTTY: true as const, columns: COLUMNS, write }, text: () => parts.join('') };
}

/** As a terminal breaks lines that are too long. */
function wrapped(text: string): string {
  return text
    .split('\n')
    .flatMap((line) => line.match(new RegExp(`.{1,${COLUMNS}}`, 'gu')) ?? [''])
    .map((line) => line.trimEnd())
    .join('\n');
}
