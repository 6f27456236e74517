import type { Paint } from '../style.ts';
import { markup, type Markup } from './markup.ts';

const TONES: Readonly<Record<Paint, string>> = {
  green: 'good',
  yellow: 'warn',
  red: 'bad',
  cyan: 'note',
  dim: 'plain',
  bold: 'plain',
};

/** Words on a ground of the colour that the text of the same document has for them; the words alone say as much. */
export function chipHtml(color: Paint, words: string): Markup {
  return markup`<span class="chip ${TONES[color]}">${words}</span>`;
}
