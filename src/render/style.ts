import { styleText } from 'node:util';

/** How text is rendered: with colour or without, and how many columns there are; null in a pipe. */
export interface Style {
  readonly color: boolean;
  readonly width: number | null;
  /** Long values are shown whole, and so is what is not managed. */
  readonly verbose: boolean;
}

export type Paint = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';

export function paint(style: Style, color: Paint, text: string): string {
  return style.color ? styleText(color, text, { validateStream: false }) : text;
}
