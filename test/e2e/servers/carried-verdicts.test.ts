import { describe, expect, it, onTestFinished } from 'vitest';
import type { EmulatorDialect } from '../../../src/emulator/options.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';

async function service(dialect: EmulatorDialect): Promise<Fronted> {
  const fronted = await startFronted({ dialect });
  onTestFinished(() => fronted.close());
  return fronted;
}

const PATHS = {
  'settings-v0': '/api/settings',
  'app-server': '/api/v1/settings',
  'agent-server': '/api/settings',
};

async function store(fronted: Fronted, dialect: EmulatorDialect, body: unknown): Promise<void> {
  const method = dialect === 'agent-server' ? 'PATCH' : 'POST';
  expect(await fronted.ask(method, PATHS[dialect], body)).toMatchObject({ status: 200 });
}

/** Runs a command on a file that declares these settings. */
function runs(url: string, settings: string, more = '') {
  const text = `version: 1\nserver:\n  url: ${url}\n  api_key: "\${env:KEY}"\nsettings:\n${settings.replaceAll(/^(?=.)/gm, '  ')}\n${more}`;
  const folder = folderWith({ 'settings.yaml': text });
  onTestFinished(() => folder.remove());
  const env = { KEY: 'k', LLM_KEY: 'CANARY-llm' };
  return (...args: string[]) => setpoint(args, { cwd: folder.path, env });
}

describe('half of a surrogate pair', () => {
  it.each([
    ['a value', 'language: "\\ud800x"'],
    ['a key of free JSON', 'misc_settings: { "a\\ud800": 1 }'],
    ['a key inside free JSON', 'misc_settings: { a: [{ "b\\ude00": { c: 1 } }] }'],
    ['a key of the model', 'agent_settings: { llm: { litellm_extra_body: { "a\\ud800": 1 } } }'],
    [
      'a parameter of a tool',
      'agent_settings: { tools: [{ name: T, params: { "a\\ud800": 1 } }] }',
    ],
    ['a header', 'agent_settings: { llm: { extra_headers: { "a\\ud800": b } } }'],
    [
      'the name of a secret',
      'agent_settings: { agent_context: { secrets: { "a\\ud800": "${env:LLM_KEY}" } } }',
    ],
    [
      'a variable of a program',
      'mcp_config: { stdio_servers: [{ name: n, command: c, env: { "a\\ud800": b } }] }',
    ],
  ])('in %s is refused by validate, plan and apply, and nothing is sent', async (_, settings) => {
    const fronted = await service('agent-server');
    const run = runs(fronted.url, settings);
    for (const command of ['validate', 'plan', 'apply'] as const) {
      const { code, stdout, stderr } = await run(
        command,
        ...(command === 'apply' ? ['--yes'] : []),
      );
      expect(code).toBe(3);
      expect(stdout + stderr).toContain('has half of a surrogate pair, which no service can store');
    }
    expect(fronted.seen).toEqual([]);
  });
});

it('a key with half of a surrogate pair is stored mangled by the embedded Agent Server, which can be read on', async () => {
  const fronted = await service('agent-server');
  const body = { misc_settings_diff: { 'a\ud800': 1, in: [{ '\ude00b': 2 }] } };
  await store(fronted, 'agent-server', body);
  expect(await fronted.ask('GET', '/api/settings')).toMatchObject({
    status: 200,
    body: { misc_settings: { 'a\ufffd\ufffd\ufffd': 1, in: [{ '\ufffd\ufffd\ufffdb': 2 }] } },
  });
});

describe('an answer of settings-v0 that lacks members of the record', () => {
  const STORED = {
    language: 'en',
    llm_model: 'm',
    git_user_name: 'bot',
    mcp_config: { sse_servers: [{ url: 'https://a.example.com/sse', api_key: 'CANARY-mcp' }] },
  };

  it.each([
    ['has no mcp_config', (name: string) => name !== 'mcp_config', 'without mcp_config.'],
    [
      'has two members',
      (name: string) => ['language', 'llm_api_key_set'].includes(name),
      ' and 18 more.',
    ],
  ])('and %s is no base of a plan or a write', async (_, keeps, words) => {
    const fronted = await service('settings-v0');
    await store(fronted, 'settings-v0', STORED);
    const before = await fronted.ask('GET', '/api/settings');
    fronted.changed = ({ path }, reply) =>
      path === '/api/settings'
        ? {
            ...reply,
            body: Object.fromEntries(
              Object.entries(reply.body as object).filter(([name]) => keeps(name)),
            ),
          }
        : reply;
    for (const more of ['', 'guards: { protected: true }\n']) {
      const run = runs(fronted.url, 'language: fr\nsandbox_api_key: null', more);
      for (const args of [['plan'], ['drift'], ['apply', '--yes']]) {
        const { code, stdout, stderr } = await run(...args);
        expect([args[0], code]).toEqual([args[0], 1]);
        expect(stdout + stderr).toContain(words);
      }
    }
    expect(fronted.writes()).toEqual([]);
    expect(await fronted.ask('GET', '/api/settings')).toEqual(before);
  });
});

