import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderWith } from '../../fixture/command.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { dedent } from '../../fixture/dedent.ts';
import { startStore } from '../../fixture/store-server.ts';
import { hasProgram } from '../../fixture/program.ts';

async function fleet() {
  const store = await startStore({}, { language: 'fr' });
  onTestFinished(() => store.close());
  const { path: folder, ...made } = folderWith({
    'settings.yaml': dedent`
      version: 1
      server: { url: ${store.url} }
      environments:
        eu: { settings: { language: fr } }
        us: { settings: { language: en } }
        down: { server: { url: 'http://127.0.0.1:9' }, settings: { language: fr } }
    `,
  });
  onTestFinished(() => made.remove());
  return { folder, file: join(folder, 'setpoint.prom') };
}

const ARGS = ['drift', '--all', '-o', 'prometheus=setpoint.prom'];

describe('drift -o prometheus=FILE', () => {
  it('writes what it found, for another user to read, and ends as it would without', async () => {
    const { folder, file } = await fleet();
    const umask = process.umask(0o077);
    onTestFinished(() => void process.umask(umask));
    const { code, stdout } = await setpoint(ARGS, { cwd: folder });
    expect(code).toBe(1);
    expect(stdout).toContain('us');
    const text = readFileSync(file, 'utf8');
    for (const line of ['eu",status="in_sync"', 'us",status="drift"', 'down",status="error"'])
      expect(text).toContain(`setpoint_target_status{environment="${line}} 1\n`);
    expect(statSync(file).mode & 0o777).toBe(0o644);
    expect(readdirSync(folder).toSorted()).toEqual(['setpoint.prom', 'settings.yaml']);
  });

  it('leaves the file before in its place if it cannot begin', async () => {
    const { folder, file } = await fleet();
    await setpoint(ARGS, { cwd: folder });
    const before = readFileSync(file, 'utf8');
    const { code } = await setpoint([...ARGS, '-f', 'missing.yaml'], { cwd: folder });
    expect(code).toBe(3);
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('prints to stdout, too, and so does plan', async () => {
    const { folder } = await fleet();
    for (const command of ['plan', 'drift']) {
      const { stdout } = await setpoint([command, '-e', 'us', '-o', 'prometheus'], { cwd: folder });
      expect(stdout).toMatch(/^# HELP setpoint_build_info /);
      expect(stdout).toContain('setpoint_target_changes{environment="us",action="change"} 1\n');
    }
  });

  it.runIf(hasProgram('promtool'))('passes the check of Prometheus (needs promtool)', async () => {
    const { folder, file } = await fleet();
    await setpoint(ARGS, { cwd: folder });
    const input = readFileSync(file, 'utf8');
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input });
    expect(`${stdout}${stderr}`).toBe('');
    expect(status).toBe(0);
  });
});
