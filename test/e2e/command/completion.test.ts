import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aboutFlag, COMMAND_NAMES, commandEntry } from '../../../src/command/cli/command-table.ts';
import { completionCommand } from '../../../src/command/cli/commands/completion.ts';
import { parseReportOutputs } from '../../../src/command/cli/flags.ts';
import { FAIL_ON, SCHEMAS, SHELLS, type Shell } from '../../../src/command/cli/words.ts';
import { fields } from '../../../src/reconciler/model/field.ts';
import { folderWith, setpoint } from '../../fixture/command.ts';
import { runFunction } from '../../fixture/command-function.ts';
import { LONG } from '../../fixture/long.ts';

const root = join(import.meta.dirname, '../../..');

const SETTINGS = `version: 1
server: { url: https://a.example.com }
environments: { staging: {}, production: {} }
`;

let folder: ReturnType<typeof folderWith>;

/** A folder with the built command as `setpoint`, and the script of each shell as it prints them. */
let installed: ReturnType<typeof folderWith>;
beforeAll(async () => {
  installed = folderWith({
    'bin/setpoint': `#!/bin/sh\nexec "${process.execPath}" "${root}/dist/bin/setpoint.cjs" "$@"\n`,
  });
  chmodSync(join(installed.path, 'bin/setpoint'), 0o755);
  for (const shell of SHELLS) {
    const { stdout } = await setpoint(['completion', shell], { cwd: installed.path });
    writeFileSync(join(installed.path, `script.${shell}`), stdout);
  }
});
afterAll(() => installed.remove());

beforeEach(() => {
  folder = folderWith({
    'settings.yaml': SETTINGS,
    'other file.yaml': SETTINGS.replace('staging', 'elsewhere'),
    'broken.yaml': 'version: 2\n',
    '$(touch hacked).yaml': 'version: 1\nserver: { url: https://a.example.com }\n',
  });
  return () => folder.remove();
});

const has = (shell: Shell) => spawnSync(shell, ['-c', 'exit 0']).status === 0;

/** What a shell offers after a line. */
const OFFERS: Readonly<Record<Shell, (line: string) => readonly [string, ...string[]]>> = {
  bash: (line) => ['bash', '--norc', ...fixture('bash'), ...asReadlineParts(line)],
  zsh: (line) => ['zsh', '-f', ...fixture('zsh'), line],
  fish: (line) => ['fish', '--no-config', ...fixture('fish'), line],
};

function fixture(shell: Shell): [string, string] {
  return [join(root, `test/fixture/complete.${shell}`), join(installed.path, `script.${shell}`)];
}

function asReadlineParts(line: string): string[] {
  return line
    .split(' ')
    .flatMap((word) => word.split(/([=:])/).filter((part, at) => part !== '' || at === 0));
}

function offered(shell: Shell, line: string, env: Record<string, string> = {}): string[] {
  const [command, ...args] = OFFERS[shell](line);
  const { stdout, stderr } = spawnSync(command, args, {
    cwd: folder.path,
    encoding: 'utf8',
    env: {
      PATH: [join(installed.path, 'bin'), process.env['PATH']].join(delimiter),
      HOME: folder.path,
      TERM: 'dumb',
      ...env,
    },
  });
  expect(stderr).toBe('');
  return stdout
    .split('\n')
    .filter((word) => word !== '')
    .toSorted();
}

const formatsFor = (name: (typeof COMMAND_NAMES)[number]) => commandEntry(name).formats ?? [];

