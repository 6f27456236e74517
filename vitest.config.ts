import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/container/**'],
    // Most of a test is waiting for sockets and processes: no core is kept free.
    maxWorkers: '100%',
    // A limit is for what hangs. What is slow because the machine is busy passes.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
