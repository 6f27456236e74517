import { expect, it } from 'vitest';
import { jobSummary } from '../../../src/action/report.ts';

it('a summary of a thousand environments stays under the 1 MiB that GitHub takes', () => {
  const sections = Array.from(
    { length: 1000 },
    (_, index) => `## ${index}\n\n${'ö'.repeat(20_000)}`,
  );
  const size = Buffer.byteLength(jobSummary(sections));
  expect(size).toBeLessThan(1024 * 1024);
  expect(size).toBeGreaterThan(900_000);
});
