import type { Check } from '../model/doctor.ts';
import type { DoctorDocument } from '../model/documents.gen.ts';
import { heading, proofText } from './section-text.ts';
import { paint, type Paint, type Style, visible } from './text.ts';

const CHECK_MARKS: Readonly<Record<Check['status'], readonly [string, Paint]>> = {
  passed: ['✓', 'green'],
  warning: ['!', 'yellow'],
  failed: ['✗', 'red'],
  skipped: ['·', 'dim'],
};

/** A line for each check: its mark, its name and what was found; below it what to do, if anything. */
export function doctorText({ checks, environments }: DoctorDocument, style: Style): string {
  const blocks = [
    [paint(style, 'bold', 'This machine'), ...checks.flatMap((check) => checkLines(check, style))],
    ...environments.map(({ name, origin, checks: own, proofs = [] }) => [
      heading({ name, origin }, style),
      ...own.flatMap((check) => checkLines(check, style)),
      ...proofs.map((proof) => proofText(proof, style)),
    ]),
  ];
  return blocks.map((lines) => `${lines.join('\n')}\n`).join('\n');
}

const WIDEST = 'certificates'.length;

function checkLines({ name, status, found, remedy }: Check, style: Style): string[] {
  const [mark, color] = CHECK_MARKS[status];
  const line = `  ${paint(style, color, mark)} ${name.padEnd(WIDEST)}  ${visible(found)}`;
  return remedy === null ? [line] : [line, `    ${' '.repeat(WIDEST)}  ${visible(remedy)}`];
}
