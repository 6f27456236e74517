import { defineConfig } from 'vitest/config';

/** What `npm run mutate` tries each mutant on: tests that run in one process and draw nothing at random. */
export default defineConfig({
  test: {
    include: [
      'test/unit/{desired,edit,model,operations,plan,reconcile,service}/**/*.test.ts',
      'test/unit/watch/{beginnings,conditions,departed,environment*,healing,schedule}.test.ts',
      'test/unit/watch/notices/{decide,due}.test.ts',
      'test/contract/{effects,predicted}.test.ts',
      'test/golden/**/*.test.ts',
      'test/e2e/apply/{faults,guards,missing-reference,policy}.test.ts',
      'test/e2e/servers/{nothing-lost,path-facts,server-mcp,stores}.test.ts',
    ],
    isolate: false,
    testTimeout: 60_000,
  },
});
