import type { Diagnostic } from '../model/diagnostic.ts';
import { splitErrorMessage, type ErrorReport } from '../model/error.ts';
import { paint, type Style, visible } from './text.ts';

/** An error: what happened, in a line or more, and what to do. `environment` is the one it is about; null for all. */
export function errorText(
  error: ErrorReport,
  style: Style,
  environment: string | null = null,
): string {
  const where = environment === null ? '' : `${visible(environment)}: `;
  return `${paint(style, 'red', 'setpoint:')} ${where}${splitErrorMessage(error).map(visible).join('\n  ')}\n  ${visible(error.hint)}\n`;
}

/** Problems of files as a compiler prints them: place, sentence, the line with a caret, and what to do. */
export function diagnosticsText(diagnostics: readonly Diagnostic[], style: Style): string {
  return diagnostics.map((diagnostic) => diagnosticText(diagnostic, style)).join('\n');
}

function diagnosticText(
  { severity, code, message, hint, file, line, column, excerpt }: Diagnostic,
  style: Style,
): string {
  const color = severity === 'error' ? 'red' : 'yellow';
  const place = paint(style, 'bold', `${visible(file)}:${line}:${column}`);
  const lines = [
    `${place} ${paint(style, color, severity)} ${paint(style, 'dim', code)}`,
    `  ${visible(message)}`,
  ];
  if (excerpt !== null && excerpt.trim() !== '') {
    const number = String(line);
    const margin = ' '.repeat(number.length);
    const text = excerpt.replaceAll('\t', ' ');
    const caret = ' '.repeat(visible(text.slice(0, column - 1)).length);
    lines.push(
      paint(style, 'dim', `  ${number} │ `) + visible(text),
      paint(style, 'dim', `  ${margin} │ `) + caret + paint(style, color, '^'),
    );
  }
  return `${[...lines, `  ${visible(hint)}`].join('\n')}\n`;
}
