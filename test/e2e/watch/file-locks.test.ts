import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  whyUnusable,
  isLockRefused,
  type Lock,
  type Locks,
} from '../../../src/controller/watch/locks/locks.ts';
import { ClaimFiles, fileLocks } from '../../../src/controller/watch/locks/file-locks.ts';
import { itEach } from '../../fixture/long.ts';
import { testTime } from '../../fixture/lock-time.ts';

function folderHere(): string {
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-locks-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function taken(locks: Locks, name: string): Promise<Lock> {
  const result = await locks.take(name);
  if (isLockRefused(result)) throw new Error(`${name} is held by ${result.heldBy}`);
  return result;
}

function here(folder: string) {
  const time = testTime();
  const start = () => {
    const process = time.process();
    return { process, locks: fileLocks(folder, process.clock, { time: process }) };
  };
  return { time, start };
}

it('loses its locks when the folder is removed, and goes on in a new one', async () => {
  const folder = join(folderHere(), 'locks');
  const { time, start } = here(folder);
  const { locks } = start();
  const [lock, asked] = [await taken(locks, 'prod'), await taken(locks, 'staging')];
  rmSync(folder, { recursive: true });
  expect(await asked.stillHeld()).toBe(false);
  await time.pass(5000);
  expect(lock.lost.reason).toMatchObject({
    code: 'lock-lost',
    message: expect.stringContaining('its locks were removed'),
  });
  await taken(locks, 'prod');
  await locks.close();
});

it('is lost for the reason that the next attempt to take it is told, so that one problem is logged once', async () => {
  const folder = join(folderHere(), 'locks');
  const { time, start } = here(folder);
  const { locks } = start();
  const lock = await taken(locks, 'prod');
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'in the way');
  await time.pass(20_000);
  expect(lock.lost.reason).toMatchObject({
    message: expect.stringMatching(/could not be renewed for 20 s.* it is not a folder/),
  });
  await expect(locks.take('prod')).rejects.toMatchObject({ message: whyUnusable(lock) });
  await locks.close();
});

it('says that a folder cannot be made', async () => {
  const file = join(folderHere(), 'file');
  writeFileSync(file, '');
  const { locks } = here(join(file, 'locks')).start();
  await expect(locks.take('prod')).rejects.toMatchObject({
    code: 'lock-failed',
    message: `The locks in ${join(file, 'locks')} cannot be used: it is not a folder.`,
    hint: expect.stringContaining('--data'),
  });
  await locks.close();
});

it.runIf(process.getuid?.() !== 0)('says that a folder may not be written', async () => {
  const folder = folderHere();
  chmodSync(folder, 0o500);
  const { locks } = here(join(folder, 'locks')).start();
  await expect(locks.take('prod')).rejects.toMatchObject({
    code: 'lock-failed',
    message: expect.stringContaining('its permissions do not allow it'),
  });
  await locks.close();
});

it('leaves one file for each lock and one for each process, however often they are used', async () => {
  const folder = folderHere();
  const { start } = here(folder);
  const [one, two] = [start(), start()];
  for (let turn = 0; turn < 20; turn += 1) {
    const { locks } = turn % 2 === 0 ? one : two;
    const lock = await taken(locks, 'prod');
    for (let writes = 0; writes < 5; writes += 1) expect(await lock.stillHeld()).toBe(true);
    await lock.release();
  }
  expect(readdirSync(join(folder, 'claims/lock-prod'))).toHaveLength(1);
  expect(readdirSync(join(folder, 'holders'))).toHaveLength(2);
  await one.locks.close();
  await two.locks.close();
});

it('takes a claim that was never finished for one of a dead holder', async () => {
  const folder = folderHere();
  const { time, start } = here(folder);
  mkdirSync(join(folder, 'claims/lock-prod'), { recursive: true });
  writeFileSync(join(folder, 'claims/lock-prod/7'), '{"hol');
  const { locks } = start();
  expect(await locks.take('prod')).toMatchObject({ retryIn: 30_000 });
  await time.pass(29_500);
  expect(isLockRefused(await locks.take('prod'))).toBe(true);
  await time.pass(500);
  await taken(locks, 'prod');
  expect(readdirSync(join(folder, 'claims/lock-prod'))).toEqual(['8']);
  await locks.close();
});

