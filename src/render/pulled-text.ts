import { counted } from '../model/counted.ts';
import { formatPath } from '../model/path.ts';
import type { EnvironmentPull, PullDocument, PulledAction, PulledValue } from '../model/pulled.ts';
import { unknownText } from './change-text.ts';
import { inlineValue, isNested } from './inline-value.ts';
import { COULD_NOT_READ, heading } from './plan-text.ts';
import { paint, type Paint, type Style } from './style.ts';
import { visible } from './visible.ts';

const WORDS: Readonly<Record<PulledAction, readonly [string, Paint, string]>> = {
  set: ['+', 'green', ''],
  change: ['~', 'yellow', 'changed as the service has it'],
  clear: ['-', 'red', ''],
  add: ['+', 'green', 'added'],
  remove: ['-', 'red', 'removed, the service no longer has it'],
  adopt: ['+', 'green', 'imported'],
};

/** What a pull brought into the files, target by target, and what it left. Errors are not in it: they go where words go. */
export function pulledText({ environments, files }: PullDocument, style: Style): string {
  const blocks = environments.map((environment) => environmentText(environment, style));
  return blocks.join('\n') + filesText(files);
}

function environmentText(environment: EnvironmentPull, style: Style): string {
  const { pulled, left, unknown, variables, status } = environment;
  const lines = [heading(environment, style), ''];
  lines.push(
    ...pulled.map((value) => pulledLine(value, style)),
    ...left.map(({ path, reason, ref }) => {
      const from = ref === null ? '' : paint(style, 'dim', ` (${visible(ref)})`);
      return `  ${paint(style, 'yellow', '!')} ${visible(formatPath(path))}: kept: ${visible(reason)}${from}`;
    }),
    ...unknown.map((one) => unknownText(one, style)),
    ...variables.map(
      ({ name, path }) =>
        `  ${paint(style, 'cyan', '$')} ${name}: to be set, for ${visible(formatPath(path))}`,
    ),
  );
  if (lines.length > 2) lines.push('');
  const footer = footerText(status, pulled.length, left.length > 0, style);
  return `${[...lines, footer].join('\n')}\n`;
}

function footerText(
  status: EnvironmentPull['status'],
  count: number,
  left: boolean,
  style: Style,
): string {
  const values = counted(count, 'value');
  switch (status) {
    case 'in-sync':
      return left
        ? 'Nothing to pull, except for what is kept.'
        : paint(style, 'green', 'Nothing to pull.');
    case 'differs':
      return `${values} to pull.`;
    case 'pulled':
      return paint(style, 'green', `${values} pulled.`);
    case 'skipped':
      return 'Not pulled: another environment could not be read.';
    case 'error':
      return paint(style, 'red', COULD_NOT_READ);
  }
}

function pulledLine(
  { path, action, before, after, sensitive, source }: PulledValue,
  style: Style,
): string {
  const [mark, color, word] = WORDS[action];
  const head = `  ${paint(style, color, mark)} ${paint(style, 'bold', visible(formatPath(path)))}`;
  const place =
    source === null ? '' : paint(style, 'dim', ` (${visible(source.file)}:${source.line})`);
  if (isNested(before) || isNested(after) || sensitive) {
    const words = word === '' ? (action === 'set' ? 'set' : 'null') : word;
    return `${head}: ${words}${place}`;
  }
  const value = inlineValue(after, style);
  return `${head}: ${before === null ? value : `${inlineValue(before, style)} → ${value}`}${place}`;
}

function filesText(files: PullDocument['files']): string {
  const written = files
    .filter(({ status }) => status === 'written')
    .map(({ file }) => visible(file));
  return written.length === 0 ? '' : `\nWrote ${written.join(', ')}.\n`;
}
