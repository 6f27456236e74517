import type { EnvironmentSmoke, SmokeDocument, SmokeStep } from '../model/documents.gen.ts';
import { heading } from './section-text.ts';
import { paint, type Style, visible } from './text.ts';

/** The result of each conversation, and whether it is still on the service. */
export function smokeText(document: SmokeDocument, style: Style): string {
  return document.environments
    .map((environment) => environmentSmoke(environment, style))
    .join('\n');
}

function environmentSmoke(environment: EnvironmentSmoke, style: Style): string {
  const { status, steps } = environment;
  const verdict =
    status === 'ready'
      ? `${paint(style, 'green', 'A conversation can start.')} Nothing else was tested.`
      : paint(style, 'red', 'No conversation became ready.');
  const seen = steps.length === 0 ? [] : [...steps.map(stepText), ''];
  const lines = [
    heading(environment, style),
    '',
    ...seen,
    verdict,
    ...formatLeftovers(environment),
  ];
  return `${lines.join('\n')}\n`;
}

/** `  12.4s  WAITING_FOR_SANDBOX` */
function stepText({ status, seconds }: SmokeStep): string {
  return `  ${`${seconds.toFixed(1)}s`.padStart(7)}  ${visible(status)}`;
}

function formatLeftovers({ conversation, sandbox, removed, remains }: EnvironmentSmoke): string[] {
  const things = [
    conversation === null ? '' : `conversation ${visible(conversation)}`,
    sandbox === null ? '' : `sandbox ${visible(sandbox)}`,
  ].filter((thing) => thing !== '');
  if (things.length === 0) return [];
  if (removed) return [`Removed again: ${things.join(', and with it ')}.`];
  return [`Left behind: ${things.join(', ')}.`, ...(remains === null ? [] : [visible(remains)])];
}
