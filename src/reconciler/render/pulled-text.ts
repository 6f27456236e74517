import { structuredPatch } from 'diff';
import { formatCount } from '../model/wording.ts';
import { formatPath } from '../model/path.ts';
import type {
  EnvironmentPull,
  InitDocument,
  PullDocument,
  PulledAction,
  PulledValue,
  TakenFrom,
} from '../model/documents.gen.ts';
import type { FileEdit, ShownLine } from '../model/pulled.ts';
import { unknownText, heading } from './section-text.ts';
import { inlineValue, isNested } from './change.ts';
import { groupSkipped } from '../model/taken.ts';
import { showsSecrets } from '../model/uncompared.ts';
import { paint, type Paint, type Style, visible } from './text.ts';
import { unreadSentence } from './wording.ts';

const PULLED_WORDS: Readonly<Record<PulledAction, readonly [string, Paint, string]>> = {
  set: ['+', 'green', ''],
  change: ['~', 'yellow', 'changed to what the service has'],
  clear: ['-', 'red', ''],
  add: ['+', 'green', 'added'],
  remove: ['-', 'red', 'removed, the service no longer has it'],
  adopt: ['+', 'green', 'imported'],
};

/** Formats the pulled and the skipped values of each environment. Errors are printed with the messages. */
export function formatPulled({ environments, files }: PullDocument, style: Style): string {
  const blocks = environments.map((environment) => environmentPull(environment, style));
  return blocks.join('\n') + filesText(files);
}

function environmentPull(environment: EnvironmentPull, style: Style): string {
  const { pulled, left, unknown, variables } = environment;
  const lines = [heading(environment, style), ''];
  lines.push(
    ...pulled.map((value) => formatPulledValue(value, style)),
    ...left.map(({ path, reason, ref }) => {
      const from = ref === null ? '' : paint(style, 'dim', ` (${visible(ref)})`);
      return `  ${paint(style, 'yellow', '!')} ${visible(formatPath(path))}: kept: ${visible(reason)}${from}`;
    }),
    ...unknown.map((one) => unknownText(one, style)),
    ...variables.map(
      ({ name, path }) =>
        `  ${paint(style, 'cyan', '$')} ${name}: set this variable, for ${visible(formatPath(path))}`,
    ),
  );
  if (lines.length > 2) lines.push('');
  const footer = footerText(environment, style);
  return `${[...lines, footer].join('\n')}\n`;
}

function footerText({ status, pulled, left, error }: EnvironmentPull, style: Style): string {
  const values = formatCount(pulled.length, 'value');
  switch (status) {
    case 'in-sync':
      return left.length > 0
        ? 'Nothing to pull, except for what is kept.'
        : paint(style, 'green', 'Nothing to pull.');
    case 'differs':
      return `${values} to pull.`;
    case 'pulled':
      return paint(style, 'green', `${values} pulled.`);
    case 'skipped':
      return 'Not pulled: another environment could not be read.';
    case 'error':
      return paint(style, 'red', unreadSentence(error));
  }
}

