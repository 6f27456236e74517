import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HistoryDocument } from '../../../src/reconciler/model/watch.ts';
import { folderWith, quickTime, setpoint, start, type Ended } from '../../fixture/command.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import { LONG } from '../../fixture/long.ts';
import { listSchemaErrors } from '../../fixture/published-schemas.ts';
import { until } from '../../fixture/until.ts';

let store: StoreServer;
let folder: ReturnType<typeof folderWith>;

function settings(mode: string): string {
  return `version: 1
server: { url: "${store.url}", api_key: "\${env:KEY}" }
settings: { language: en }
watch: { mode: ${mode}, interval: 10s }
`;
}

beforeEach(async () => {
  store = await startStore({}, { language: 'de' });
  folder = folderWith({ 'settings.yaml': settings('detect') });
});
afterEach(async () => {
  await store.close();
  folder.remove();
});

const ENV = { KEY: 'canary-key', PATH: process.env['PATH'] ?? '' };

function run(...args: readonly string[]): Promise<Ended> {
  return setpoint(args, { cwd: folder.path, env: ENV });
}

/** Starts a controller, and resolves with how to stop it once `isThere` holds. */
async function watching(
  isThere: () => boolean,
  ...flags: readonly string[]
): Promise<(signal: NodeJS.Signals) => Promise<Ended>> {
  const time = quickTime();
  const { child, ended } = start(['watch', ...flags], { cwd: folder.path, env: ENV, time });
  await until(() => isThere() || child.exitCode !== null || child.signalCode !== null);
  return async (signal) => {
    child.kill(signal);
    return ended;
  };
}

