import { defineConfig } from 'vitest/config';

/** The tests that need a real server: `npm run test:real`. */
export default defineConfig({
  test: {
    include: ['test/real/**/*.test.ts'],
    // One server at a time.
    fileParallelism: false,
    // A limit is for what hangs: a server takes up to a minute to start on a busy machine.
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
