import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/command-table.ts';
import { completionCommand } from '../../src/cli/commands/completion.ts';
import { SCHEMAS } from '../../src/cli/commands/schema.ts';
import { SHELLS, type Shell } from '../../src/cli/completion/choices.ts';
import { completionScript } from '../../src/cli/completion/completion-script.ts';
import { outputsFrom } from '../../src/cli/flags.ts';
import { formatsFor } from '../../src/cli/formats.ts';
import { fields } from '../../src/model/field.ts';
import { folderWith } from '../fixture/command.ts';
import { runFunction } from '../fixture/command-function.ts';

const root = join(import.meta.dirname, '../..');

const SETTINGS = `version: 1
server: { url: https://a.example.com }
environments: { staging: {}, production: {} }
`;

let folder: ReturnType<typeof folderWith>;

/** A `setpoint` to be found by a shell: the command itself, as far as completion goes. */
async function installSetpoint(path: string): Promise<void> {
  const entry = join(path, 'entry.mjs');
  writeFileSync(
    entry,
    `import { completionCommand } from ${JSON.stringify(join(root, 'src/cli/commands/completion.ts'))};
const [command, ...rest] = process.argv.slice(2);
const flags = {};
for (let at = 0; at < rest.length; at += 2) {
  if (rest[at] === '--list') flags.list = rest[at + 1];
  else if (rest[at] === '-f') flags.file = [...(flags.file ?? []), rest[at + 1]];
  else process.exit(3);
}
const { env, stdin, stdout, stderr } = process;
const signal = new AbortController().signal;
process.exitCode = command === 'completion' ? await completionCommand(flags, { env, stdin, stdout, stderr, signal, abandon: signal }) : 3;
`,
  );
  const bundle = await rolldown({ input: entry, platform: 'node', logLevel: 'silent' });
  await bundle.write({ dir: join(path, 'bin'), format: 'esm', entryFileNames: 'main.mjs' });
  writeFileSync(
    join(path, 'bin/setpoint'),
    `#!/bin/sh\nexec "${process.execPath}" "${path}/bin/main.mjs" "$@"\n`,
  );
  chmodSync(join(path, 'bin/setpoint'), 0o755);
}

let installed: ReturnType<typeof folderWith>;
beforeAll(async () => {
  installed = folderWith({});
  await installSetpoint(installed.path);
  for (const shell of SHELLS)
    writeFileSync(join(installed.path, `script.${shell}`), completionScript(shell, COMMANDS));
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

const names = (entries: typeof COMMANDS): string[] =>
  entries.map(({ spec }) => spec.split(' ')[0] ?? '');

for (const shell of SHELLS) {
  const there = has(shell);
  describe(there ? shell : `${shell} (skipped: no ${shell})`, () => {
    const completes = it.skipIf(!there);

    completes('commands, all of them and by their beginning', () => {
      expect(offered(shell, 'setpoint ')).toEqual([...names(COMMANDS), 'help'].toSorted());
      expect(offered(shell, 'setpoint pl')).toEqual(['plan']);
      expect(offered(shell, 'setpoint --v')).toEqual(['--version']);
    });

    completes('the flags of each command, as the table has them, and no other', () => {
      for (const { spec, flags } of COMMANDS.filter((entry) => entry.flags.length > 0)) {
        const options = flags.map((flag) => flag()).filter(({ hidden }) => !hidden);
        const long = options.map(({ long }) => long ?? '').concat('--help');
        expect(offered(shell, `setpoint ${spec.split(' ')[0]} --`), spec).toEqual(long.toSorted());
      }
      expect(offered(shell, 'setpoint plan --exi')).toEqual(['--exit-code']);
    });

    completes('environments, from the file that the line names', () => {
      expect(offered(shell, 'setpoint plan -e ')).toEqual(['production', 'staging']);
      expect(offered(shell, 'setpoint plan --env pro')).toEqual(['production']);
      expect(offered(shell, 'setpoint apply --yes -e staging -e s')).toEqual(['staging']);
      writeFileSync(join(folder.path, 'x.yaml'), SETTINGS.replace('staging', 'elsewhere'));
      expect(offered(shell, 'setpoint plan -f x.yaml -e ')).toEqual(['elsewhere', 'production']);
      expect(offered(shell, 'setpoint plan --file=x.yaml -e else')).toEqual(['elsewhere']);
      expect(offered(shell, 'setpoint plan -e ', { SETPOINT_FILE: 'x.yaml' })).toEqual([
        'elsewhere',
        'production',
      ]);
    });

    completes('nothing, and silently, where the file is not there or not right', () => {
      expect(offered(shell, 'setpoint plan -f nowhere.yaml -e ')).toEqual([]);
      expect(offered(shell, 'setpoint plan -f broken.yaml -e ')).toEqual([]);
    });

    completes('nothing that a shell would run', () => {
      const env = { SETPOINT_FILE: 'settings.yaml,$(touch hacked).yaml' };
      offered(shell, 'setpoint plan -e ', env);
      offered(shell, 'setpoint plan -f $(touch hacked).yaml -e ');
      expect(existsSync(join(folder.path, 'hacked'))).toBe(false);
    });

    completes('formats, rules, resources, schemas and shells', () => {
      expect(offered(shell, 'setpoint plan -o ')).toEqual(formatsFor('plan').toSorted());
      expect(offered(shell, 'setpoint validate -o s')).toEqual(['sarif']);
      expect(offered(shell, 'setpoint get settings -o m')).toEqual([]);
      expect(offered(shell, 'setpoint plan --output js')).toEqual(['json']);
      expect(offered(shell, 'setpoint apply --allow max')).toEqual(['max-changes']);
      expect(offered(shell, 'setpoint get s')).toEqual(['sandboxes', 'settings', 'specs']);
      expect(offered(shell, 'setpoint schema ')).toEqual(SCHEMAS.toSorted());
      expect(offered(shell, 'setpoint completion ')).toEqual(SHELLS.toSorted());
      expect(offered(shell, 'setpoint help sc')).toEqual(['schema']);
    });

    completes('a further resource behind a comma', () => {
      const words = offered(shell, 'setpoint get settings,s').map((word) =>
        word.replace('settings,', ''),
      );
      expect(words).toEqual(['sandboxes', 'specs']);
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

    completes('files where a file is meant, and nothing where anything may stand', () => {
      expect(offered(shell, 'setpoint plan -f br')).toEqual(['broken.yaml']);
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
    expect(stdout).toBe(completionScript(shell, COMMANDS));
  });

  it.each([
    ['bahs', 'Did you mean bash?'],
    ['tcsh', 'Available: bash, zsh, fish.'],
    ['', 'Available: bash, zsh, fish.'],
  ])('of a shell %j it says what there is: exit 3', async (name, hint) => {
    const ended = await runFunction(completionCommand, {}, {}, name);
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toContain(hint);
  });
});

describe('what is said twice is the same', () => {
  it('every format that can be completed is one, and there is no other', () => {
    const known = formatsFor('validate');
    const formats = known.map((format) => outputsFrom({ output: [format] }, {}, known)[0]?.format);
    expect(formats).toEqual(known);
    expect(() => outputsFrom({ output: ['?'] }, {}, known)).toThrow(
      expect.objectContaining({ hint: `Available: ${known.join(', ')}.` }),
    );
  });

  it('the schemas are those of the folder', () => {
    const files = readdirSync(join(root, 'schemas')).map((name) =>
      name.replace('.schema.json', ''),
    );
    expect(SCHEMAS.toSorted()).toEqual(files.toSorted());
  });
});