describe('an empty store of an app-server release', () => {
  it.each(['1.7.0', '1.8.0'])(
    '%s is refused by the plan, and nothing is written',
    async (release) => {
      const fronted = await service('app-server');
      fronted.changed = ({ path }, reply) =>
        path === '/openapi.json' ? { ...reply, body: { info: { version: release } } } : reply;
      const run = runs(fronted.url, 'language: fr');
      for (const args of [['plan'], ['apply', '--yes'], ['apply', '--yes', '--if-empty']]) {
        const { code, stdout, stderr } = await run(...args);
        expect([args, code]).toEqual([args, 1]);
        expect(stdout + stderr).toContain(`was answered by release ${release}`);
      }
      expect(fronted.writes()).toEqual([]);
    },
  );

  /** An empty store whose /openapi.json is hidden, and what it lists of its own fields, or the status in its place. */
  async function unnamed(listed: readonly string[] | number): Promise<Fronted> {
    const fronted = await service('app-server');
    fronted.changed = ({ path }, reply) => {
      if (path === '/openapi.json') return { status: 404, body: { detail: 'Not Found' } };
      if (path !== '/api/v1/settings/agent-schema') return reply;
      if (typeof listed === 'number') return { status: listed, body: { detail: 'Not Found' } };
      const fields = listed.map((key) => ({ key }));
      return { ...reply, body: { model_name: 'AgentSettings', sections: [{ fields }] } };
    };
    return fronted;
  }

  it.each([
    [['llm.model', 'llm.api_key'], 'was answered by release 1.7 or 1.8'],
    [404, 'nothing shows the release'],
    [403, 'nothing shows the release'],
    [[], 'nothing shows the release'],
  ])('and names none is refused if it lists %j of its fields', async (listed, words) => {
    const fronted = await unnamed(listed);
    const run = runs(fronted.url, 'language: fr');
    for (const args of [['plan'], ['apply', '--yes'], ['apply', '--yes', '--if-empty']]) {
      const { code, stdout, stderr } = await run(...args);
      expect([args, code]).toEqual([args, 1]);
      expect(stdout + stderr).toContain(words);
    }
    expect(fronted.writes()).toEqual([]);
  });

  it('and names none is asked again if it cannot tell just now', async () => {
    const fronted = await unnamed(503);
    const { code, stdout, stderr } = await runs(fronted.url, 'language: fr')('plan');
    expect(code).toBe(1);
    expect(stdout + stderr).toContain('The service answered with an error');
    expect(fronted.writes()).toEqual([]);
  });

  it('is written if it lists a field that only releases from 1.9 on have', async () => {
    const fronted = await unnamed(['llm.model', 'llm.auth_type']);
    const run = runs(fronted.url, 'language: fr');
    expect((await run('plan', '--exit-code')).code).toBe(2);
    expect((await run('apply', '--yes')).code).toBe(0);
    expect(fronted.writes()).toEqual([{ language: 'fr' }]);
  });

  it.each(['1.9.0', '1.11.0'])(
    '%s is written, and the plan says which release it is',
    async (release) => {
      const fronted = await service('app-server');
      fronted.changed = ({ path }, reply) =>
        path === '/openapi.json' ? { ...reply, body: { info: { version: release } } } : reply;
      const run = runs(fronted.url, 'language: fr');
      const planned = await run('plan', '-o', 'json');
      expect(JSON.parse(planned.stdout)).toMatchObject({
        environments: [{ release, changes: [{}] }],
      });
      expect((await run('apply', '--yes')).code).toBe(0);
      expect(fronted.writes()).toHaveLength(1);
    },
  );
});