it('does not take over from a claim that is long gone, whose place is free again', async () => {
  const folder = folderHere();
  const files = new ClaimFiles(folder, { ttl: 30_000, renewEvery: 5000, lostAfter: 20_000 });
  await files.begin();
  const first = await files.claim('prod', null, 'one');
  const second = await files.claim('prod', first, 'two');
  const third = await files.claim('prod', second, 'three');
  expect(readdirSync(join(folder, 'claims/lock-prod'))).toEqual(['3']);
  expect(await files.claim('prod', first, 'late')).toBeNull();
  expect(await files.claim('prod', null, 'later')).toBeNull();
  expect(await files.read('prod')).toEqual({ version: 3, holder: 'three' });
  expect(await files.claim('prod', third, 'four')).toEqual({ version: 4, holder: 'four' });
  expect(readdirSync(join(folder, 'claims/lock-prod'))).toEqual(['4']);
});

it('beats or is removed, never both', async () => {
  const folder = folderHere();
  const files = new ClaimFiles(folder, { ttl: 30_000, renewEvery: 5000, lostAfter: 20_000 });
  const holder = await files.begin();
  const seen = { kind: 'alive', text: 'of an earlier beat', ttl: 30_000 } as const;
  expect(await files.removeHeartbeat(holder, seen)).toBe(false);
  expect(await files.beat(holder)).toBe(true);
  const state = await files.heartbeatOf(holder);
  expect(await files.removeHeartbeat(holder, state)).toBe(true);
  expect(await files.beat(holder)).toBe(false);
  expect(await files.heartbeatOf(holder)).toEqual({ kind: 'missing' });
});

it('is free at once when the process that held it is gone from this machine (Linux)', async ({
  skip,
}) => {
  skip(process.platform !== 'linux');
  const folder = folderHere();
  const { start } = here(folder);
  const dead = spawnSync(process.execPath, ['-e', 'console.log(process.pid)'], {
    encoding: 'utf8',
  });
  const one = start();
  await taken(one.locks, 'prod');
  // The heartbeat of this process, as one would have left it that has ended since.
  const [heartbeat = ''] = readdirSync(join(folder, 'holders'));
  const path = join(folder, 'holders', heartbeat);
  const left = JSON.parse(readFileSync(path, 'utf8')) as { process: object };
  const text = JSON.stringify({ ...left, process: { ...left.process, pid: Number(dead.stdout) } });
  writeFileSync(path, text);
  const two = start();
  await taken(two.locks, 'prod');
  await one.locks.close();
  await two.locks.close();
});

it('waits for the process of another machine, whether or not its id is in use here', async () => {
  const folder = folderHere();
  const { start } = here(folder);
  const one = start();
  await taken(one.locks, 'prod');
  const [heartbeat = ''] = readdirSync(join(folder, 'holders'));
  const path = join(folder, 'holders', heartbeat);
  const left = JSON.parse(readFileSync(path, 'utf8')) as { process: object };
  const elsewhere = { ...left.process, host: 'another', pid: 4_000_000 };
  writeFileSync(path, JSON.stringify({ ...left, process: elsewhere }));
  const two = start();
  expect(isLockRefused(await two.locks.take('prod'))).toBe(true);
  await one.locks.close();
  await two.locks.close();
});

it('beats once for all locks that it holds', async () => {
  const folder = folderHere();
  const { time, start } = here(folder);
  const { locks, process } = start();
  const names = Array.from({ length: 300 }, (_, index) => `environment-${index}`);
  const locked = await Promise.all(names.map((name) => taken(locks, name)));
  await time.pass(60_000);
  // The heartbeat, and the check that it is in time.
  expect(process.sleeps).toBe(2);
  expect(locked.filter(({ lost }) => lost.aborted)).toEqual([]);
  await locks.close();
});

/** A process that takes a lock and says what became of it, in a namespace that may mount a disk of its own. */
const PROGRAM = `
import { readFileSync, writeFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileLocks } from SOURCE_LOCKS;
import { SYSTEM_CLOCK } from SOURCE_CLOCK;
const [disk, fault] = process.argv.slice(2);
const pace = { ttl: 6000, renewEvery: 50, lostAfter: 2000 };
const locks = fileLocks(disk + '/locks', SYSTEM_CLOCK, { pace });
const lock = await locks.take('prod');
const before = await lock.stillHeld();
const lost = new Promise((resolve) => lock.lost.addEventListener('abort', () => resolve(lock.lost.reason)));
if (fault === 'full') {
  for (let file = 0; ; file += 1) {
    try { writeFileSync(disk + '/fill-' + file, Buffer.alloc(65536)); } catch { break; }
  }
  for (let file = 0; ; file += 1) {
    try { writeFileSync(disk + '/empty-' + file, 'x'); } catch { break; }
  }
} else {
  // A disk is busy while a heartbeat is being written, which goes on meanwhile: the lock is to be lost for what the disk is.
  const mount = promisify(execFile);
  const remounted = () =>
    mount('mount', ['-o', 'remount,ro', disk], { env: { ...process.env, LC_ALL: 'C' } }).then(
      () => true,
      (error) => {
        if (String(error.stderr).includes('busy')) return false;
        throw error;
      },
    );
  while (!(await remounted()));
}
const after = fault === 'full' ? await lock.stillHeld() : null;
const reason = await lost;
const again = await locks.take('staging').catch((error) => error.message);
console.log(JSON.stringify({ before, after, reason: reason.message, code: reason.code, again }));
await locks.close();
process.exit(0);
`;

