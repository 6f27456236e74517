import { defineConfig } from 'vitest/config';

/** The tests that install a package from a registry: `npm run test:install`. */
export default defineConfig({
  test: {
    include: ['test/install/**/*.test.ts'],
    globalSetup: 'test/install/table.ts',
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});
