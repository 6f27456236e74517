import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** The pages of the documentation, by their paths from the root. */
export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path}`)
    .toSorted(),
];

export function textOfPage(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** A fenced block: its language, its lines, and the line of the page that its first one is on, from 0. */
export interface Block {
  readonly language: string;
  /** The blanks before the fence, in an item of a list. */
  readonly indent: string;
  readonly lines: readonly string[];
  readonly start: number;
  /** The line above the block. */
  readonly above: string;
}

export function blocksIn(text: string): readonly Block[] {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent = '', fence, language = ''] = /^( *)(```+)(\w*)$/.exec(lines[at] ?? '') ?? [];
    if (fence === undefined) continue;
    const end = lines.indexOf(`${indent}${fence}`, at + 1);
    if (end < 0) throw new Error(`the block at line ${at + 1} has no end`);
    const inside = lines.slice(at + 1, end).map((line) => line.slice(indent.length));
    blocks.push({ language, indent, lines: inside, start: at + 1, above: lines[at - 1] ?? '' });
    at = end;
  }
  return blocks;
}

/** The file that a block shows: a comment with nothing but the name is its first line, or the line above it. */
export function fileIn({
  lines,
  above,
}: Block): { readonly name: string; readonly text: string } | null {
  const named = /^(?:#|\/\/|<!--) (\.?[\w-]+(?:[./][\w-]+)*)(?: -->)?$/;
  const name = (named.exec(lines[0] ?? '') ?? named.exec(above))?.[1];
  return name === undefined || !name.includes('.') ? null : { name, text: `${lines.join('\n')}\n` };
}

/** A command of a block, and the output that the page shows below it. Lines are those of the page, from 0. */
export interface ShownCommand {
  readonly command: string;
  /** The exit code that a comment behind the command names: `# exit 2`. */
  readonly exit: number;
  readonly output: readonly string[];
  readonly outputStart: number;
  readonly indent: string;
}

export function commandsIn({ language, lines, start, indent }: Block): readonly ShownCommand[] {
  if (!['sh', 'bash', 'shell', 'console'].includes(language)) return [];
  const commands: ShownCommand[] = [];
  for (let at = 0; at < lines.length;) {
    let line = lines[at] ?? '';
    at += 1;
    if (line.trim() === '' || /^\s*#/.test(line)) continue;
    while (line.endsWith('\\')) line = `${line}\n${lines[at++] ?? ''}`;
    const outputStart = at;
    if (language === 'console') while (at < lines.length && !lines[at]?.startsWith('$ ')) at += 1;
    const command = line.replace(/^\$ /, '');
    commands.push({
      command,
      exit: Number(/# exit (\d+)\b/.exec(command)?.[1] ?? 0),
      output: lines.slice(outputStart, at),
      outputStart: start + outputStart,
      indent,
    });
  }
  return commands;
}