const canMount =
  process.platform === 'linux' &&
  spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

describe.runIf(canMount)('on a disk of its own (Linux, where a user may mount one)', () => {
  it.each([
    ['full', 'the disk is full'],
    ['read-only', 'it is read-only'],
  ])('is lost when the disk is %s, and the message says so', async (fault, words) => {
    const work = folderHere();
    const source = (path: string): string =>
      JSON.stringify(join(import.meta.dirname, '../../../src', path));
    const entry = join(work, 'entry.mjs');
    const program = PROGRAM.replace(
      'SOURCE_LOCKS',
      source('controller/watch/locks/file-locks.ts'),
    ).replace('SOURCE_CLOCK', source('reconciler/host/this-process.ts'));
    writeFileSync(entry, program);
    const bundle = await rolldown({ input: entry, platform: 'node', logLevel: 'silent' });
    const file = join(work, 'program.mjs');
    await bundle.write({ file, format: 'esm', codeSplitting: false });
    const disk = join(work, 'disk');
    mkdirSync(disk);
    const script = 'mount -t tmpfs -o size=1m,nr_inodes=64 none "$1" && exec "$2" "$3" "$1" "$4"';
    const args = ['-rm', 'sh', '-c', script, 'sh', disk, process.execPath, file, fault];
    const { stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8', timeout: 60_000 });
    expect(stderr).toBe('');
    const said = JSON.parse(stdout) as Record<string, unknown>;
    expect(said).toMatchObject({ before: true, code: 'lock-lost' });
    expect(said['after']).not.toBe(true);
    expect(said['reason']).toContain(words);
    expect(said['again']).toContain(words);
  });
});

const NO_HOLDERS = ['../victim', '../../victim', '..', '.', '', '/etc/hostname', 7, {}, ['x']];

itEach(NO_HOLDERS, (holder) => holder === '../victim' || holder === 7)(
  'a claim whose holder is %j leads to no other file, and is taken over',
  async (holder) => {
    const folder = folderHere();
    const locks = join(folder, 'locks');
    const victim = join(folder, 'victim');
    writeFileSync(victim, 'as it was');
    const { time, start } = here(locks);
    const first = start();
    await taken(first.locks, 'prod');
    await first.locks.close();
    const claims = join(locks, 'claims', 'lock-prod');
    const [generation = ''] = readdirSync(claims);
    writeFileSync(join(locks, 'victim'), 'as it was');
    writeFileSync(join(claims, generation), JSON.stringify({ holder }));
    const second = start();
    let won = await second.locks.take('prod');
    for (let tried = 0; tried < 20 && isLockRefused(won); tried += 1) {
      await time.pass(5000);
      won = await second.locks.take('prod');
    }
    expect(isLockRefused(won)).toBe(false);
    for (const path of [victim, join(locks, 'victim')])
      expect(readFileSync(path, 'utf8')).toBe('as it was');
    await second.locks.close();
  },
);

describe('files of locks whose environments are gone', () => {
  const claims = (folder: string) => readdirSync(join(folder, 'claims')).toSorted();

  it('are removed when it left, or by the next process by its name, and no other', async () => {
    const folder = folderHere();
    const { start } = here(folder);
    const first = start();
    const [gone] = [await taken(first.locks, 'gone'), await taken(first.locks, 'left')];
    await taken(first.locks, 'there');
    await gone.release(true);
    expect(claims(folder)).toEqual(['lock-left', 'lock-there']);
    await first.locks.close();
    const { locks } = start();
    await taken(locks, 'own');
    await locks.removeGone?.((name) => name === 'left', ['left', 'there', 'never']);
    expect(claims(folder)).toEqual(['lock-own', 'lock-there']);
    await taken(locks, 'left');
    await locks.close();
  });

  it('stay while another process uses the folder, and the lock is free', async () => {
    const folder = folderHere();
    const { start } = here(folder);
    const [first, other] = [start(), start()];
    const lock = await taken(first.locks, 'gone');
    await taken(other.locks, 'another');
    await lock.release(true);
    expect(claims(folder)).toEqual(['lock-another', 'lock-gone']);
    await taken(other.locks, 'gone');
    await first.locks.close();
    await other.locks.close();
  });
});
