import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OutcomeDocument } from '../../../src/reconciler/model/outcome.ts';
import type { PlanDocument } from '../../../src/reconciler/model/plan.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { LONG, itEach } from '../../fixture/long.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';

const NAMES = Array.from({ length: 20 }, (_, at) => `customer-${at}`);
let store: StoreServer;
let folder: ReturnType<typeof folderWith>;

/** Every environment is behind a path of its own, so that the server sees who was asked. */
beforeAll(async () => {
  store = await startStore({}, { language: 'en' });
  store.intercept = (request, _response, proceed) => {
    request.url = (request.url ?? '').replace(/^\/customer-\d+/, '');
    proceed();
    return true;
  };
  const environments = NAMES.map(
    (name, at) =>
      `  ${name}: { labels: { ring: "${at % 2}" }, server: { url: "${store.url}/${name}" } }`,
  );
  folder = folderWith({
    'settings.yaml': `version: 1\nsettings: { language: en, sandbox_api_key: null }\nenvironments:\n${environments.join('\n')}\n`,
  });
});
afterAll(async () => {
  await store.close();
  folder.remove();
});
beforeEach(() => {
  store.requests.length = 0;
});

const run = (args: readonly string[], env: Record<string, string> = {}) =>
  setpoint(args, { cwd: folder.path, env });

/** The environments that were asked, as the server saw them, in the order of the file. */
const asked = () => {
  const seen = store.requests.map(({ path }) => /^\/([^/]+)/.exec(path)?.[1] ?? '');
  return NAMES.filter((name) => seen.includes(name));
};

async function planned(args: readonly string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await run(['plan', '-o', 'json', ...args], env);
  const document = JSON.parse(stdout) as PlanDocument;
  return {
    code,
    stderr,
    shard: document.shard,
    names: document.environments?.map(({ name }) => name),
  };
}

describe('all shards together are all environments, each once', () => {
  itEach([1, 2, 3, 5, 8, 16, 64], (count) => [1, 3, 8].includes(count))('%i', async (count) => {
    const all: string[] = [];
    for (let index = 0; index < count; index += 1) {
      store.requests.length = 0;
      const { code, stderr, shard, names } = await planned(['--shard', `${index}/${count}`]);
      expect({ code, shard }).toEqual({ code: 0, shard: { index, count } });
      expect(asked()).toEqual(names);
      const some =
        names.length === 0
          ? 'none of 20 environments, nothing to do'
          : `${names.length} of 20 environments`;
      expect(stderr).toBe(`Shard ${index}/${count}: ${some}.\n`);
      all.push(...names);
    }
    expect(all.toSorted()).toEqual(NAMES.toSorted());
  });

  it('also of those that -e and -l choose', async () => {
    const all: string[] = [];
    for (const shard of ['0/3', '1/3', '2/3'])
      all.push(...(await planned(['-l', 'ring=0', '-e', 'customer-1*', '--shard', shard])).names);
    expect(all.toSorted()).toEqual([
      'customer-10',
      'customer-12',
      'customer-14',
      'customer-16',
      'customer-18',
    ]);
  });

  it('an environment stays in its shard whatever else is chosen', async () => {
    const [whole, part] = [
      await planned(['--shard', '1/4']),
      await planned(['--shard', '1/4', '-l', 'ring=1']),
    ];
    expect(part.names).toEqual(whole.names.filter((name) => part.names.includes(name)));
  });
});

describe('what a run prints names its shard', () => {
  const COMMANDS = [['plan'], ['drift'], ['apply', '--all', '--yes']];

  it.each([
    ['text', (count: string) => new RegExp(`^${count} of shard 2/5[:.]`, 'm')],
    ['markdown', (count: string) => new RegExp(`^## [A-Z][a-z]+: ${count} of shard 2/5$`, 'm')],
    ['html', () => /<p class="soft">setpoint [a-z]+, shard 2\/5<\/p>/],
  ] as const)('as %s, whether it has many environments, one or none', async (format, named) => {
    const { names } = await planned(['--shard', '2/5']);
    const [first = ''] = names;
    const other = NAMES.find((name) => !names.includes(name)) ?? '';
    for (const [chosen, count] of [
      ['*', `${names.length} environments`],
      [first, '1 environment'],
      [other, 'no environments'],
    ] as const) {
      for (const command of COMMANDS) {
        const args = [...command, '-e', chosen, '-o', format].filter((arg) => arg !== '--all');
        expect((await run([...args, '--shard', '2/5'])).stdout).toMatch(named(count));
        expect((await run(args)).stdout).not.toContain('shard');
      }
    }
  });

  it('also when a saved plan is shown, but not what -e takes out of it', LONG, async () => {
    await run(['plan', '--shard', '2/5', '-q', '--out', 'named.json']);
    expect((await run(['plan', 'named.json'])).stdout).toContain('of shard 2/5');
    const { names } = await planned(['--shard', '2/5']);
    const part = await run(['plan', 'named.json', '-e', names[0] ?? '']);
    expect(part.stdout).not.toContain('shard');
  });
});

