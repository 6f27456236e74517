import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderWith } from '../../fixture/command.ts';
import { startStore } from '../../fixture/store-server.ts';
import { LONG } from '../../fixture/long.ts';
import { until } from '../../fixture/until.ts';

const BIN = join(import.meta.dirname, '../../../dist/bin/setpoint.cjs');
const QUICK = join(import.meta.dirname, '../../fixture/quick-time.cjs');
const MOUNT = 'mount -t tmpfs -o size=128k setpoint-test';

/** A small file system of its own: for root, or for a user who may make a namespace. */
const canMount = spawnSync('unshare', ['-rm', 'sh', '-c', `${MOUNT} /mnt`]).status === 0;

it.skipIf(!canMount)(
  'a controller whose disk is full writes nothing, leaves no half record, says so once, and goes on (needs unshare)',
  LONG,
  async () => {
    const store = await startStore({}, { language: 'en' });
    const folder = folderWith({
      'data/.keep': '',
      'settings.yaml': settings(store.url, ''),
    });
    // The folder is seen in the namespace alone: its shell runs what the test writes to it.
    const shell = spawn('unshare', ['-rm', 'sh'], {
      cwd: folder.path,
      env: {
        PATH: process.env['PATH'] ?? '',
        SETPOINT_API_KEY: 'a-session-key',
        SETPOINT_TEST_TIMES: '20',
        SETPOINT_TEST_SINCE: String(Date.now()),
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let said = '';
    shell.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    let asked = 0;
    const run = async (line: string): Promise<string> => {
      asked += 1;
      const [begin, end] = [`<${asked}>`, `</${asked}>`];
      shell.stdin.write(`echo "${begin}"; ${line}; echo "${end}"\n`);
      await until(() => said.includes(end), { show: () => said });
      return said.slice(said.indexOf(begin) + begin.length, said.indexOf(end)).trim();
    };
    const reads = (): number => store.requests.filter(({ method }) => method === 'GET').length;
    const more = async (count: number): Promise<void> => {
      const before = reads();
      await until(() => reads() >= before + count);
    };

    await run(`${MOUNT} data`);
    await run(
      `"${process.execPath}" -r "${QUICK}" "${BIN}" watch --data data --lock file > out 2> err & pid=$!`,
    );
    await more(3);
    await run('dd if=/dev/zero of=data/full bs=1k 2>/dev/null');
    // What is left of the last page of the journal would take some records more.
    await run("yes '' 2>/dev/null >> data/journal.jsonl");
    store.stored = { language: 'fr' };
    // The locks of these have no room.
    const added = settings(
      store.url,
      'two: { watch: { mode: detect } }, three: { watch: { mode: detect } }',
    );
    writeFileSync(join(folder.path, 'settings.yaml'), added);
    await more(15);
    expect(store.posts()).toBe(0);
    const lines = (await run('cat data/journal*.jsonl')).split('\n').filter((line) => line !== '');
    for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
    await run('rm -f data/full');
    await until(() => JSON.stringify(store.stored).includes('"en"'));
    await run('until [ "$(ls data/locks/claims | wc -l)" = 3 ]; do sleep 0.1; done');
    await more(9);
    expect(store.posts()).toBe(1);
    const kept = await run('cat data/journal*.jsonl');
    const states = kept.split('\n').flatMap((line) => {
      const { kind, environment, status } = JSON.parse(line || '{}') as Record<string, string>;
      return kind === 'state' && environment === 'one' ? [status] : [];
    });
    expect(states).toEqual(['in-sync', 'drift', 'in-sync']);
    await run('kill $pid; wait $pid');
    const warned = await run('cat err');
    expect(warned.match(/journal in data cannot be written/g)).toHaveLength(1);
    expect(warned.match(/The journal can be written again/g)).toHaveLength(1);
    expect(warned.match(/locks in .* cannot be used: the disk is full/g)).toHaveLength(1);
    expect(warned.match(/locks can be used again/g)).toHaveLength(1);
    expect(warned).not.toContain('Another controller');
    shell.stdin.end();
    await store.close();
    folder.remove();
  },
);

function settings(url: string, more: string): string {
  return `version: 1
server: { url: "${url}", api_key: "\${env:SETPOINT_API_KEY}" }
settings: { language: en }
watch: { mode: heal, interval: 10s, max_heals_per_hour: 60 }
environments: { one: {}, ${more} }
`;
}
