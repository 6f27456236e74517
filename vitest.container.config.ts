import { defineConfig } from 'vitest/config';

/** The tests that need a container engine: `npm run test:container`. */
export default defineConfig({
  test: {
    include: ['test/container/**/*.test.ts'],
    globalSetup: 'test/container/provide-image.ts',
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
