import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';

const CANARY = 'canary-of-a-store-91';

const SETTINGS = `version: 1
settings:
  language: en
  llm_api_key: \${secret:store/llm/key}
  search_api_key: \${secret:store/llm/key}
secrets:
  NPM_TOKEN: { value: "\${secret:team/npm}", description: npm }
  GIT_TOKEN: { value: "\${secret:team/git}", description: git }
environments:
  here: { server: { url: "embedded:./here" } }
  there:
    server: { url: "embedded:./there" }
    settings: { llm_api_key: "\${secret:store/other/key}" }
`;

let folder: ReturnType<typeof folderWith>;
beforeEach(() => {
  folder = folderWith({ 'settings.yaml': SETTINGS });
});
afterEach(() => folder.remove());

/** A program that notes how it was called and what it was given, and answers. */
function program(name: string, body: string): string {
  const path = join(folder.path, name);
  const calls = join(folder.path, 'calls');
  writeFileSync(path, `#!/bin/sh\necho "${name} $*" >> ${calls}\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

function commands(store: object = {}): Record<string, string> {
  const value = program('store', `test -z "$HIDDEN" && printf '${CANARY}-%s\\n' "$2"`);
  const entry = (name: string): string => `"${name}":{"value":"${CANARY}-${name}","error":null}`;
  const all = program(
    'team',
    `cat >> ${folder.path}/input; printf '{${entry('npm')},${entry('git')}}'`,
  );
  const written = {
    store: { argv: [value, 'get', '{}'], ...store },
    team: { argv: [all], protocol: 'batch' },
  };
  return {
    SETPOINT_SECRET_COMMANDS: JSON.stringify(written),
    SETPOINT_STATE_KEY: 'state',
    HIDDEN: 'x',
  };
}

function calls(): readonly string[] {
  const path = join(folder.path, 'calls');
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map((line) => line.trim()).toSorted();
}

async function ran(args: readonly string[], env: Record<string, string>) {
  const ended = await setpoint(args, { cwd: folder.path, env });
  const files = ['.setpoint/fingerprints.json'].map((name) => join(folder.path, name));
  const kept = files.flatMap((path) => (existsSync(path) ? readFileSync(path, 'utf8') : []));
  expect([ended.stdout, ended.stderr, ...kept].join('\n')).not.toContain(CANARY);
  return ended;
}

describe('secrets that commands give', () => {
  it('each is asked for once in a run, for the chosen environment, and written and remembered', async () => {
    const env = commands();
    expect(await ran(['apply', '-e', 'here', '--yes'], env)).toMatchObject({ code: 0 });
    expect(calls()).toEqual(['store get llm/key', 'team']);
    expect(JSON.parse(readFileSync(join(folder.path, 'input'), 'utf8'))).toEqual({
      version: '1.0',
      secrets: ['npm', 'git'],
    });
    const again = await ran(['plan', '-e', 'here'], env);
    expect(again.stdout).toContain('No changes.');
    expect(again.stdout).not.toContain('could not be compared');
    const doctor = await ran(['doctor', '-e', 'here'], env);
    expect(doctor.stdout).toContain('4 references, and all have a value');
    const explained = await ran(['explain', 'llm_api_key', '-e', 'here', '-o', 'json'], env);
    expect(JSON.parse(explained.stdout)).toMatchObject({
      environments: [{ references: [{ kind: 'secret', name: 'store/llm/key', set: true }] }],
    });
    const offline = await ran(['explain', 'llm_api_key', '-e', 'here', '--offline'], env);
    expect(offline.stdout).toContain('its secret command was not run');
    expect(calls()).toHaveLength(2 + 2 + 2 + 2);
  });

  it.each([
    ['a failure', 'echo canary-of-a-store-91 >&2; exit 7', {}, 'ended with exit code 7'],
    ['nothing', 'exit 0', {}, 'gave an empty value'],
    ['too much', `yes ${CANARY} | head -c 70000`, {}, 'gave more than 64 KiB'],
    ['a wait', 'sleep 20', { timeout: 1 }, 'took longer than 1 s'],
    ['bytes', "printf '\\377canary'", {}, 'printed something that is not UTF-8 text'],
  ])('%s is a missing reference, and nothing is quoted', async (_, body, more, problem) => {
    const env = commands(more);
    program('store', body);
    const ended = await ran(['apply', '-e', 'here', '--yes'], env);
    expect(ended).toMatchObject({ code: 3 });
    expect(ended.stderr).toContain(`the secret command store ${problem}`);
    expect(existsSync(join(folder.path, 'here'))).toBe(false);
  });

  it('a branch asks for what is listed only, and in a pipeline for nothing without a list', async () => {
    const env = commands();
    const listed = { ...env, SETPOINT_ALLOWED_SECRETS: 'store/llm/*,team/**' };
    expect(await ran(['plan', '-e', 'here'], listed)).toMatchObject({ code: 0 });
    const before = calls().length;
    const other = await ran(['plan', '-e', 'there'], listed);
    expect(other).toMatchObject({ code: 3 });
    expect(other.stderr).toContain('store/other/key, which SETPOINT_ALLOWED_SECRETS does not list');
    expect(calls().slice(before).join()).not.toContain('other');
    const pipeline = await ran(['plan', '-e', 'there'], { ...env, CI: 'true' });
    expect(pipeline).toMatchObject({ code: 3 });
    expect(pipeline.stderr).toContain('SETPOINT_ALLOWED_SECRETS=store/other/key,');
    expect(calls().join()).not.toContain('other');
  });

  it('a file of variables names no commands', async () => {
    writeFileSync(join(folder.path, '.env'), 'SETPOINT_SECRET_COMMANDS={}\n');
    const ended = await ran(['plan', '--dotenv', '.env'], {});
    expect(ended.stderr).toContain('SETPOINT_SECRET_COMMANDS cannot be set in a file');
  });

  it('as the key of two origins, one secret is refused', async () => {
    const server = (port: number): string =>
      `{ server: { url: "http://127.0.0.1:${port}", api_key: "\${secret:store/key}" } }`;
    const text = `version: 1\nenvironments: { a: ${server(1)}, b: ${server(2)} }\n`;
    writeFileSync(join(folder.path, 'settings.yaml'), text);
    const ended = await ran(['plan'], commands());
    expect(ended).toMatchObject({ code: 3 });
    expect(ended.stderr).toContain('the secret store/key would be sent as the key of two origins');
  });

  it('commands that cannot be used are said, and not quoted', async () => {
    const told = async (text: string): Promise<string> =>
      (await ran(['plan', '-e', 'here'], { SETPOINT_SECRET_COMMANDS: text })).stderr;
    expect(await told(`{"store": "${CANARY}"}`)).toContain('the command store needs argv');
    expect(await told('{"store": ["./x", "{}"]}')).toContain('a program on PATH');
    expect(await told('{"store": ["x"]}')).toContain('needs {} in one argument');
    expect(await told('{"store": {"argv": ["x", "{}"], "shell": true}}')).toContain(
      'a key other than',
    );
    expect(await told(`{${CANARY}`)).toContain('is not a JSON object');
    expect(await told('commands.json')).toContain('nor the absolute path of a file');
  });

  it.each(recipes())(
    'the line for %s in the guide calls %s',
    async (name, reference, line, call) => {
      const path = program(name, `printf '${CANARY}'`);
      writeFileSync(
        join(folder.path, 'settings.yaml'),
        `version: 1\nserver: { url: "embedded:./here" }\nsettings: { llm_api_key: "${reference}" }\n`,
      );
      const env = { SETPOINT_SECRET_COMMANDS: line, PATH: `${dirname(path)}:/usr/bin:/bin` };
      expect(await ran(['apply', '--yes'], env)).toMatchObject({ code: 0 });
      expect(calls()).toEqual([call]);
    },
  );
});

/** The recipes of the guide: the name of each program, a reference, the variable, and what is to run. */
function recipes() {
  const guide = readFileSync('docs/guides/secret-commands.md', 'utf8');
  const called: Record<string, string> = {
    pass: 'pass show llm/key',
    sops: 'sops decrypt --extract ["llm_api_key"] /etc/setpoint/secrets.enc.yaml',
    op: 'op read --no-newline op://production/llm/key',
    vault: 'vault kv get -mount=secret -field=key agents/llm',
    vals: 'vals get ref+vault://secret/agents/llm#/key',
  };
  const found = guide.matchAll(/`(\$\{secret:(\w+)\/[^`]+)`(?:.|\n(?!\n))*\n\n```json\n(.+)\n```/g);
  const all = [...found].map(([, reference = '', name = '', line = '']) => {
    return [name, reference, line, called[name]] as const;
  });
  if (all.length !== Object.keys(called).length) throw new Error('The guide has other recipes.');
  return all;
}

it('validate warns of a command that is not named here, runs none, and says nothing without the variable', async () => {
  const env = commands();
  const known = await ran(['validate'], env);
  expect([known.code, known.stderr]).toEqual([0, '']);
  const text = SETTINGS.replace('secret:store/other/key', 'secret:stor/other/key');
  writeFileSync(join(folder.path, 'settings.yaml'), text);
  const warned = await ran(['validate'], env);
  expect(warned.code).toBe(0);
  expect(warned.stderr).toContain('warning bad-reference');
  expect(warned.stderr).toContain(
    'Did you mean store? If it is named where the file is applied, leave it so.',
  );
  expect((await ran(['validate'], {})).stderr).toBe('');
  expect(calls()).toEqual([]);
});
