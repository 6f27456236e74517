import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allowedAccount, kubeApiserver, type KubeApiserver } from '../../fixture/kube-apiserver.ts';
import { clusterOf, leaseServer } from '../../fixture/lease-server.ts';
import { writeUnderLocks, type WriterLine, type WriterTask } from '../../fixture/lock-writer.ts';
import { LONG } from '../../fixture/long.ts';
import { propertyRuns } from '../../fixture/property-runs.ts';
import { until } from '../../fixture/until.ts';

const PROCESSES = 4;
const NAMES = ['prod', 'staging'];

let work: string;
beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'setpoint-locks-'));
  const entry = join(work, 'entry.mjs');
  const fixture = JSON.stringify(join(import.meta.dirname, '../../fixture/lock-writer.ts'));
  writeFileSync(
    entry,
    `import { ${writeUnderLocks.name} as run } from ${fixture};\nawait run(JSON.parse(process.argv[2]));\n`,
  );
  const bundle = await rolldown({
    input: entry,
    platform: 'node',
    logLevel: 'silent',
    external: ['undici'],
  });
  const file = join(
    import.meta.dirname,
    `../../../node_modules/.cache/lock-writer-${process.pid}.mjs`,
  );
  await bundle.write({ file, format: 'esm', codeSplitting: false });
  program = file;
});
let program: string;
afterAll(() => {
  rmSync(work, { recursive: true, force: true });
  rmSync(program, { force: true });
});

/** What is done to one of the processes, or to the one that wrote last, and how many milliseconds after the last. */
interface Blow {
  readonly after: number;
  readonly to: number | 'writer';
  readonly what: 'end' | 'kill' | 'stop';
  /** How long it stands still if it is stopped. */
  readonly during: number;
}

const blow = fc.record<Blow>({
  after: fc.integer({ min: 0, max: 400 }),
  to: fc.oneof(fc.constant('writer' as const), fc.integer({ min: 0, max: PROCESSES - 1 })),
  what: fc.constantFrom('kill', 'stop', 'stop', 'stop', 'end'),
  during: fc.oneof(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 800, max: 2500 })),
});

const PLACES = {
  'in a folder': async (folder: string) => ({
    place: { folder: join(folder, 'locks') },
    pace: { ttl: 600, renewEvery: 60, lostAfter: 350 },
  }),
  'as Leases': async () => {
    const cluster = clusterOf(await leaseServer());
    return { place: { cluster }, pace: { ttl: 1000, renewEvery: 100, lostAfter: 600 } };
  },
  'as Leases of a real kube-apiserver (SETPOINT_KUBE_APISERVER)': async () => ({
    place: { cluster: await allowedAccount(kubeApiserver() as KubeApiserver) },
    pace: { ttl: 1000, renewEvery: 100, lostAfter: 600 },
  }),
} satisfies Record<string, (folder: string) => Promise<Pick<WriterTask, 'pace' | 'place'>>>;

describe.runIf(process.platform === 'linux')('locks (on Linux)', () => {
  for (const [name, open] of Object.entries(PLACES)) {
    const run = async (numRuns: number): Promise<void> => {
      const total = { writes: 0, epochs: 0, unsure: 0 };
      await fc.assert(
        fc.asyncProperty(fc.array(blow, { minLength: 10, maxLength: 16 }), async (blows) => {
          const folder = mkdtempSync(join(work, 'run-'));
          const log = join(folder, 'log');
          writeFileSync(log, '');
          const task = { ...(await open(folder)), names: NAMES, log };
          await strike(task, blows);
          const seen = judge(linesOf(log));
          total.writes += seen.writes;
          total.epochs += seen.epochs;
          total.unsure += seen.unsure;
        }),
        { numRuns, endOnFailure: true },
      );
      console.info(`${name}: ${JSON.stringify(total)}`);
      expect(total.writes).toBeGreaterThan(0);
    };
    const test = it.skipIf(name.includes('real') && kubeApiserver() === null);
    const title = `${name}: never two that write, whoever is killed, stopped or ended, and when`;
    test(title, LONG, () => run(propertyRuns(3)));
  }
});

