// The page of a controller over 10,000 environments: how long the metrics, the list and the API take, and for how long nothing else is answered
// meanwhile. Takes `--rounds N` (15) and `--environments N`.
import { setTimeout as sleep } from 'node:timers/promises';
import { watching } from './fleet/watching.mjs';
import { figureRow } from './measure.mjs';

const ENVIRONMENTS = 10_000;
/** In milliseconds: what a reader waits for, and of 11 MB of metrics a tenth of the time after which Prometheus gives up. */
const LIMITS = { '/metrics': 1_000, '/': 250, '/api/environments': 250 };
/** Milliseconds between two questions whether it is alive. */
const ASKED_EVERY = 5;

export async function measure({ rounds = 15, environments = ENVIRONMENTS }) {
  const rows = [];
  const args = ['--interval', '1h', '--parallel', '32', '--listen', '127.0.0.1:0'];
  await watching({ fleet: 'one origin', environments, args }, async ({ notes }) => {
    const page = await until(() => notes.map((note) => /http:\S+/.exec(note)?.[0]).find(Boolean));
    await until(async () => (await fetch(`${page}/readyz`)).ok);
    for (const [path, limit] of Object.entries(LIMITS)) {
      const [took, longest] = [[], []];
      for (let round = 0; round < rounds; round += 1) {
        const [own, other] = await answered(page, path);
        took.push(own);
        longest.push(other);
      }
      const name = `${path} of ${environments} environments`;
      rows.push(
        figureRow({ name, limit, unit: 'ms', figures: took }),
        figureRow({
          name: 'the longest wait of others meanwhile',
          limit: null,
          unit: 'ms',
          figures: longest,
        }),
      );
    }
  });
  return rows;
}

/** Milliseconds of an answer, and of the slowest /healthz that was asked for meanwhile. */
async function answered(page, path) {
  const over = new AbortController();
  let longest = 0;
  const others = (async () => {
    while (!over.signal.aborted) {
      longest = Math.max(longest, await timed(`${page}/healthz`));
      await sleep(ASKED_EVERY);
    }
  })();
  const took = await timed(`${page}${path}`);
  over.abort();
  await others;
  return [took, longest];
}

async function timed(address) {
  const start = performance.now();
  const response = await fetch(address);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${address} answered ${response.status}`);
  return performance.now() - start;
}

async function until(found) {
  for (;;) {
    const value = await found();
    if (value) return value;
    await sleep(200);
  }
}
