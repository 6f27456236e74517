import { counted } from '../model/counted.ts';
import type {
  EnvironmentOutcome,
  OutcomeChange,
  OutcomeDocument,
  Result,
} from '../model/outcome.ts';
import { inlineValue } from './inline-value.ts';
import { heading, NOTHING_TO_BE_DONE } from './plan-text.ts';
import { changeName, unknownText, warningText } from './change-text.ts';
import { paint, type Paint, type Style } from './style.ts';
import { unchangedText } from './unchanged-text.ts';
import { visible } from './visible.ts';
import { groupedWarnings } from './warning-order.ts';

const WORDS: Readonly<Record<Result, string>> = {
  verified: 'verified',
  set: 'set',
  unverifiable: 'sent, cannot be read back',
  'not-sent': 'not written',
  unknown: 'sent, not seen since',
};

/** What an apply did, target by target. Errors are not in it: they go where words go. */
export function outcomeText(document: OutcomeDocument, style: Style): string {
  return document.environments.map((environment) => environmentText(environment, style)).join('\n');
}

function environmentText(environment: EnvironmentOutcome, style: Style): string {
  const lines = [heading(environment, style)];
  const body = [
    ...environment.changes.map((change) => `  ${changeLine(change, environment, style)}`),
    ...environment.remaining.flatMap(({ expected, actual, reason, ...place }) => [
      `  ${paint(style, 'red', '!')} ${changeName(place)}: ${visible(reason)}`,
      `      expected ${inlineValue(expected, style)}`,
      `      found    ${inlineValue(actual, style)}`,
    ]),
    ...(environment.changes.length === 0
      ? environment.unknown.map((unknown) => unknownText(unknown, style))
      : []),
    ...groupedWarnings(newWarnings(environment)).map((warning) => warningText(warning, style)),
  ];
  if (body.length > 0) lines.push('', ...body);
  return `${[...lines, '', endingText(environment, style)].join('\n')}\n`;
}

const AFTERWARDS: ReadonlySet<string> = new Set([
  'answered-with-error',
  'sandbox-busy',
  'sandbox-displaced',
]);

/** The plan has shown the others, where there was one. */
export function newWarnings({
  changes,
  warnings,
}: EnvironmentOutcome): EnvironmentOutcome['warnings'] {
  return changes.length === 0 ? warnings : warnings.filter(({ code }) => AFTERWARDS.has(code));
}

function changeLine(change: OutcomeChange, { status }: EnvironmentOutcome, style: Style): string {
  const [mark, color] = resultMark(change, status);
  return `${paint(style, color, mark)} ${changeName(change)}: ${resultText(change, status)}`;
}

/** Nothing went wrong, and this was not sent: a later look has shown that it is so already. */
function isUnneeded({ result }: OutcomeChange, status: EnvironmentOutcome['status']): boolean {
  return result === 'not-sent' && (status === 'applied' || status === 'in-sync');
}

/** What became of a change. A sandbox that was started has a name from then on. */
export function resultText(change: OutcomeChange, status: EnvironmentOutcome['status']): string {
  if (isUnneeded(change, status)) return 'not needed any more';
  const { resource, action, result, sandbox } = change;
  const named = sandbox === undefined ? '' : `${visible(sandbox)}, `;
  const state = resource === 'sandbox' ? STATES[action] : undefined;
  if (state === undefined || result === 'not-sent') return `${named}${WORDS[result]}`;
  return result === 'verified'
    ? `${named}${state}`
    : `${named}requested, not ${NOT_YET[action] ?? state} yet`;
}

/** What a sandbox is once it is as requested. */
const NOT_YET: Readonly<Record<string, string>> = { start: 'running', resume: 'running' };

const STATES: Readonly<Record<string, string>> = {
  start: 'started',
  resume: 'resumed',
  pause: 'paused',
};

const MARKS: Readonly<Record<Result, readonly [string, Paint]>> = {
  verified: ['✓', 'green'],
  set: ['✓', 'green'],
  unverifiable: ['?', 'cyan'],
  'not-sent': ['✗', 'red'],
  unknown: ['✗', 'red'],
};

/** The mark of a result, and its colour. */
export function resultMark(
  change: OutcomeChange,
  status: EnvironmentOutcome['status'],
): readonly [string, Paint] {
  return isUnneeded(change, status) ? ['·', 'dim'] : MARKS[change.result];
}

const MEANWHILE = 'Nothing was written: the service already is as the file says.';

const ENDINGS: Readonly<Record<string, string>> = {
  declined: 'Cancelled.',
  interrupted: 'Stopped.',
  terminated: 'Stopped.',
  skipped: 'Not started.',
};

/** What an apply came to, in the words of its last line. */
export function endingText(
  { status, changes, unknown, requests, error }: EnvironmentOutcome,
  style: Style,
): string {
  const requested = style.verbose ? ` (${requests.get} GET, ${requests.post} POST)` : '';
  switch (status) {
    case 'in-sync':
      return (changes.length === 0 ? unchangedText(unknown, style) : MEANWHILE) + requested;
    case 'applied': {
      const made = changes.filter(({ result }) => result !== 'not-sent').length;
      return `${paint(style, 'green', 'Applied')} ${counted(made, 'change')}.${requested}`;
    }
    case 'partial':
      return changes.length === 0
        ? `${paint(style, 'yellow', NOTHING_TO_BE_DONE)}${requested}`
        : `${paint(style, 'yellow', 'Applied in part.')}${requested}`;
    case 'not-converged':
      return `${paint(style, 'red', 'Applied, but not converged.')}${requested}`;
    case 'refused':
      return `${paint(style, 'red', 'Refused.')} Nothing was written.${requested}`;
    case 'failed': {
      const sent = changes.some(({ result }) => result !== 'not-sent');
      const rest = sent ? 'What was sent may or may not have been stored.' : 'Nothing was written.';
      return `${paint(style, 'red', ENDINGS[error?.code ?? ''] ?? 'Failed.')} ${rest}${requested}`;
    }
  }
}