/** Runs processes that write, strikes them, and lets those that are left write once more under each lock. */
async function strike(task: WriterTask, blows: readonly Blow[]): Promise<void> {
  const start = (): ChildProcess =>
    spawn(process.execPath, [program, JSON.stringify(task)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  const children = Array.from({ length: PROCESSES }, start);
  const all = [...children];
  const standing: Promise<unknown>[] = [];
  try {
    await sleep(400);
    for (const { after, to, what, during } of blows) {
      await sleep(after);
      const at =
        to === 'writer' ? children.findIndex(({ pid }) => pid === lastWriter(task.log)) : to;
      const child = children[at];
      if (what === 'stop') {
        child?.kill('SIGSTOP');
        standing.push(sleep(during).then(() => child?.kill('SIGCONT')));
        continue;
      }
      child?.kill(what === 'kill' ? 'SIGKILL' : 'SIGTERM');
      if (child === undefined) continue;
      const next = start();
      children[at] = next;
      all.push(next);
    }
    await Promise.all(standing);
    await progress(task);
  } finally {
    const left = all.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    const ended = left.map((child) => once(child, 'exit'));
    for (const child of left) child.kill('SIGKILL');
    await Promise.all(ended);
  }
}

function lastWriter(log: string): number | undefined {
  const last = linesOf(log).at(-1);
  return last === undefined ? undefined : Number(last.epoch.split('-')[0]);
}

/** Waits until each lock was taken and written under since now: nothing that died may hold it for ever. */
async function progress({ log, names }: WriterTask): Promise<void> {
  const before = linesOf(log).length;
  const isOver = (): boolean => {
    const later = linesOf(log).slice(before);
    const took = later.filter((line) => line.kind === 'took').map((line) => line.epoch);
    const isWritten = (name: string): boolean =>
      later.some(
        (line) => line.kind === 'write' && line.name === name && took.includes(line.epoch),
      );
    return names.every(isWritten);
  };
  await until(isOver, { show: () => linesOf(log).slice(before) });
}

/**
 * The writes of each lock, in the order in which they were made, are those of one holder after the other. A write that was not made
 * while its holder could be sure, because the process stopped between looking at the clock and writing, proves nothing.
 */
function judge(lines: readonly WriterLine[]) {
  const done = new Map(
    lines.flatMap((line) =>
      line.kind === 'done' ? [[`${line.epoch}/${line.number}`, line.at]] : [],
    ),
  );
  let [writes, unsure, epochs] = [0, 0, 0];
  for (const name of NAMES) {
    const holds = new Map<string, { from: number; to: number }>();
    for (const line of lines) {
      if (line.kind === 'done' || line.name !== name) continue;
      if (line.kind === 'took') {
        holds.set(line.epoch, { from: line.at, to: line.at });
        continue;
      }
      const at = done.get(`${line.epoch}/${line.number}`);
      const hold = holds.get(line.epoch);
      if (at === undefined || at >= line.until || hold === undefined) {
        unsure += 1;
        continue;
      }
      writes += 1;
      hold.to = at;
    }
    const inOrder = [...holds].toSorted(([, one], [, other]) => one.from - other.from);
    epochs += inOrder.length;
    for (const [index, [epoch, { to }]] of inOrder.entries()) {
      const next = inOrder[index + 1];
      if (next !== undefined && next[1].from < to) {
        throw new Error(
          `${epoch} wrote ${name} until ${to}, and ${next[0]} held it from ${next[1].from} on`,
        );
      }
    }
  }
  return { writes, unsure, epochs };
}

function linesOf(log: string): WriterLine[] {
  const text = readFileSync(log, 'utf8');
  // The last line may be of a process that was killed while it wrote.
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as WriterLine];
      } catch {
        return [];
      }
    });
}
