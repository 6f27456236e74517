import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LONG } from '../fixture/long.ts';

const GENERATE = join(import.meta.dirname, '../../scripts/generate.mjs');

it('what follows from the schema is fresh', LONG, () => {
  const { status, stderr } = spawnSync(process.execPath, [GENERATE, '--check'], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});
