import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const OXFMT = join(import.meta.dirname, '../node_modules/oxfmt/bin/oxfmt');

/** A text as `npm run fix` would leave it in that file. */
export function format(file, text) {
  return execFileSync(process.execPath, [OXFMT, `--stdin-filepath=${file}`], {
    input: text,
    encoding: 'utf8',
    cwd: join(import.meta.dirname, '..'),
  });
}
