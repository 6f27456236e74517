import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { dedent } from '../../fixture/dedent.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';

let stores: StoreServer[];
let folder: ReturnType<typeof folderWith>;

const settingsWith = (labels: string) => dedent`
  version: 1
  settings: { language: fr, sandbox_api_key: null }
  ${labels}
  environments:
    first:
      labels: { ring: "0" }
      server: { url: "${stores[0]?.url}" }
    second:
      labels: { ring: "1" }
      server: { url: "${stores[1]?.url}" }
    third:
      labels: { ring: "1", region: us }
      server: { url: "${stores[2]?.url}" }
`;

beforeEach(async () => {
  stores = await Promise.all([1, 2, 3].map(() => startStore({}, { language: 'en' })));
  folder = folderWith({ 'settings.yaml': settingsWith('labels: { region: eu }') });
});
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  folder.remove();
});

const run = (args: string[], env: Record<string, string> = {}) =>
  setpoint(args, { cwd: folder.path, env });
const posts = () => stores.map((store) => store.posts());
const named = async (args: string[], env: Record<string, string> = {}) => {
  const { stdout, stderr } = await run([...args, '-o', 'json'], env);
  const document = JSON.parse(stdout) as { environments?: { name: string }[] };
  return document.environments?.map(({ name }) => name) ?? stderr;
};

describe('-l chooses environments by their labels', () => {
  it.each([
    [
      ['-l', 'ring=1'],
      ['second', 'third'],
    ],
    [
      ['--selector', 'ring in (0,1),region!=us'],
      ['first', 'second'],
    ],
    [['--selector=!tier'], ['first', 'second', 'third']],
    [['-l', 'ring=1', '-l', 'region=us'], ['third']],
    [
      ['-e', 'third,first', '-l', 'region'],
      ['third', 'first'],
    ],
    [['-e', '*r*', '-l', 'ring=0'], ['first']],
  ])('%j', async (args, expected) => {
    expect(await named(['plan', ...args])).toEqual(expected);
  });

  it('of every command that takes -e', async () => {
    for (const command of [
      ['plan'],
      ['drift'],
      ['get', 'settings'],
      ['explain', 'language'],
      ['doctor'],
      ['pull', '--check'],
    ])
      expect({ command, chosen: await named([...command, '-l', 'region=us']) }).toEqual({
        command,
        chosen: ['third'],
      });
    expect((await run(['validate', '-l', 'ring=1'])).stdout).toBe('Valid: second, third.\n');
    expect((await run(['explain', '-l', 'ring=0'])).stdout).toContain('name: first');
  });

  it('is a choice of apply, which writes to no other', async () => {
    const unnamed = await run(['apply', '--yes']);
    expect(unnamed.code).toBe(3);
    expect(unnamed.stderr).toContain(
      'Name them with -e (first, second, third), choose by label with -l, or take all with --all.',
    );
    expect(posts()).toEqual([0, 0, 0]);
    expect((await run(['apply', '--yes', '-l', 'ring=0'])).code).toBe(0);
    expect(posts()).toEqual([1, 0, 0]);
    expect((await run(['apply', '--yes', '-l', 'ring=1'])).code).toBe(0);
    expect(posts()).toEqual([1, 1, 1]);
  });

  it.each([
    [['-l', 'ring=9'], 'Available: ring=0, ring=1.'],
    [['-l', ''], 'The selector "" is not valid: it is empty.'],
    [['-l', 'ring in (0'], 'a comma or ) is missing before the end'],
    [['--all', '-l', 'ring=0'], '--all and -l exclude each other.'],
    [['-e', 'nope', '-l', 'ring=0'], 'No environment named "nope".'],
  ])('%j is a usage error, and nothing is sent', async (args, message) => {
    for (const command of ['plan', 'apply']) {
      const { code, stderr } = await run([command, ...args]);
      expect(code).toBe(3);
      expect(stderr).toContain(message);
    }
    expect(stores.flatMap((store) => store.requests)).toEqual([]);
  });

  it('a saved plan has no labels', async () => {
    await run(['plan', '--out', 'plan.json']);
    const { code, stderr } = await run(['plan', 'plan.json', '-l', 'ring=0']);
    expect(code).toBe(3);
    expect(stderr).toContain('--selector is for a new plan');
    expect((await run(['apply', 'plan.json', '-l', 'ring=0'])).code).toBe(0);
    expect(posts()).toEqual([1, 0, 0]);
  });

  it('of many environments messages name 20, and how many more there are', async () => {
    const many = Array.from({ length: 300 }, (_, at) => `  e${at}: {}`).join('\n');
    writeFileSync(
      join(folder.path, 'many.yaml'),
      `version: 1\nserver: { url: "${stores[0]?.url}" }\nlabels: { ring: "0" }\nenvironments:\n${many}\n`,
    );
    const { stdout } = await run(['validate', '-f', 'many.yaml', '-l', 'ring=0']);
    expect(stdout).toMatch(/^Valid: (e\d+, ){19}e19 and 280 more\.\n$/);
    const refused = await run(['apply', '-f', 'many.yaml', '--yes']);
    expect(refused.stderr).toContain('There are 300 environments, and apply needs to know which.');
    expect(refused.stderr).toContain('e19 and 280 more), choose by label with -l, or take all');
  });

  it('the library takes it, too', async () => {
    const { environments } = await plan({
      file: join(folder.path, 'settings.yaml'),
      selector: ['ring=1', 'region!=us'],
      env: {},
    });
    expect(environments.map(({ name }) => name)).toEqual(['second']);
  });
});

describe('labels choose, and change nothing else', () => {
  it('a plan with other labels is the same', async () => {
    const planned = async () => {
      const { stdout } = await run(['plan', '-o', 'json']);
      const { environments } = JSON.parse(stdout) as { environments: object[] };
      // The digests have another salt each time, and places are those of another line.
      return JSON.stringify(environments, (name, value: unknown) =>
        ['digests', 'source'].includes(name) ? null : value,
      );
    };
    const before = await planned();
    writeFileSync(
      join(folder.path, 'settings.yaml'),
      settingsWith('labels: { region: asia, more: "1" }'),
    );
    expect(await planned()).toBe(before);
  });

  it('a saved plan still approves when labels have changed', async () => {
    await run(['plan', '--out', 'plan.json']);
    writeFileSync(join(folder.path, 'settings.yaml'), settingsWith('labels: { region: asia }'));
    expect((await run(['apply', 'plan.json', '--all'])).code).toBe(0);
    expect(posts()).toEqual([1, 1, 1]);
  });
});
