import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderWith, quickTime, start } from '../../fixture/command.ts';
import { LONG } from '../../fixture/long.ts';
import { startStore } from '../../fixture/store-server.ts';
import { until } from '../../fixture/until.ts';

it.each(['SIGTERM', 'SIGKILL'] as const)(
  'a controller that starts after %s and a rewound branch goes on with the last good commit and reports it, until --ref names a new one',
  LONG,
  async (signal) => {
    const store = await startStore({}, { language: 'de' });
    const folder = folderWith({});
    const repository = join(folder.path, 'repository');
    mkdirSync(repository);
    const git = (...args: readonly string[]): string => {
      const identity = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.com'];
      const options = { encoding: 'utf8' } as const;
      return execFileSync('git', ['-C', repository, ...identity, ...args], options).trim();
    };
    const commit = (language: string): string => {
      const text = `version: 1
server: { url: "${store.url}", api_key: "\${env:KEY}" }
settings: { language: ${language} }
watch: { mode: heal, interval: 10s }
`;
      writeFileSync(join(repository, 'settings.yaml'), text);
      git('add', '--all');
      git('commit', '--quiet', '--message', 'Change');
      return git('rev-parse', 'HEAD');
    };
    git('init', '--quiet', '--initial-branch', 'main');
    const first = commit('en');
    const second = commit('de');
    const env = {
      KEY: 'a-session-key',
      PATH: process.env['PATH'] ?? '',
      SETPOINT_ALLOWED_ORIGINS: store.url,
      SETPOINT_ALLOWED_VARIABLES: 'KEY',
    };
    const time = quickTime();
    const watch = (...flags: readonly string[]) => {
      const args = ['watch', '--git', repository, '--data', 'data', '--lock', 'file'];
      return start([...args, ...flags], { cwd: folder.path, env, time });
    };
    /** Lets it read once, or end by itself. */
    const ranOnce = async (...flags: readonly string[]) => {
      const before = store.requests.length;
      const { child, ended } = watch(...flags);
      await until(() => store.requests.length > before || child.exitCode !== null);
      child.kill(signal);
      return ended;
    };

    expect((await ranOnce()).stderr).toBe('');
    git('reset', '--quiet', '--hard', first);
    const ends = signal === 'SIGTERM' ? 0 : null;
    for (const flags of [[], ['--ref', `main:${second}`]]) {
      const asked = store.requests.length;
      const { code, stderr } = await ranOnce(...flags);
      expect(code).toBe(ends);
      expect(stderr).toContain(`was rewritten: ${second} is not an ancestor of ${first}.`);
      expect(stderr).toContain('the last good ones remain in effect');
      expect(stderr).toContain('--ref');
      expect(store.requests.length).toBeGreaterThan(asked);
    }
    // The last good commit declares what the service has.
    expect(store.posts()).toBe(0);
    git('checkout', '--quiet', '--orphan', 'other');
    const foreign = commit('fr');
    const asked = store.requests.length;
    const wrong = await ranOnce('--ref', `main:${foreign}`);
    expect([wrong.code, store.requests.length]).toEqual([3, asked]);
    expect(wrong.stderr).toContain(`${foreign} is not an ancestor of ${first}.`);

    const meant = await ranOnce('--ref', `main:${first}`);
    expect([meant.code, meant.stderr]).toEqual([ends, '']);
    expect(store.requests.length).toBeGreaterThan(asked);
    folder.remove();
    await store.close();
  },
);
