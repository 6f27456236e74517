import { defineConfig } from 'vitest/config';

/** What `npm run mutate` tries each mutant on: tests that run in one process and draw nothing at random. */
export default defineConfig({
  test: {
    include: [
      'test/unit/{desired,edit,model,operations,plan,reconcile,service}/**/*.test.ts',
      'test/unit/watch/{environment,healing,schedule}.test.ts',
      'test/unit/watch/notices/decide.test.ts',
      'test/golden/**/*.test.ts',
      'test/e2e/{faults,guards,path-facts,policy,missing-reference,nothing-lost,sandbox-knobs,server-mcp,stores}.test.ts',
    ],
    isolate: false,
    testTimeout: 60_000,
  },
});
