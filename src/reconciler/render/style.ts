import { styleText } from 'node:util';

/** How text is rendered: with colour or without, and how many columns there are; null in a pipe. */
export interface Style {
  readonly color: boolean;
  readonly width: number | null;
  /** Long values and the list of unmanaged fields are shown in full. */
  readonly verbose: boolean;
}

/** Text without colours, of any width, long values shortened. */
export const PLAIN: Style = { color: false, width: null, verbose: false };
/** The same, with nothing shortened. */
export const WHOLE: Style = { ...PLAIN, verbose: true };

export type Paint = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';

export function paint(style: Style, color: Paint, text: string): string {
  return style.color ? styleText(color, text, { validateStream: false }) : text;
}
