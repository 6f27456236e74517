import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { worstExitCode } from '../../src/reconciler/model/error.ts';
import { buildProgram } from '../../src/command/cli/run-command.ts';
import { blocksIn, fileIn, PAGES, ROOT, textOfPage } from './pages.ts';

/** Flags of other programs, and examples of flags, that the documentation names. */
const FOREIGN = new Set([
  '--env-file',
  '--flag',
  '--import',
  '--read-only',
  '--require',
  '--save-dev',
  '--token',
]);

const commands = new Map(
  buildProgram(
    () => {},
    async () => {},
  ).commands.map((command) => [
    command.name(),
    new Set(
      command.options.flatMap(({ long, short }) =>
        [long, short].flatMap((flag) => (typeof flag === 'string' ? [flag] : [])),
      ),
    ),
  ]),
);
const everyFlag = new Set([...commands.values()].flatMap((flags) => [...flags]));
const GLOBAL = ['--help', '-h', '--version', '-V'];

const SOURCES = ['src', '.github/workflows', 'test/container']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(ts|yml)$/.test(path))
      .map((path) => readFileSync(join(ROOT, folder, path), 'utf8')),
  )
  .join('\n');

/** What is between backticks in a line of prose. */
function spansOf(page: string): readonly string[] {
  const text = textOfPage(page).replace(/^ *(```+)[^]*?^ *\1$/gm, '');
  return [...text.matchAll(/(?<!`)`([^`\n]+)`(?!`)/g)].map(([, span = '']) => span);
}

describe('what the documentation names', () => {
  it.each(PAGES)('%s: the flags in prose exist', (page) => {
    const unknown = spansOf(page)
      .flatMap((span) => [...span.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([flag]) => flag))
      .filter((flag) => !everyFlag.has(flag) && !GLOBAL.includes(flag) && !FOREIGN.has(flag));
    expect(unknown).toEqual([]);
  });

  it.each(PAGES)(
    '%s: the commands in prose exist, and have the flags that they are named with',
    (page) => {
      const wrong = spansOf(page)
        .filter((span) => /^(\w+=\S+ )*setpoint [a-z]/.test(span))
        .filter((span) => {
          const [, name = '', rest = ''] = /setpoint ([a-z]+)(.*)/.exec(span) ?? [];
          const flags = commands.get(name);
          if (flags === undefined) return name !== 'help';
          const named = [...rest.matchAll(/(?<= )--?[a-z][a-z-]*/g)].map(([flag]) => flag);
          return named.some((flag) => !flags.has(flag) && !GLOBAL.includes(flag));
        });
      expect(wrong).toEqual([]);
    },
  );

  it.each(PAGES)('%s: the variables that begin with SETPOINT_ are read somewhere', (page) => {
    const named = new Set(
      [...textOfPage(page).matchAll(/\bSETPOINT_[A-Z]+(?:_[A-Z]+)*\b/g)].map(([name]) => name),
    );
    expect([...named].filter((name) => !SOURCES.includes(name))).toEqual([]);
  });

  it('the exit codes of several environments are in the order in which one wins', () => {
    const [, order = ''] =
      /the first of ([\d, or]+)\./.exec(textOfPage('docs/reference/exit-codes.md')) ?? [];
    const codes = order.split(/, | or /).map(Number);
    expect(codes.length).toBeGreaterThan(10);
    for (const [at, code] of codes.entries())
      for (const later of codes.slice(at)) expect(worstExitCode([later, code])).toBe(code);
  });

  it('workflows are shown as they are in the examples, but for lines that are left out', () => {
    const shown = PAGES.flatMap((page) => blocksIn(textOfPage(page))).flatMap((block) => {
      const file = fileIn(block);
      return file?.name.startsWith('.github/workflows/') === true ? [{ file, block }] : [];
    });
    expect(shown.length).toBeGreaterThan(0);
    for (const { file, block } of shown) {
      const path = `examples/github-actions/${file.name.split('/').at(-1)}`;
      const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
      let at = -1;
      for (const line of block.lines.slice(1)) {
        at = lines.indexOf(line, at + 1);
        expect(at, `${path}: ${line}`).toBeGreaterThanOrEqual(0);
      }
    }
  });
});
