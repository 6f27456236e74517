import { createHash } from 'node:crypto';
import { markupSource } from '../../reconciler/render/html/markup.ts';
import { STYLE_SHEET } from '../../reconciler/render/html/style-sheet.ts';
import { SCRIPT } from './script.ts';
import { PAGE_STYLE } from './style.ts';

interface Asset {
  readonly type: string;
  readonly text: string;
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0b57c4"/><path d="M5 21h6l5-11 5 11h6" fill="none" stroke="#fff" stroke-width="3" stroke-linejoin="round" stroke-linecap="round"/></svg>`;

/** The files that pages load, by their names. They hold nothing of any environment. */
export const ASSETS: Readonly<Record<string, Asset>> = {
  'page.css': { type: 'text/css; charset=utf-8', text: markupSource(STYLE_SHEET) + PAGE_STYLE },
  'page.js': { type: 'text/javascript; charset=utf-8', text: SCRIPT },
  'icon.svg': { type: 'image/svg+xml', text: ICON },
};

/** The address of a file; another version of it has another. */
export function asset(name: keyof typeof ASSETS): string {
  return `/assets/${name}?v=${VERSIONS[name] ?? ''}`;
}

const VERSIONS = Object.fromEntries(
  Object.entries(ASSETS).map(([name, { text }]) => [
    name,
    createHash('sha256').update(text).digest('base64url').slice(0, 12),
  ]),
);
