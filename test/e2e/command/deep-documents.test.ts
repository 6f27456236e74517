import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { folderWith } from '../../fixture/command.ts';

it('M10: deep documents, one after the other in one process, do not end it', () => {
  const built = join(process.cwd(), 'dist/index.js');
  expect(existsSync(built), 'npm run build comes first').toBe(true);
  const folder = folderWith({});
  onTestFinished(() => folder.remove());
  const script = `
    import { writeFileSync } from 'node:fs';
    import { validate } from ${JSON.stringify(pathToFileURL(built))};
    for (const levels of [1000, 5000, 100000])
      for (const [open, close] of ['[]', ['{a: ', '}'], ['- ', ''], ['? ', '']]) {
        writeFileSync('deep.yaml', open.repeat(levels) + close.repeat(levels));
        const { diagnostics } = await validate({ file: 'deep.yaml', env: {} });
        console.log(diagnostics[0].code);
      }
  `;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: folder.path,
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  expect(stdout).toBe('syntax\n'.repeat(12));
});
