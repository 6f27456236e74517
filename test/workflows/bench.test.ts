import { describe, expect, it } from 'vitest';
import { folderWith } from '../fixture/command.ts';
import { runScript } from './run-script.ts';
import { stepNamed, workflowNamed } from './workflow-file.ts';

const TABLE = '| measured | verdict |';

/** Runs the step with an npm that adds a table to the file it is given, as the bench does, and ends with a code. */
async function bench(code: number) {
  const folder = folderWith({});
  const npm = `#!/bin/sh\necho "$*" >&2\necho '${TABLE}' >>"\${*##* }"\nexit ${code}\n`;
  try {
    const { run = '' } = stepNamed(workflowNamed('ci'), 'bench', 'Bench');
    return await runScript(run, { cwd: folder.path, commands: { npm } });
  } finally {
    folder.remove();
  }
}

describe.runIf(process.platform === 'linux')('the job bench (on Linux)', () => {
  it('posts the table, and passes within the limits without a word', async () => {
    const { code, summary, stdout, stderr } = await bench(0);
    expect([code, summary, stdout]).toEqual([0, `${TABLE}\n`, '']);
    expect(stderr).toMatch(/^run bench -- --json bench.json --markdown /);
  });

  it('posts the table and warns beyond a limit', async () => {
    const { code, summary, stdout } = await bench(2);
    expect([code, summary]).toEqual([0, `${TABLE}\n`]);
    expect(stdout).toMatch(/^::warning title=bench::Beyond a limit/);
  });

  it('fails if something cannot be measured', async () => {
    expect(await bench(1)).toMatchObject({ code: 1, stdout: '' });
  });
});
