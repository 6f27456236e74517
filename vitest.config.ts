import { readFileSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

const MINUTE = 60_000;

/** A limit is for what hangs: what is slow because the machine is busy passes, and so do as many runs as somebody wants. */
const limit = (process.env['SETPOINT_PROPERTY_RUNS'] ?? '') === '' ? 5 * MINUTE : 360 * MINUTE;

/** A tmpfs from which programs may be started, with this much room. */
const IN_MEMORY = '/dev/shm';
const ROOM = 2 * 2 ** 30;

/** Tests write and sync many small files: in memory if there is room, because a disk takes several times as long. */
function chooseFolder(): Record<string, string> {
  try {
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
    const options = mounts.map((line) => line.split(' ')).find((mount) => mount[1] === IN_MEMORY);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    const isFit = options?.[3]?.split(',').includes('noexec') === false && bavail * bsize >= ROOM;
    return isFit && process.env['TMPDIR'] === undefined ? { TMPDIR: IN_MEMORY } : {};
  } catch {
    return {};
  }
}

export default defineConfig({
  test: {
    env: chooseFolder(),
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/container/**', 'test/install/**', 'test/real/**'],
    setupFiles: ['test/property/runs.setup.ts'],
    tags: [
      {
        name: 'long',
        description:
          'Loops, kills, soaks, and further cases of what a shorter test holds. `npm test` leaves them to `npm run test:long`.',
      },
    ],
    // Some tests wait for most of their time, many for a disk: three workers more than there are cores keep all of them busy.
    maxWorkers: availableParallelism() + 3,
    expect: { poll: { timeout: 2 * MINUTE } },
    testTimeout: limit,
    hookTimeout: limit,
    // A file cleans up after itself, so that files share a worker and what it has loaded.
    isolate: false,
  },
});