for (const shell of SHELLS) {
  const there = has(shell);
  const isShort = shell === 'bash' ? {} : LONG;
  describe(there ? shell : `${shell} (skipped: no ${shell})`, isShort, () => {
    const completes = it.skipIf(!there);

    completes('commands, all of them and by their beginning', () => {
      expect(offered(shell, 'setpoint ')).toEqual([...COMMAND_NAMES, 'help'].toSorted());
      expect(offered(shell, 'setpoint pl')).toEqual(['plan']);
      expect(offered(shell, 'setpoint --v')).toEqual(['--version']);
    });

    completes('the flags of each command, as the table has them, and no other', () => {
      for (const name of COMMAND_NAMES) {
        const shown = commandEntry(name).flags.filter((flag) => aboutFlag(name, flag) !== null);
        const all = [...shown, '--help'].toSorted();
        expect(offered(shell, `setpoint ${name} --`), name).toEqual(all);
      }
      expect(offered(shell, 'setpoint plan --exi')).toEqual(['--exit-code']);
      expect(offered(shell, 'setpoint apply --yes --ye')).toEqual([]);
      expect(offered(shell, 'setpoint apply --rotate all --rot')).toEqual(['--rotate']);
    });

    completes('environments, from the file that the line names', () => {
      expect(offered(shell, 'setpoint plan -e ')).toEqual(['production', 'staging']);
      expect(offered(shell, 'setpoint plan --env pro')).toEqual(['production']);
      expect(offered(shell, 'setpoint apply --yes -e staging -e s')).toEqual(['staging']);
      writeFileSync(join(folder.path, 'x.yaml'), SETTINGS.replace('staging', 'elsewhere'));
      expect(offered(shell, 'setpoint plan -f x.yaml -e ')).toEqual(['elsewhere', 'production']);
      expect(offered(shell, 'setpoint plan --file=x.yaml -e else')).toEqual(['elsewhere']);
    });

    completes(
      'pairs of labels, also after a comma, and those of the file that the line names',
      () => {
        const labels =
          'environments: { a: { labels: { ring: "0" } }, b: { labels: { ring: "1", tier: x } } }';
        writeFileSync(
          join(folder.path, 'x.yaml'),
          `version: 1\nserver: { url: https://a.example.com }\n${labels}\n`,
        );
        const value = (pair: string) =>
          shell === 'bash' ? pair.slice(pair.indexOf('=') + 1) : pair;
        expect(offered(shell, 'setpoint plan -f x.yaml -l ')).toEqual([
          'ring=0',
          'ring=1',
          'tier=x',
        ]);
        expect(offered(shell, 'setpoint apply -f x.yaml -l ti')).toEqual(['tier=x']);
        expect(offered(shell, 'setpoint plan -f x.yaml -l ring=')).toEqual(
          ['ring=0', 'ring=1'].map(value),
        );
        expect(offered(shell, 'setpoint plan -f x.yaml --selector t')).toEqual(['tier=x']);
        expect(offered(shell, 'setpoint plan -l ')).toEqual([]);
      },
    );

    completes('nothing, and silently, if the file does not exist or is not valid', () => {
      expect(offered(shell, 'setpoint plan -f nowhere.yaml -e ')).toEqual([]);
      expect(offered(shell, 'setpoint plan -f broken.yaml -e ')).toEqual([]);
    });

    completes('nothing that a shell would run', () => {
      offered(shell, 'setpoint plan -f $(touch hacked).yaml -e ');
      expect(existsSync(join(folder.path, 'hacked'))).toBe(false);
    });

    completes('formats, rules, resources, schemas and shells', () => {
      expect(offered(shell, 'setpoint plan -o ')).toEqual(formatsFor('plan').toSorted());
      expect(offered(shell, 'setpoint validate -o s')).toEqual(['sarif']);
      expect(offered(shell, 'setpoint get settings -o m')).toEqual([]);
      expect(offered(shell, 'setpoint plan --output js')).toEqual(['json']);
      expect(offered(shell, 'setpoint apply --allow max')).toEqual(['max-changes']);
      expect(offered(shell, 'setpoint drift --fail-on ')).toEqual(FAIL_ON.toSorted());
      expect(offered(shell, 'setpoint serve --dialect ag')).toEqual(['agent-server']);
      expect(offered(shell, 'setpoint get s')).toEqual([
        'sandboxes',
        'secrets',
        'server',
        'settings',
        'skills',
        'specs',
      ]);
      expect(offered(shell, 'setpoint schema ')).toEqual([...SCHEMAS, 'pulled'].toSorted());
      expect(offered(shell, 'setpoint completion ')).toEqual(SHELLS.toSorted());
      expect(offered(shell, 'setpoint help sc')).toEqual(['schema']);
    });

    completes('a further resource behind a comma', () => {
      const words = offered(shell, 'setpoint get settings,s').map((word) =>
        word.replace('settings,', ''),
      );
      expect(words).toEqual(['sandboxes', 'secrets', 'server', 'skills', 'specs']);
    });

    completes('names of fields, for explain and for --rotate', () => {
      const found = offered(shell, 'setpoint explain ');
      for (const { name } of fields()) expect(found).toContain(name);
      expect(offered(shell, 'setpoint explain server.u')).toEqual(['server.url']);
      expect(offered(shell, 'setpoint explain guards.ma')).toEqual(['guards.max_changes']);
      const server = '--server http://127.0.0.1:3000';
      expect(offered(shell, `setpoint get ${server} sp`)).toEqual(['specs']);
      expect(offered(shell, 'setpoint apply --rotate ')).toEqual([
        'all',
        'llm_api_key',
        'sandbox_api_key',
        'search_api_key',
        'secrets_store',
      ]);
    });

    completes('files for a file, and nothing for a free text', () => {
      expect(offered(shell, 'setpoint plan -f br')).toEqual(['broken.yaml']);
      for (const line of ['setpoint plan --file=br', 'setpoint plan -o json=br'])
        expect(offered(shell, line).map((word) => word.replace(/^.*=/, ''))).toEqual([
          'broken.yaml',
        ]);
      expect(offered(shell, 'setpoint plan --timeout ')).toEqual([]);
      expect(offered(shell, 'setpoint validate ').filter((word) => !word.startsWith('-'))).toEqual(
        [],
      );
    });
  });
}

