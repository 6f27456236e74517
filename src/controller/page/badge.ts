import type { WatchState } from '../../reconciler/model/watch.ts';
import { markup, markupSource } from '../../reconciler/render/html/markup.ts';
import type { Paint } from '../../reconciler/render/style.ts';
import { stateLabel } from './watch-label.ts';

const FILLS: Readonly<Record<Paint, string>> = {
  green: '#0f6630',
  yellow: '#764900',
  red: '#a91b16',
  cyan: '#0a5684',
  dim: '#56606e',
  bold: '#56606e',
};

const LETTER = 6.6;
const LONGEST_NAME = 40;

/** An environment's name and state as a picture of one line. */
export function badgeSvg(state: WatchState): string {
  const { words, color } = stateLabel(state);
  const name =
    state.name.length > LONGEST_NAME ? `${state.name.slice(0, LONGEST_NAME)}…` : state.name;
  const left = Math.round(name.length * LETTER + 12);
  const right = Math.round(words.length * LETTER + 12);
  const width = left + right;
  return markupSource(markup`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" viewBox="0 0 ${width} 20" role="img" aria-label="${name}: ${words}"><title>${name}: ${words}</title><path fill="#333b47" d="M3 0H${left}V20H3A3 3 0 0 1 0 17V3A3 3 0 0 1 3 0"/><path fill="${FILLS[color]}" d="M${left} 0H${width - 3}A3 3 0 0 1 ${width} 3V17A3 3 0 0 1 ${width - 3} 20H${left}"/><g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle"><text x="${left / 2}" y="14" textLength="${left - 12}" lengthAdjust="spacingAndGlyphs">${name}</text><text x="${left + right / 2}" y="14" textLength="${right - 12}" lengthAdjust="spacingAndGlyphs">${words}</text></g></svg>
`);
}
