import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { folderWith, setpoint, start } from '../../fixture/command.ts';
import { dedent } from '../../fixture/dedent.ts';
import { itEach } from '../../fixture/long.ts';

let folder: ReturnType<typeof folderWith>;
afterEach(() => folder.remove());

const FILES = ['.setpoint/fingerprints.json', '.setpoint/embedded.json', 'outcome.json'];

itEach([3, 16], (moments) => moments === 3)(
  'an apply that is killed at any of %i moments leaves every file that it writes whole',
  async (moments) => {
    folder = folderWith({
      'settings.yaml': dedent`
        version: 1
        server: { url: "embedded:" }
        settings:
          git_user_name: \${env:NAME}
          llm_api_key: \${env:KEY}
      `,
    });
    const env = (turn: number) => ({
      NAME: `name-${turn}`,
      KEY: `canary-key-${turn}`,
      SETPOINT_STATE_KEY: 'state',
    });
    const args = ['apply', '--yes', '-o', 'json=outcome.json'];
    const began = performance.now();
    expect((await setpoint(args, { cwd: folder.path, env: env(0) })).code).toBe(0);
    const whole = performance.now() - began;
    for (let turn = 1; turn <= moments; turn += 1) {
      const { child, ended } = start(args, { cwd: folder.path, env: env(turn) });
      const timer = setTimeout(() => child.kill('SIGKILL'), whole * (0.3 + (0.7 * turn) / moments));
      await ended;
      clearTimeout(timer);
      for (const name of FILES) {
        const path = join(folder.path, name);
        if (existsSync(path)) JSON.parse(readFileSync(path, 'utf8'));
      }
    }
    expect((await setpoint(args, { cwd: folder.path, env: env(99) })).code).toBe(0);
    expect((await setpoint(['plan', '--exit-code'], { cwd: folder.path, env: env(99) })).code).toBe(
      0,
    );
    for (const name of [
      ...readdirSync(folder.path),
      ...readdirSync(join(folder.path, '.setpoint')),
    ]) {
      const path = [join(folder.path, name), join(folder.path, '.setpoint', name)].find(
        (one) => existsSync(one) && name.endsWith('json'),
      );
      if (path !== undefined && !path.endsWith('outcome.json'))
        expect(readFileSync(path, 'utf8')).not.toContain('canary');
    }
  },
);
