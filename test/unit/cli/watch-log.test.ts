import { expect, it } from 'vitest';
import { watchLog } from '../../../src/command/cli/commands/watch.ts';
import type { Io } from '../../../src/command/cli/io.ts';
import { collected } from '../../fixture/command-function.ts';

const HOSTILE = 'a\u001b[2J\u009b31m\u202e\u2028\u200b\nlevel=error forged';

it.each([['text'], ['json']])('a warning in %s is one line without controls', async (format) => {
  const [stdout, stderr] = [collected(), collected()];
  const io = { env: {}, stdout: stdout.stream, stderr: stderr.stream } as unknown as Io;
  const log = watchLog({ output: [format] }, io);
  log.note({ severity: 'warning', message: HOSTILE, environment: HOSTILE });
  await new Promise((resolve) => setImmediate(resolve));
  const text = stderr.text();
  expect(text).toMatch(/^[\u0020-\u007e]+\n$/);
  if (format === 'json')
    expect(JSON.parse(text)).toMatchObject({ message: HOSTILE, environment: HOSTILE });
});
