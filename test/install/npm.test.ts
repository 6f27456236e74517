import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { npm } from '../package/npm.ts';
import { makeHome, writeSettings } from './installed-command.ts';
import { addRow } from './table.ts';

/* The tarball of `npm pack`, installed globally without a registry. test/package has what is in it. */

const root = join(import.meta.dirname, '../..');
const place = makeHome();
const { path: home, run } = place;
const env = { PATH: dirname(process.execPath) };
const command = join(home, 'prefix/bin/setpoint');
let packed = '';

describe.skipIf(process.platform === 'win32')('the tarball', () => {
  beforeAll(async () => {
    const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', home];
    packed = join(home, execFileSync('npm', args, { cwd: root, encoding: 'utf8' }).trim());
    await npm('npm', ['install', '--global', packed], { cwd: home, home });
  });
  afterAll(() => place.remove());

  it('is one package, and reports how it was installed', () => {
    const { stdout, code } = run(command, ['version', '-o', 'json'], '', env);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ installation: { way: 'npm' } });
    expect(run(command, ['version'], '', env).stdout).toContain('To upgrade: npm install');
    expect(
      readdirSync(join(home, 'prefix/lib/node_modules')).filter((name) => name !== 'npm'),
    ).toEqual(['setpoint']);
  });

  it('has a row in the table', () => {
    writeSettings(home);
    const folders = [join(home, 'prefix/lib/node_modules/setpoint')];
    addRow({ way: 'npm', command, home, packed, folders, env });
  });
});
