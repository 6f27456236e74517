import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../src/emulator/start.ts';
import { folderWith, setpoint } from '../fixture/command.ts';
import { readText } from './read-text.ts';
import { runScript, SETPOINT, type Ran } from './run-script.ts';

const file = (name: string) => readText(`examples/cron/${name}`);
const crontab = file('crontab')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const assigned = crontab.filter((line) => /^[A-Z_]+=/.test(line)).map((line) => line.split('='));
const variables = Object.fromEntries(assigned) as Record<string, string>;
const line = crontab.at(-1) ?? '';

describe('the crontab', () => {
  it('has a line of the form of cron, without the sign that cron reads as the end of a line', () => {
    const [, minute, hour] = /^(\d+) (\S+) \S+ \S+ \S+ {2}\S/.exec(line) ?? [];
    expect([minute, hour]).toEqual(['17', '*']);
    expect(line).not.toContain('%');
  });

  it('lists where the keys of the example settings may travel, and the file of keys names them', () => {
    const settings = file('settings.yaml');
    expect(settings).toContain(`url: ${variables['SETPOINT_ALLOWED_ORIGINS']}\n`);
    const read = [...settings.matchAll(/\$\{env:(\w+)/g)].map(([, name]) => name);
    expect(variables['SETPOINT_ALLOWED_VARIABLES']).toBe(read.join());
    const held = [...file('setpoint.env.example').matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    expect(held).toEqual(read);
  });
});

describe.runIf(process.platform === 'linux')('the line (on Linux)', () => {
  let folder: ReturnType<typeof folderWith>;
  let service: Emulator;
  beforeEach(async () => {
    service = await startEmulator({ apiKey: 'a-key' });
    folder = folderWith({
      'drift.sh': file('drift.sh'),
      'setpoint.env': file('setpoint.env.example').replaceAll('=\n', '=a-key\n'),
      'settings.yaml': file('settings.yaml').replace('https://agents.example.com', service.url),
    });
    chmodSync(join(folder.path, 'drift.sh'), 0o755);
    chmodSync(join(folder.path, 'setpoint.env'), 0o600);
  });
  afterEach(async () => {
    await service.close();
    folder.remove();
  });

  /** As cron runs it: from elsewhere, with what the crontab sets and a shell; `before` is what goes on meanwhile. */
  function run(before = ''): Promise<Ran> {
    const command = line.replace(/^(\S+\s+){5}/, '').replaceAll('/etc/setpoint', folder.path);
    const { PATH: _, ...env } = variables;
    return runScript(`${before}${command}`, { cwd: '/', env, commands: { setpoint: SETPOINT } });
  }

  it('mails what differs, and nothing once file and service agree', async () => {
    const drift = await run();
    expect(drift).toMatchObject({ code: 2, stderr: '' });
    expect(drift.stdout).toContain('language');
    expect(drift.stdout).toMatch(/setpoint drift ended with 2\.\n$/);
    await setpoint(['apply', '--yes', '--dotenv', 'setpoint.env'], { cwd: folder.path });
    expect(await run()).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it('mails that the service could not be read', async () => {
    writeFileSync(
      join(folder.path, 'setpoint.env'),
      'SETPOINT_API_KEY=another\nLLM_API_KEY=a-key\n',
    );
    const { code, stdout } = await run();
    expect(code).toBe(4);
    expect(stdout).toContain('setpoint drift ended with 4.');
  });

  it.each([0o644, 0o640, 0o602])('does not read keys that others can reach (%o)', async (mode) => {
    chmodSync(join(folder.path, 'setpoint.env'), mode);
    const { code, stdout } = await run();
    expect(code).toBe(1);
    expect(stdout).toContain(`chmod 600 ${folder.path}/setpoint.env`);
  });

  it('does nothing while it still runs', async () => {
    const held = `exec 9< ${folder.path}/drift.sh; flock 9; `;
    expect(await run(held)).toMatchObject({ code: 1, stdout: '', stderr: '' });
  });
});