describe('a shard without an environment', () => {
  const empty = async () => {
    for (let index = 0; index < 64; index += 1)
      if ((await planned(['--shard', `${index}/64`])).names.length === 0) return `${index}/64`;
    throw new Error('64 shards of 20 environments, and none is empty');
  };

  it('is in sync, and says that it has none: exit 0 of every command', async () => {
    const shard = await empty();
    store.requests.length = 0;
    for (const args of [
      ['plan', '--exit-code'],
      ['drift', '--strict'],
      ['apply', '--all', '--yes'],
      ['plan', '--rotate', 'llm_api_key'],
    ]) {
      const { code, stderr } = await run([...args, '--shard', shard]);
      expect({ args, code, stderr }).toEqual({
        args,
        code: 0,
        stderr: `Shard ${shard}: none of 20 environments, nothing to do.\n`,
      });
      for (const format of ['json', 'markdown', 'github', 'html'])
        expect((await run([...args, '--shard', shard, '-o', format])).code).toBe(0);
    }
    expect(store.requests).toEqual([]);
    const saved = await run(['plan', '--shard', shard, '--out', 'empty.json']);
    expect(saved.code).toBe(0);
    expect((await run(['apply', 'empty.json', '--all', '--shard', shard])).code).toBe(0);
    expect((await run(['plan', 'empty.json'])).code).toBe(0);
  });

  it('a selector that fits no environment at all is still an error', async () => {
    const { code, stderr } = await run(['plan', '-l', 'ring=7', '--shard', '0/2']);
    expect(code).toBe(3);
    expect(stderr).toContain('Available: ring=0, ring=1.');
  });
});

describe('apply', () => {
  it('needs to know which environments, in every shard alike', async () => {
    for (let index = 0; index < 40; index += 1) {
      const { code, stderr } = await run(['apply', '--yes', '--shard', `${index}/40`]);
      expect(code).toBe(3);
      expect(stderr).toContain('There are 20 environments, and apply needs to know which.');
    }
  });

  it('writes to those of its shard, and the document has the shard', async () => {
    store.stored = { language: 'fr' };
    const { code, stdout } = await run([
      'apply',
      '--all',
      '--yes',
      '--shard',
      '0/10',
      '-o',
      'json',
    ]);
    const { shard, environments } = JSON.parse(stdout) as OutcomeDocument;
    expect({ code, shard }).toEqual({ code: 0, shard: { index: 0, count: 10 } });
    expect(asked()).toEqual(environments.map(({ name }) => name));
    store.stored = { language: 'en' };
  });

  it('goes as far as the plan of all environments, or of the same shard, approves', async () => {
    await run(['plan', '--out', 'all.json']);
    await run(['plan', '--shard', '2/5', '--out', 'shard.json']);
    expect((await run(['apply', 'all.json', '--all', '--shard', '2/5'])).code).toBe(0);
    expect((await run(['apply', 'shard.json', '--all', '--shard', '2/5'])).code).toBe(0);
    expect((await run(['apply', 'shard.json', '--all', '--shard', '3/5'])).code).toBe(6);
    const shown = await run(['plan', 'shard.json', '--shard', '2/5']);
    expect([shown.code, shown.stderr]).toEqual([
      3,
      expect.stringContaining('--shard is for a new plan'),
    ]);
  });
});

