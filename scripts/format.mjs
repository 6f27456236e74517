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

const WIDTH = 100;

/** A value as the text of a JSON file: the formatter keeps a map on one line only if it is written so. */
export function formatJson(file, value) {
  return format(file, laidOut(value, 0, 0));
}

function laidOut(value, indent, before) {
  const line = onOneLine(value);
  if (typeof value !== 'object' || value === null || line.length + indent + before < WIDTH)
    return line;
  const inner = indent + 2;
  const pad = ' '.repeat(inner);
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((item) => pad + laidOut(item, inner, 1))
    : Object.entries(value).map(([key, member]) => {
        const name = `${JSON.stringify(key)}: `;
        return pad + name + laidOut(member, inner, name.length + 1);
      });
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  return `${open}\n${parts.join(',\n')}\n${' '.repeat(indent)}${close}`;
}

function onOneLine(value) {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}: ${onOneLine(member)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
