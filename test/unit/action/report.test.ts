import { expect, it } from 'vitest';
import { LONGEST_SUMMARY } from '../../../src/command/action/step-result.ts';
import { planMarkdown } from '../../../src/reconciler/render/markdown/comments.ts';
import { change, environment, planOf } from '../../fixture/documents.ts';

it('a summary of five thousand environments stays under the 1 MiB that GitHub takes, and uses it', () => {
  const environments = Array.from({ length: 5_000 }, (_, index) =>
    environment({ name: `ö-${index}`, changes: [change({ before: 'ö'.repeat(80) })] }),
  );
  const size = Buffer.byteLength(planMarkdown(planOf(...environments), LONGEST_SUMMARY));
  expect(size).toBeLessThan(1024 * 1024);
  expect(size).toBeGreaterThan(600_000);
});
