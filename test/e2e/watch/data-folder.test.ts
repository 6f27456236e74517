import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SuspensionFile } from '../../../src/controller/watch/suspension-file.ts';
import { startStore } from '../../fixture/store-server.ts';
import { MINUTE, settingsFile, startWatching, watchFolder } from '../../fixture/watch-world.ts';

const NOW = Date.UTC(2026, 2, 1, 12);
const SUSPENSION = { at: new Date(NOW).toISOString(), reason: 'a load test', until: null };

it('everything in the folder of --data is for its owner alone, whatever the umask', async () => {
  const before = process.umask(0);
  onTestFinished(() => void process.umask(before));
  const store = await startStore({}, { language: 'fr' });
  onTestFinished(() => store.close());
  const folder = watchFolder();
  settingsFile(
    folder,
    `version: 1
server: { url: "${store.url}" }
settings: { language: en, sandbox_api_key: null }
watch: { mode: heal, interval: 1m }
`,
  );
  const world = startWatching({ folder, interval: MINUTE });
  await world.pass(5 * MINUTE);
  await world.controller.suspend(['default'], { reason: 'a load test', until: null });
  await world.stop();
  const names = readdirSync(world.data, { recursive: true }).map(String);
  expect(names).toEqual(
    expect.arrayContaining([
      'journal.jsonl',
      'suspensions',
      join('suspensions', '1.json'),
      'locks',
    ]),
  );
  for (const name of ['', ...names]) {
    const found = lstatSync(join(world.data, name));
    expect([name, (found.mode & 0o777).toString(8)]).toEqual([
      name,
      found.isDirectory() ? '700' : '600',
    ]);
  }
});

describe('a version of the suspensions that somebody else has put there', () => {
  function here() {
    const folder = watchFolder();
    const path = join(folder, 'suspensions', '1.json');
    return { folder, file: new SuspensionFile(folder), path };
  }

  it('holds names that objects have as names', async () => {
    const { folder, file, path } = here();
    const names = ['constructor', 'toString', '__proto__'];
    await file.change(names, SUSPENSION, NOW);
    expect(readFileSync(path, 'utf8')).toContain('"__proto__"');
    const again = new SuspensionFile(folder);
    await again.refresh();
    for (const name of names) expect(again.of(name, NOW)).toEqual(SUSPENSION);
    for (const name of ['hasOwnProperty', 'valueOf']) expect(again.of(name, NOW)).toBeNull();
    await again.change(names, null, NOW);
    for (const name of names) expect(again.of(name, NOW)).toBeNull();
    expect(({} as Record<string, unknown>)['reason']).toBeUndefined();
  });

  it('is an error if it is endless, too long, a folder, or of another form; what was known stays', async () => {
    const { file, path } = here();
    await file.change(['production'], SUSPENSION, NOW);
    const plants = [
      () => symlinkSync('/dev/zero', path),
      () => writeFileSync(path, `{"v":1,"environments":{}${' '.repeat(17 * 1024 * 1024)}}`),
      () => mkdirSync(path),
      ...['null', '[]', '{"v":1,"environments":{"a":null}}', '{"v":1,"environments":null}'].map(
        (text) => () => writeFileSync(path, text),
      ),
    ];
    for (const plant of plants) {
      rmSync(path, { recursive: true, force: true });
      plant();
      await expect(file.refresh()).rejects.toMatchObject({ code: 'file-unreadable' });
      expect(file.of('production', NOW)).toEqual(SUSPENSION);
    }
  });

  it('is not written through if it is a link to another place', async () => {
    const { folder, file, path } = here();
    const victim = join(watchFolder(), 'victim');
    writeFileSync(victim, '{"v":1,"environments":{}}');
    mkdirSync(dirname(path));
    symlinkSync(victim, path);
    await file.change(['production'], SUSPENSION, NOW);
    expect(file.of('production', NOW)).toEqual(SUSPENSION);
    expect(readFileSync(victim, 'utf8')).toBe('{"v":1,"environments":{}}');
    expect(readdirSync(dirname(path)).toSorted()).toEqual(['1.json', '2.json']);
    expect(lstatSync(join(folder, 'suspensions', '2.json')).isFile()).toBe(true);
  });
});