describe('a shard that cannot be', () => {
  it.each<[string[], string]>([
    [['--shard', '4/4'], '--shard: there is no shard 4 of 4.'],
    [['--shard', '1/1'], 'The only one is 0/1.'],
    [['--shard', '0/0'], '--shard: there are 1 to 1000 shards.'],
    [['--shard', '0/1001'], '--shard: there are 1 to 1000 shards.'],
    ...['1', '', '/', '1/', '/4', '-1/4', '1/4/5', '1 / 4', '1.0/4', 'a/b', '0x1/4', '1/99999'].map(
      (text): [string[], string] => [
        ['--shard', text],
        '--shard: a shard is its number, from 0, and how many there are.',
      ],
    ),
  ])('%j is a usage error, and nothing is sent', async (args, message) => {
    for (const command of [['plan'], ['apply', '--all', '--yes']]) {
      const { code, stderr } = await run([...command, ...args]);
      expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining(message) });
    }
    expect(store.requests).toEqual([]);
  });

  it('of the library, too', async () => {
    const text = 'version: 1\nserver: { url: "embedded:" }\n';
    for (const shard of [
      { index: 2, count: 2 },
      { index: 0.5, count: 2 },
      { index: -1, count: 2 },
      { index: 0, count: 0 },
    ])
      await expect(plan({ text, shard, env: {} })).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('a shard refuses what the whole run would refuse', () => {
  const inEachShard = async (args: readonly string[], env: Record<string, string> = {}) => {
    const found: { code: number | null; stderr: string }[] = [];
    for (const shard of ['0/4', '1/4', '2/4', '3/4']) {
      const { code, stderr } = await run([...args, '--shard', shard], env);
      found.push({ code, stderr });
    }
    return found;
  };
  const write = (name: string, text: string) => writeFileSync(join(folder.path, name), text);
  const environments = (server: (name: string, at: number) => string) =>
    NAMES.map((name, at) => `  ${name}: { server: { ${server(name, at)} } }\n`).join('');

  it('a policy that one environment breaks', async () => {
    write(
      'policy.json',
      JSON.stringify({ properties: { labels: { properties: { odd: false } } } }),
    );
    write(
      'odd.yaml',
      `version: 1\nsettings: { language: en, sandbox_api_key: null }\nenvironments:\n${environments((name) => `url: "${store.url}/${name}"`)}  odd: { labels: { odd: "yes" }, server: { url: "${store.url}/odd" } }\n`,
    );
    store.requests.length = 0;
    for (const command of [['plan'], ['drift'], ['apply', '--all', '--yes']])
      for (const { code } of await inEachShard([
        ...command,
        '-f',
        'odd.yaml',
        '--policy',
        'policy.json',
      ]))
        expect(code).toBe(5);
    expect(store.requests).toEqual([]);
  });

  it('a key that goes to two origins, whichever shards have them; not one without a value', async () => {
    const keys = environments((name, at) => {
      const url = at === 0 ? 'https://other.example.com' : `${store.url}/${name}`;
      return `url: "${url}", api_key: "\${env:SHARED}"`;
    });
    write(
      'keys.yaml',
      `version: 1\nsettings: { language: en, sandbox_api_key: null }\nenvironments:\n${keys}`,
    );
    store.requests.length = 0;
    for (const { code, stderr } of await inEachShard(['plan', '-f', 'keys.yaml'], {
      SHARED: 'k-1',
    })) {
      expect(stderr).toContain('SHARED would be sent as the key of two origins');
      expect(code).toBe(3);
    }
    expect(store.requests).toEqual([]);
  });

  it('but needs no key of another shard', async () => {
    const own = (name: string) => `KEY_${name.replace('-', '_').toUpperCase()}`;
    const keys = environments(
      (name) => `url: "${store.url}/${name}", api_key: "\${env:${own(name)}}"`,
    );
    write(
      'own.yaml',
      `version: 1\nsettings: { language: en, sandbox_api_key: null }\nenvironments:\n${keys}`,
    );
    const { names } = await planned(['--shard', '1/4']);
    const env = Object.fromEntries(names.map((name) => [own(name), 'k-1']));
    const { code, stdout } = await run(
      ['apply', '--all', '--yes', '-f', 'own.yaml', '--shard', '1/4', '-o', 'json'],
      env,
    );
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as OutcomeDocument).environments).toHaveLength(names.length);
  });
});