describe('the command', () => {
  it.each(SHELLS)('prints the script of %s', async (shell) => {
    const { code, stdout, stderr } = await runFunction(completionCommand, {}, {}, shell);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`setpoint completion ${shell}`);
    expect(stdout).toContain(`completion --complete ${shell}`);
  });

  it.each([
    ['bahs', 'Did you mean bash?'],
    ['tcsh', 'Available: bash, zsh, fish.'],
    ['', 'Available: bash, zsh, fish.'],
  ])('of a shell %j names those that there are: exit 3', async (name, hint) => {
    const ended = await runFunction(completionCommand, {}, {}, name);
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toContain(hint);
  });
});

describe('setpoint completion --complete', () => {
  const complete = (...args: string[]) =>
    setpoint(['completion', '--complete', ...args], { cwd: folder.path });

  it('prints whole words with what they mean, for zsh and fish', async () => {
    const { stdout } = await complete('zsh', 'plan', '--exit');
    expect(stdout).toBe(`--exit-code\t${aboutFlag('plan', '--exit-code')}\n`);
    expect((await complete('fish', 'plan', '--env=st')).stdout).toBe('--env=staging\t\n');
    expect((await complete('fish', 'plan', '-o', 'json=x')).stdout).toBe(':files 5\n');
    expect((await complete('zsh', 'plan', '--file=x')).stdout).toBe(':files 7\n');
    expect((await complete('zsh', 'plan', '--output=json=x')).stdout).toBe(':files 14\n');
  });

  it('prints the part that bash replaces', async () => {
    const env = ['plan', '--env', '=', 'st'];
    expect((await complete('bash', ...env)).stdout).toBe('staging\n');
    expect((await complete('bash', 'plan', '--env', '=')).stdout).toBe('staging\nproduction\n');
    const server = ['get', '--server', 'http', ':', '//h', ':', '80', 'sp'];
    expect((await complete('bash', ...server)).stdout).toBe('specs\n');
  });

  it.each([[[]], [['bash']], [['tcsh', 'pl']], [['bash', 'nothing', 'x']], [['zsh', '--', '-']]])(
    'of %j ends well and prints no error',
    async (args) => {
      expect(await complete(...args)).toMatchObject({ code: 0, stderr: '' });
    },
  );

  it('loads the table of commands alone, unless a file or the schema is needed', () => {
    writeFileSync(
      join(folder.path, 'loaded.cjs'),
      `process.on('exit', () => console.error(Object.keys(require.cache).join()));`,
    );
    const loaded = (...words: string[]): string =>
      spawnSync(
        process.execPath,
        [
          '-r',
          './loaded.cjs',
          `${root}/dist/bin/setpoint.cjs`,
          'completion',
          '--complete',
          'zsh',
          ...words,
        ],
        { cwd: folder.path, encoding: 'utf8', env: {} },
      ).stderr;
    expect(loaded('apply', '--')).toContain('complete.cjs');
    expect(loaded('apply', '--')).not.toContain('chunks');
    expect(loaded('apply', '--allow', '')).not.toContain('chunks');
    expect(loaded('apply', '-e', '')).toContain('chunks');
  });
});

describe('what the table of commands lists', () => {
  it('of formats is what -o takes', () => {
    for (const name of COMMAND_NAMES) {
      const known = formatsFor(name);
      const formats = known.map(
        (format) => parseReportOutputs({ output: [`${format}=x`] }, known).at(-1)?.format,
      );
      expect(formats).toEqual(known);
    }
    const known = formatsFor('validate');
    expect(() => parseReportOutputs({ output: ['?'] }, known)).toThrow(
      expect.objectContaining({ hint: `Available: ${known.join(', ')}.` }),
    );
  });

  it('of schemas is what the folder has', () => {
    const files = readdirSync(join(root, 'schemas'))
      .filter((name) => name.endsWith('.schema.json'))
      .map((name) => name.replace('.schema.json', ''));
    expect(SCHEMAS.toSorted()).toEqual(files.toSorted());
  });
});
