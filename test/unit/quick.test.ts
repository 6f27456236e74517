import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const SLOW = /from '(fast-check|node:(child_process|worker_threads|timers\/promises))'/;

it('a unit test imports nothing that draws random inputs, starts a process or sleeps', () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
  const slow = files
    .filter((file) => file.endsWith('.ts'))
    .filter((file) => SLOW.test(readFileSync(join(import.meta.dirname, file), 'utf8')));
  expect(slow).toEqual([]);
});
