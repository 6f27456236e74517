import { createHash } from 'node:crypto';
import { markup, markupSource, type Markup } from './markup.ts';
import { STYLE_SHEET } from './style-sheet.ts';

interface Page {
  /** Whose document it is; null where no command got so far. */
  readonly command: string | null;
  readonly targets: readonly { readonly name: string }[];
  readonly heading: string;
  readonly main: Markup | null;
  readonly footer: Markup | null;
}

/** One self-contained page, light or dark as its reader has it. Nothing is loaded, and nothing runs. */
export function page({ command, targets, heading, main, footer }: Page): string {
  const tool = command === null ? 'setpoint' : `setpoint ${command}`;
  const [only] = targets.length === 1 ? targets : [];
  return markupSource(markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${only === undefined ? heading : `${only.name}: ${heading}`} · ${tool}</title>
<style>${STYLE_SHEET}</style>
</head>
<body>
<header>
<p class="soft">${tool}</p>
<h1>${heading}</h1>
</header>
<main>
${main}</main>
<footer>
${footer}<p>Secrets are masked. This page loads nothing and runs nothing.</p>
</footer>
</body>
</html>
`);
}

/** No script, and no style but ours, which is told by its digest. */
const POLICY = markup`default-src 'none'; style-src 'sha256-${digest(markupSource(STYLE_SHEET))}'; base-uri 'none'; form-action 'none'`;

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