describe.each(['app-server', 'agent-server'] as const)(
  'two mcp servers of one name on %s',
  (dialect) => {
    const OTHER = { agent_settings_diff: { mcp_config: { x: { command: 'run', args: [] } } } };

    it.each([
      [
        'declared twice',
        'mcp_config: { stdio_servers: [{ name: x, command: run }], shttp_servers: [{ name: x, url: "https://a.example.com/mcp" }] }',
        '',
      ],
      [
        'declared beside one that is unmanaged',
        'mcp_config: { stdio_servers: [], shttp_servers: [{ name: x, url: "https://a.example.com/mcp" }] }',
        'unmanaged: ["mcp_config.stdio_servers[x]"]\n',
      ],
    ])(
      '%s: the plan ends as the apply would, says which name it is, and nothing is sent',
      async (_, settings, more) => {
        const fronted = await service(dialect);
        await store(fronted, dialect, OTHER);
        const run = runs(fronted.url, settings, more);
        const ends = [await run('plan'), await run('apply', '--yes')];
        for (const { code, stdout, stderr } of ends) {
          expect([code, stdout + stderr]).toEqual([3, expect.stringContaining('the name x')]);
        }
        expect(fronted.writes()).toEqual([]);
      },
    );
  },
);

describe.each(['app-server', 'agent-server'] as const)(
  'what another client does beside a write on %s',
  (dialect) => {
    /** Runs an apply while somebody writes right before, or right after, its write. */
    async function beside(when: 'before' | 'after', settings: string, body: unknown) {
      const fronted = await service(dialect);
      await store(fronted, dialect, { agent_settings_diff: { llm: { num_retries: 4 } } });
      let isDone = false;
      fronted.before = async ({ method }) => {
        const isWrite = method !== 'GET';
        const isDue = when === 'before' ? isWrite : !isWrite && fronted.writes().length > 0;
        if (!isDue || isDone) return;
        isDone = true;
        await store(fronted, dialect, body);
      };
      const { code, stdout, stderr } = await runs(fronted.url, settings)('apply', '--yes');
      return { code, text: stdout + stderr };
    }

    it.each(['before', 'after'] as const)(
      'right %s it to a native value that was its default is named',
      async (when) => {
        const body = { agent_settings_diff: { llm: { top_p: 0.3 } } };
        const { code, text } = await beside(when, 'max_iterations: 7', body);
        expect(code).toBe(8);
        expect(text).toContain('agent_settings.llm.top_p');
        expect(text).not.toContain('does not keep what it is sent');
      },
    );

    it('to a declared value that was not sent is not put down to the service', async () => {
      const body = { agent_settings_diff: { llm: { num_retries: 9 } } };
      const settings = 'max_iterations: 7\nagent_settings: { llm: { num_retries: 4 } }';
      const { code, text } = await beside('after', settings, body);
      expect(code).toBe(8);
      expect(text).toContain('changed during the write by another client');
      expect(text).not.toContain('does not keep what it is sent');
    });

    it('that adds an mcp server is foreign, and no advice makes it stay', async () => {
      const evil = {
        mcp_config: { evil: { url: 'https://evil.example.net/mcp', transport: 'http' } },
      };
      const settings =
        'max_iterations: 7\nmcp_config: { sse_servers: [], stdio_servers: [], shttp_servers: [] }';
      const { code, text } = await beside('after', settings, { agent_settings_diff: evil });
      expect(code).toBe(8);
      expect(text).toContain('appeared during the write: another client added it');
      expect(text).not.toContain('unmanaged');
      expect(text).not.toContain('adds it automatically');
    });
  },
);

it('a base of worktrees that needs a reference and has none is refused by the plan', async () => {
  const fronted = await service('agent-server');
  const alone = 'conversation_settings: { worktree_base: ref }';
  for (const args of [['plan'], ['apply', '--yes']]) {
    const { code, stdout, stderr } = await runs(fronted.url, alone)(...args);
    expect(code).toBe(3);
    expect(stdout + stderr).toContain('conversation_settings.worktree_base_ref must be set');
  }
  expect(fronted.writes()).toEqual([]);
  const both = 'conversation_settings: { worktree_base: ref, worktree_base_ref: develop }';
  expect((await runs(fronted.url, both)('apply', '--yes')).code).toBe(0);
  expect((await runs(fronted.url, alone)('apply', '--yes')).code).toBe(0);
});
