import type { ErrorReport } from '../model/plan.ts';
import { paint, type Style } from './style.ts';
import { visible } from './visible.ts';

/** An error in two lines: what happened, and what to do. */
export function errorText(error: ErrorReport, style: Style, target: string | null = null): string {
  const where = target === null ? '' : `${visible(target)}: `;
  return `${paint(style, 'red', 'setpoint:')} ${where}${visible(error.message)}\n  ${visible(error.hint)}\n`;
}
