import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksIn, commandsIn, PAGES, ROOT, textOfPage } from './pages.ts';
import { LONG } from '../fixture/long.ts';
import { runPage, type Ran } from './run-page.ts';
import { REASONS, SET_UPS, whyNotRun } from './set-ups.ts';

const UPDATE = (process.env['UPDATE_GOLDEN'] ?? '') !== '';

/** README, and the pages of its numbered list. */
const [guides = ''] = /^1\. [^]*?\n\n/m.exec(textOfPage('README.md')) ?? [];
const FIRST = ['README.md', ...[...guides.matchAll(/\]\(([^)]+)\)/g)].map(([, page = '']) => page)];
const TITLE = 'of %s run, and print what the page shows';

const withCommands = PAGES.filter((page) =>
  blocksIn(textOfPage(page))
    .flatMap(commandsIn)
    .some(({ command }) => whyNotRun(command) === null),
);

describe('the commands of the documentation', () => {
  it('are found', () => expect(withCommands.length).toBeGreaterThanOrEqual(8));

  it('are in blocks marked as such: console, or sh', () => {
    const hidden = PAGES.flatMap((page) => blocksIn(textOfPage(page)))
      .filter((block) => commandsIn(block).length === 0)
      .flatMap(({ lines }) => lines.filter((line) => line.startsWith('$ ')));
    expect(hidden).toEqual([]);
  });

  it('every set-up belongs to a page with commands', () => {
    expect(withCommands).toEqual(expect.arrayContaining(Object.keys(SET_UPS)));
  });

  it('each of those that no test runs has a reason that is used', () => {
    const commands = PAGES.flatMap((page) => blocksIn(textOfPage(page)).flatMap(commandsIn));
    const used = commands.map(({ command }) => whyNotRun(command));
    expect(new Set(used.filter((reason) => reason !== null))).toEqual(new Set(REASONS));
  });

  it('of README and the pages that it lists are all typed, except those that need npm, GitHub, a cluster or a person', () => {
    expect(FIRST).toHaveLength(11);
    const shown = FIRST.flatMap((page) => blocksIn(textOfPage(page))).flatMap(commandsIn);
    const notTyped = shown.map(({ command }) => command).filter((one) => whyNotRun(one) !== null);
    expect(
      notTyped.filter(
        (command) =>
          !/^npm |kubectl |^kustomize |^setpoint (approve|pull --server) |APPROVAL_KEY/.test(
            command,
          ),
      ),
    ).toEqual([
      'gh workflow run drift.yml --ref main',
      'setpoint status attention --server https://setpoint.example.com',
    ]);
  });

  const first = withCommands.filter((page) => FIRST.includes(page));
  const others = withCommands.filter((page) => !FIRST.includes(page));
  it.concurrent.each(first)(TITLE, typed);
  it.concurrent.each(others)(TITLE, LONG, typed);

  async function typed(page: string): Promise<void> {
    const text = textOfPage(page);
    const ran = await runPage(text, SET_UPS[page] ?? {}, isAsShown);
    if (UPDATE) {
      writeFileSync(join(ROOT, page), withOutputs(text, ran));
      return;
    }
    for (const { shown, exit, output } of ran) {
      expect([shown.command, exit, exit === shown.exit ? '' : output]).toEqual([
        shown.command,
        shown.exit,
        '',
      ]);
      if (!isShown(shown.output) || isAsShown(shown, output)) continue;
      const [expected, actual] = [inWords(shown.output.join('\n')), inWords(output)];
      expect(`$ ${shown.command}\n${actual}`).toBe(`$ ${shown.command}\n${expected}`);
    }
    // What one command has made is what the next one lists.
    const whole = ran.filter(({ shown }) => isShown(shown.output) && !shown.output.includes('…'));
    const shownIds = idsIn(whole.map(({ shown }) => shown.output.join('\n')).join('\n'));
    expect(shownIds.size).toBe(idsIn(whole.map(({ output }) => output).join('\n')).size);
  }
});

/** A page shows no output of a command, or all of it, except lines that a line with only an ellipsis replaces. */
function isShown(output: readonly string[]): boolean {
  return output.some((line) => line.trim() !== '');
}

function isAsShown({ output: shown }: Ran['shown'], output: string): boolean {
  return matcher(inWords(shown.join('\n'))).test(inWords(output));
}

const ID = /\b(?:(?=\w*\d)(?=\w*[A-Z])[A-Za-z0-9]{20,22}|[0-9a-f]{32})\b/g;

function idsIn(text: string): ReadonlySet<string> {
  return new Set(text.match(ID));
}

/** Ids are made up, so that only which is which counts; and nothing depends on how long something takes. */
function inWords(text: string): string {
  const ids: string[] = [];
  return text
    .replace(/\d{4}-\d\d-\d\d(?:T[\d:.]+Z| \d\d:\d\d UTC)/g, 'TIME')
    .replace(/\b\d+ (?:s|min) ago/g, 'N ago')
    .replace(/\b\d+(?:\.\d)?s\b */g, 'N ')
    .replace(ID, (id) => {
      if (!ids.includes(id)) ids.push(id);
      return `ID${ids.indexOf(id) + 1}`;
    })
    .replace(/[ \t]+$/gm, '')
    .trim();
}

function matcher(expected: string): RegExp {
  const parts = expected.split(/^\s*…$/m).map((part) => part.trim());
  const literal = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('[^]*')}$`);
}

/** The page with the outputs that its commands have printed. */
function withOutputs(text: string, ran: readonly Ran[]): string {
  const lines = text.split('\n');
  for (const { shown, exit, output } of ran.toReversed()) {
    if (exit !== shown.exit) throw new Error(`${shown.command} ended with ${exit}: ${output}`);
    if (!isShown(shown.output) || isAsShown(shown, output)) continue;
    const printed = output.replace(/[ \t]+$/gm, '').replace(/^\n+|\n+$/g, '');
    const placed = printed.split('\n').map((line) => (line === '' ? '' : `${shown.indent}${line}`));
    lines.splice(shown.outputStart, shown.output.length, ...placed);
  }
  return lines.join('\n');
}
