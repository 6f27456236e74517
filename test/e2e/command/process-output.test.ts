import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { endOf, folderWith } from '../../fixture/command.ts';

const COMMAND = join(import.meta.dirname, '../../../dist/bin/setpoint.cjs');

/** Runs `setpoint COMMAND` in a shell line, in which $SETPOINT stands for it; resolves to what the line prints. */
async function shell(line: string): Promise<string> {
  const SETPOINT = `${process.execPath} ${COMMAND}`;
  const child = spawn('bash', ['-c', line], { env: { PATH: process.env['PATH'], SETPOINT } });
  return (await endOf(child, line)).stdout;
}

const posix = it.skipIf(process.platform === 'win32');

posix('a reader that has gone ends the command quietly, a full disk does not', async () => {
  expect(await shell('($SETPOINT --help; echo "exit $?" >&2) 2>&1 >/dev/full')).toMatch(
    /could not be written.*exit 1/s,
  );
  expect(await shell('{ sleep 0.3; $SETPOINT schema; echo "exit $?" >&2; } 2>&1 | :')).toBe('');
});

posix('a file that takes a part of the text is an error', async () => {
  const folder = folderWith({});
  const path = join(folder.path, 'schema.json');
  try {
    expect(
      await shell(`(ulimit -f 8; $SETPOINT schema >${path}; echo "exit $?" >&2) 2>&1`),
    ).toMatch(/could not be written.*exit 1/s);
  } finally {
    folder.remove();
  }
});

posix('a file gets the text as a whole, behind what is there', async () => {
  const folder = folderWith({ 'out.txt': 'first\n' });
  try {
    const path = join(folder.path, 'out.txt');
    const fd = openSync(path, 'a');
    await new Promise((resolve) =>
      spawn(process.execPath, [COMMAND, '--version'], { stdio: ['ignore', fd, 'ignore'] }).on(
        'close',
        resolve,
      ),
    );
    closeSync(fd);
    expect(readFileSync(path, 'utf8')).toMatch(/^first\nsetpoint \S+\n$/);
  } finally {
    folder.remove();
  }
});