function journal(): string {
  const path = join(folder.path, '.setpoint/watch/journal.jsonl');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

async function history(...args: readonly string[]): Promise<HistoryDocument> {
  const { code, stdout, stderr } = await run('history', '-o', 'json', ...args);
  expect([code, stderr]).toEqual([0, '']);
  const document = JSON.parse(stdout) as HistoryDocument;
  expect(listSchemaErrors('history', document)).toEqual([]);
  return document;
}

describe('setpoint watch', () => {
  it('finds drift and writes nothing in mode detect, and ends at a signal with exit 0', async () => {
    const stop = await watching(() => journal().includes('"kind":"state"'));
    const { code, stdout, stderr } = await stop('SIGTERM');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/warn {2}default: drift: language/);
    expect(stdout).toContain(
      'info  watching 1 environment of settings.yaml (detect only), each every 10 s; journal in .setpoint/watch',
    );
    const status = await run('status', '--exit-code');
    expect([status.code, status.stderr]).toEqual([2, '']);
    expect(status.stdout).toMatch(
      /^ENVIRONMENT  STATE    FOR\s+WHAT\ndefault      ~ drift  \S+\s+language\n\n1 environment: 1 drift.\n$/,
    );
    expect(stdout).not.toContain('canary');
    expect(store.requests.every(({ method }) => method === 'GET')).toBe(true);
    const { records } = await history('-e', 'default', 'language');
    expect(records).toMatchObject([
      {
        kind: 'state',
        status: 'drift',
        after: null,
        plan: { changes: [{ before: 'de', after: 'en' }] },
      },
    ]);
  });

  it('heals what two reads have found, and records the former value', async () => {
    writeFileSync(join(folder.path, 'settings.yaml'), settings('heal'));
    const stop = await watching(() => journal().includes('"status":"in-sync"'));
    const { code } = await stop('SIGINT');
    expect(code).toBe(0);
    expect(store.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    const { records } = await history();
    expect(records.map(({ kind }) => kind)).toEqual([
      'stopped',
      'state',
      'write',
      'writing',
      'state',
      'started',
    ]);
    expect(records[2]).toMatchObject({
      by: 'watch',
      outcome: {
        status: 'applied',
        changes: [{ before: 'de', after: 'en', result: 'verified' }],
      },
    });
    const { stdout } = await run('history');
    expect(stdout).toMatch(/healed\n {4}language: "de" → "en" \(verified\)/);
  });

  it('heals nothing while an environment is suspended', LONG, async () => {
    writeFileSync(join(folder.path, 'settings.yaml'), settings('heal'));
    const suspended = await run('suspend', '-e', 'default', 'moving', '--until', '1h');
    expect([suspended.code, suspended.stdout]).toEqual([
      0,
      expect.stringMatching(/^Suspended default until \d{4}-.*Z\.\n$/),
    ]);
    // Two turns: an environment that may be healed is healed in the second one.
    const reads = (): number => store.requests.length;
    const stop = await watching(() => reads() >= 3);
    await stop('SIGTERM');
    expect(store.requests.every(({ method }) => method === 'GET')).toBe(true);
    expect((await run('resume', '-e', 'def*')).stdout).toBe('Resumed default.\n');
    const { records } = await history('-e', 'de*');
    expect(records[0]).toMatchObject({ kind: 'resumed', environment: 'default' });
  });

  it('logs what a command has suspended and resumed, once', LONG, async () => {
    await run('suspend', '-e', 'default', 'before it began');
    const time = quickTime();
    const { child, ended } = start(['watch'], { cwd: folder.path, env: ENV, time });
    let log = '';
    child.stdout?.on('data', (chunk: Buffer) => (log += chunk.toString()));
    const logged = (text: string): Promise<void> =>
      until(() => log.includes(text) || child.exitCode !== null);
    await logged('drift');
    await run('resume', '-e', 'default', '--by', ' Bob ');
    await logged('default: resumed');
    await run('suspend', '-e', 'default', 'moving');
    await logged('moving');
    await run('suspend', '-e', 'default', 'still moving', '--by', 'Ada Lovelace');
    await logged('still moving');
    const { environments } = JSON.parse((await run('status', '-o', 'json')).stdout);
    expect(environments[0]).toMatchObject({
      suspended: { reason: 'still moving', by: 'Ada Lovelace' },
      not_healed: 'suspended by Ada Lovelace: still moving',
    });
    expect((await run('status')).stdout).toContain('(suspended by Ada Lovelace: still moving)');
    expect((await run('history')).stdout).toContain(
      'suspended by Ada Lovelace until it is resumed',
    );
    child.kill('SIGTERM');
    const { stdout } = await ended;
    expect(stdout.match(/default: (suspended|resumed).*/g)).toEqual([
      'default: resumed by Bob',
      'default: suspended until it is resumed: moving',
      'default: suspended by Ada Lovelace until it is resumed: still moving',
    ]);
  });

  it('says so if it does not know the environment that somebody names', LONG, async () => {
    await (
      await watching(() => journal().includes('"kind":"state"'))
    )('SIGTERM');
    const before = journal();
    for (const names of ['defualt', 'default,defualt']) {
      const misspelled = await run('suspend', '-e', names, 'moving');
      expect([misspelled.code, misspelled.stdout]).toEqual([3, '']);
      expect(misspelled.stderr).toContain('No controller of .setpoint/watch has read defualt.');
      expect(misspelled.stderr).toContain('Did you mean default?');
      expect(misspelled.stderr).toContain('--force');
    }
    const unknown = await run('resume', '-e', 'defualt');
    expect([unknown.code, unknown.stderr]).toEqual([
      3,
      expect.stringContaining('Did you mean default?'),
    ]);
    const idle = await run('resume', '-e', 'def*');
    expect([idle.code, idle.stdout]).toEqual([0, 'default is not suspended; nothing to resume.\n']);
    expect(journal()).toBe(before);
    expect(existsSync(join(folder.path, '.setpoint/watch/suspensions'))).toBe(false);
    const forced = await run('suspend', '-e', 'defualt', 'moving', '--force');
    expect([forced.code, forced.stderr]).toEqual([
      0,
      'setpoint: No controller of .setpoint/watch has read defualt yet.\n  Did you mean default?\n',
    ]);
    expect((await run('resume', '-e', 'defualt')).stdout).toBe('Resumed defualt.\n');
    const none = await run('suspend', '-e', 'prod-*', 'moving');
    expect([none.code, none.stderr]).toEqual([
      3,
      expect.stringContaining('No environment in .setpoint/watch matches "prod-*".'),
    ]);
    const rows = (await run('history')).stdout.split('\n\n');
    expect(rows.slice(0, 2)).toEqual([
      expect.stringContaining('defualt  resumed'),
      expect.stringContaining('defualt  suspended until it is resumed\n    moving'),
    ]);
    expect((await run('history', '-e', 'defautl')).stderr).toBe(
      'setpoint: The journal in .setpoint/watch has nothing of "defautl".\n  Did you mean default?\n',
    );
    expect((await run('history', 'default')).stderr).toBe(
      'setpoint: default is an environment.\n  Name it with -e default.\n',
    );
  });

  it('says what is wrong with a file before it watches, and what is wrong with flags', async () => {
    writeFileSync(join(folder.path, 'settings.yaml'), settings('sometimes'));
    const broken = await run('watch', '--listen', '127.0.0.1:0');
    expect(broken.code).toBe(3);
    expect(broken.stderr).toMatch(/settings\.yaml:4:/);
    expect(broken.stderr).not.toContain('The page is at');
    for (const flags of [
      ['--interval', '1s'],
      ['--ref', 'main'],
      ['--lock', 'etcd'],
      ['-o', 'markdown'],
    ])
      expect((await run('watch', ...flags)).code, flags.join(' ')).toBe(3);
    expect((await run('suspend', '-e', 'default')).stderr).toContain("argument 'reason'");
    expect((await run('suspend', '-e', 'default', ' ')).stderr).toContain(
      'A suspension needs a reason.',
    );
    const unnamed = await run('resume', '-e', 'default', '--by', 'a\u202Eb');
    expect([unnamed.code, unnamed.stderr]).toEqual([3, expect.stringContaining('64 characters')]);
    expect((await run('history', '--data', 'nowhere')).stderr).toContain(
      'No journal found in nowhere.',
    );
  });
});

describe('apply --journal', () => {
  it('records who wrote what on which commit, and nothing if nothing was written', async () => {
    const env = { ...ENV, GITHUB_ACTOR: 'somebody', GITHUB_SHA: 'c0ffee' };
    for (const expected of [1, 1]) {
      const { code } = await setpoint(['apply', '--yes', '--journal', 'records'], {
        cwd: folder.path,
        env,
      });
      expect(code).toBe(0);
      const { records } = await history('--data', 'records');
      expect(records).toHaveLength(expected);
      expect(records[0]).toMatchObject({
        kind: 'write',
        by: 'apply',
        actor: 'somebody',
        commit: 'c0ffee',
      });
    }
  });
});
