// `setpoint controller` over SettingsTargets of one origin on a real API server, beside a bare list and watch of the same objects: its first round,
// a time in which all is in sync, and restarts. Takes `--environments N` (1,000) and `--minutes N` (1), the time in sync. With 10,000 it takes twenty
// minutes on two cores.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiServer, createObjects } from './cluster/objects.mjs';
import { askFleet, startFleet } from './fleet/lay-out.mjs';
import { COMMAND, figureRow, USAGE } from './measure.mjs';

const LIST_WATCH = join(import.meta.dirname, 'cluster/list-watch.mjs');
/** The limits: MiB, and statuses written in a second when all is in sync. */
const MEMORY = 200;
const WRITES = 1;
/** A restart may read this many services in a second: the Leases let 25 begin at once, then 50 in a second, and a sample may take longer than one. */
const READS = 100;

export async function measure({ environments = 1_000, minutes = 1 }) {
  const server = apiServer(process.env);
  if (server === null) {
    console.error(
      'Left out: no API server is named by SETPOINT_KUBE_APISERVER, SETPOINT_KUBE_TOKEN and SETPOINT_KUBE_CA.',
    );
    return [];
  }
  const fleet = await startFleet('127.0.0.1');
  const objects = await createObjects(server, environments, fleet.port);
  const data = mkdtempSync(join(tmpdir(), 'setpoint-data-'));
  const seen = { ready: new Set(), writes: 0 };
  const stopWatch = await objects.watch(({ metadata, status }) => {
    if (status === undefined) return;
    seen.writes += 1;
    const ready = status.conditions.find(({ type }) => type === 'Ready');
    if (ready.status === 'True') seen.ready.add(metadata.name);
    else seen.ready.delete(metadata.name);
  });
  try {
    const of = { server, objects, fleet, seen, environments };
    const first = await controllerRun(of, data, minutes);
    const again = await controllerRun(of, data, 0);
    rmSync(data, { recursive: true });
    const anew = await controllerRun(of, data, 0);
    const bare = await bareRun(of);
    for (const [name, run] of Object.entries({ first, again, anew, bare }))
      console.error(name, JSON.stringify(run));
    return rowsOf(`${environments} SettingsTargets`, { first, again, anew, bare });
  } finally {
    await stopWatch();
    rmSync(data, { recursive: true, force: true });
    await objects.remove();
    await fleet.stop();
  }
}

/** From the start of a controller until each object was read and is Ready, and the time in sync after it. */
async function controllerRun({ server, objects, fleet, seen, environments }, data, minutes) {
  const { hostname, port } = new URL(server.origin);
  const env = {
    ...fleet.env,
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    SETPOINT_SERVICE_ACCOUNT: objects.folder,
  };
  const run = started([COMMAND, 'controller', '--data', data, '-q'], env);
  const began = { writes: seen.writes, reads: (await askFleet(fleet.port)).reads };
  const start = performance.now();
  const pace = { reads: 0, writes: 0 };
  let [now, last] = [began, began];
  // Each second, until all were read once and are Ready.
  while (now.reads - began.reads < environments || seen.ready.size < environments) {
    if (run.child.exitCode !== null) throw new Error(`controller ended: ${run.said()}`);
    await sleep(1000);
    now = { writes: seen.writes, reads: (await askFleet(fleet.port)).reads };
    for (const figure of Object.keys(pace))
      pace[figure] = Math.max(pace[figure], now[figure] - last[figure]);
    last = now;
  }
  const settled = performance.now() - start;
  const firstBusy = run.busy();
  await sleep(5_000);
  const look = async () => ({
    writes: seen.writes,
    patches: await objects.patches(),
    reads: (await askFleet(fleet.port)).reads,
  });
  const before = await look();
  await sleep(minutes * 60_000);
  const after = await look();
  const usage = await run.end();
  return {
    settled,
    firstBusy,
    firstWrites: before.writes - began.writes,
    mostReads: pace.reads,
    mostWrites: pace.writes,
    // What the watch has shown, or the API server has counted, whichever is more.
    writesInSync:
      Math.max(after.writes - before.writes, after.patches - before.patches) / (minutes * 60),
    readsInSync: (after.reads - before.reads) / (minutes * 60),
    ...usage,
    lateShare: minutes === 0 ? null : shareOf(usage.samples, minutes),
    samples: undefined,
  };
}

async function bareRun({ server, objects, environments }) {
  const start = performance.now();
  const args = [LIST_WATCH, server.origin, objects.folder, objects.path, String(environments)];
  const run = started(args, process.env);
  await once(run.child.stdout, 'data');
  const settled = performance.now() - start;
  await sleep(5_000);
  return { settled, ...(await run.end()), samples: undefined };
}

/** A process whose memory and work of processors is watched. */
function started(args, env) {
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-usage-'));
  const usage = join(folder, 'usage');
  const child = spawn(process.execPath, ['--require', USAGE, ...args], {
    env: { ...env, BENCH_USAGE: usage, BENCH_EVERY: '1000' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => text.push(chunk));
  const said = () => Buffer.concat(text).toString().slice(0, 2000);
  return {
    child,
    said,
    /** Milliseconds that processors have worked for it. Linux counts them in hundredths of a second. */
    busy: () => {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
    async end() {
      const closed = once(child, 'close');
      child.kill();
      const [code] = await closed;
      if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${said()}`);
      const { kibibytes, busy, samples } = JSON.parse(readFileSync(usage, 'utf8'));
      rmSync(folder, { recursive: true });
      return { most: kibibytes / 1024, atEnd: samples.at(-1).mebibytes, busy, samples };
    },
  };
}

/** The share of a processor, in percent, of the last minutes of a run. */
function shareOf(samples, minutes) {
  const last = samples.at(-1);
  const from = samples.findLast(({ at }) => at <= last.at - minutes * 60_000) ?? samples[0];
  return ((last.busy - from.busy) / (last.at - from.at)) * 100;
}

function rowsOf(name, { first, again, anew, bare }) {
  const row = (what, unit, limit, figure) =>
    figureRow({ name: `${name}: ${what}`, unit, limit, figures: [figure] });
  const rows = [
    row('memory at most', 'MiB', MEMORY, first.most),
    row('memory in sync', 'MiB', null, first.atEnd),
    row('memory of a bare list and watch at most', 'MiB', null, bare.most),
    row('until a bare list is there', 'ms', null, bare.settled),
    row('reads in a second in sync', '', null, first.readsInSync),
    row('statuses written in a second in sync', '', WRITES, first.writesInSync),
    row('share of a processor in sync', '%', null, first.lateShare),
  ];
  const runs = { 'the first start': first, 'a restart': again, 'a restart without its data': anew };
  for (const [what, run] of Object.entries(runs))
    rows.push(
      row(`${what}, until all are Ready`, 'ms', null, run.settled),
      row(`${what}, work of processors until then`, 'ms', null, run.firstBusy),
      row(`${what}, statuses written until then`, '', null, run.firstWrites),
      row(`${what}, reads in the busiest second`, '', READS, run.mostReads),
      row(`${what}, statuses written in the busiest second`, '', null, run.mostWrites),
    );
  return rows;
}
