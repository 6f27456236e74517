import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

const MINUTE = 60_000;

/** A limit is for what hangs: what is slow because the machine is busy passes, and so do as many runs as somebody wants. */
const limit = (process.env['SETPOINT_PROPERTY_RUNS'] ?? '') === '' ? 5 * MINUTE : 360 * MINUTE;

export default defineConfig({
  test: {
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
    testTimeout: limit,
    hookTimeout: limit,
    // A file cleans up after itself, so that files share a worker and what it has loaded.
    isolate: false,
  },
});