function formatPulledValue(
  { path, action, before, after, sensitive, source }: PulledValue,
  style: Style,
): string {
  const [mark, color, word] = PULLED_WORDS[action];
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

/** Formats what an init wrote, what it left out, and what to do next. */
export function initText(document: InitDocument, style: Style): string {
  const { environment, origin, status, files, left, from } = document;
  const lines = [
    heading({ name: environment, origin }, style),
    '',
    ...(status === 'empty' ? ['  The service has no settings yet.'] : []),
    ...left.map(
      ({ path, reason }) =>
        `  ${paint(style, 'yellow', '!')} ${visible(formatPath(path))}: left out: ${visible(reason)}`,
    ),
    ...groupSkipped(from?.left ?? []).map(
      ({ file, places, reason }) =>
        `  ${paint(style, 'yellow', '!')} ${visible(file)}: not taken: ${visible(places)}: ${visible(reason)}`,
    ),
    ...files
      .filter((file) => file.status !== 'unchanged')
      .map((one) => `  ${paint(style, 'green', '+')} ${visible(one.file)}: ${one.status}`),
    '',
    ...(from === null ? listNextSteps(document) : listImportSteps(document, from)),
  ];
  return `${lines.join('\n')}\n`;
}

function listNextSteps(document: InitDocument): readonly string[] {
  const { variables } = document;
  if (variables.length === 0) return ['Next: setpoint plan.'];
  return [
    `Set these variables: ${variables.map(({ name }) => name).join(', ')}`,
    ...(variables.some(({ path }) => path[0] !== 'server') ? [noticing(document)] : []),
    'Next: setpoint plan. Or cp .env.example .env, fill it in, and setpoint plan --dotenv .env.',
  ];
}

/** Formats the next steps for a file that was made of others: where the values are now. */
function listImportSteps({ origin, variables }: InitDocument, from: TakenFrom): readonly string[] {
  const placeOf = new Map(from.values.map((one) => [one.variable, one]));
  const countOf = (file: string): number => from.values.filter((one) => one.file === file).length;
  // Of several files of variables the one that has most of the values; in doubt the later one, which holds.
  const dotenv = from.files
    .filter(({ form }) => form === 'variables')
    .reduceRight<string | undefined>(
      (best, { file }) => (best === undefined || countOf(file) > countOf(best) ? file : best),
      undefined,
    );
  const missing = variables.filter(
    ({ name }) => dotenv === undefined || placeOf.get(name)?.file !== dotenv,
  );
  const plan = dotenv === undefined ? 'setpoint plan' : `setpoint plan --dotenv ${visible(dotenv)}`;
  const isEmbedded = origin?.startsWith('embedded:') === true;
  return [
    isEmbedded
      ? 'server.url is the service inside setpoint, to try the file: write the address of yours there.'
      : 'The service was not read: only its address is in the file.',
    ...(missing.length === 0
      ? []
      : [
          dotenv === undefined
            ? 'Set these variables:'
            : `Add these variables to ${visible(dotenv)}:`,
        ]),
    ...missing.map(({ name }) => {
      const held = placeOf.get(name);
      if (held === undefined) return `  ${name}`;
      const where = `${visible(held.file)}: ${visible(held.place)}`;
      return held.encrypted
        ? `  ${name}: encrypted in ${where}, for the server that wrote it: enter the value itself`
        : `  ${name}: its value is in ${where}`;
    }),
    dotenv === undefined && missing.length > 0
      ? `Next: ${plan}. Or cp .env.example .env, fill it in, and setpoint plan --dotenv .env.`
      : `Next: ${plan}.`,
  ];
}

/** Explains how plans notice a new value of a secret, by the type of service. */
function noticing(found: InitDocument): string {
  const way = showsSecrets(found)
    ? 'set compare_secrets: true under server:'
    : 'set SETPOINT_STATE_KEY to a long random text';
  return `For plans that notice a new key, ${way}.`;
}

/** An edit of a file as a unified patch. Possible secrets are masked, so the patch is for reading, not for applying. */
export function patchText({ file, before, after }: FileEdit, style: Style): string {
  const { hunks } = structuredPatch(file, file, wholeText(before), wholeText(after), '', '', {
    context: 3,
  });
  const lines = [
    paint(style, 'bold', `--- ${visible(file)}`),
    paint(style, 'bold', `+++ ${visible(file)}`),
  ];
  for (const { oldStart, oldLines, newStart, newLines, lines: changes } of hunks) {
    lines.push(paint(style, 'cyan', `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`));
    let [old, now] = [oldStart - 1, newStart - 1];
    for (const change of changes) {
      const mark = change.slice(0, 1);
      if (mark === '-') lines.push(paint(style, 'red', `-${formatEditLine(before[old++])}`));
      else if (mark === '+') lines.push(paint(style, 'green', `+${formatEditLine(after[now++])}`));
      else if (mark === ' ') {
        lines.push(` ${formatEditLine(after[now++])}`);
        old += 1;
      }
    }
  }
  return `${lines.join('\n')}\n`;
}

function wholeText(lines: readonly ShownLine[]): string {
  return lines.map(({ text }) => text).join('\n');
}

function formatEditLine(line: ShownLine | undefined): string {
  return visible((line?.shown ?? '').replace(/\r$/, ''));
}
