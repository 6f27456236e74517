import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    exclude: [...configDefaults.exclude, 'test/container/**', 'test/real/**'],
    tags: [
      {
        name: 'long',
        description:
          'Loops, kills, soaks, and further cases of what a shorter test holds. `npm test` leaves them to `npm run test:long`.',
      },
    ],
    // Some tests wait for most of their time: two workers more than there are cores keep all of them busy.
    maxWorkers: availableParallelism() + 2,
    // A limit is for what hangs. What is slow because the machine is busy passes.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // A file cleans up after itself, so that files share a worker and what it has loaded.
    isolate: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'property',
          include: ['test/property/**/*.test.ts'],
          setupFiles: ['test/property/runs.setup.ts'],
          // SETPOINT_PROPERTY_RUNS says how much there is to do.
          testTimeout: 6 * 3_600_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'cases',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...configDefaults.exclude,
            'test/container/**',
            'test/real/**',
            'test/property/**',
          ],
        },
      },
    ],
  },
});
