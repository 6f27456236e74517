import type { Json } from '../../model/value.ts';
import { inlineValue } from '../inline-value.ts';
import type { Style } from '../style.ts';
import { markup, type Markup } from './markup.ts';

/** Text without colours and of any width, what is long shortened. */
export const PLAIN: Style = { color: false, width: null, verbose: false };
/** The same, nothing shortened. */
export const WHOLE: Style = { ...PLAIN, verbose: true };

/** A value that was there, as JSON on a line; a long one opens. */
export function beforeHtml(value: Json): Markup {
  return openingHtml(value, (text) => markup`<del class="value">${text}</del>`);
}

/** The same for a value that comes in its place. */
export function afterHtml(value: Json): Markup {
  return openingHtml(value, (text) => markup`<ins class="value">${text}</ins>`);
}

function openingHtml(value: Json, shown: (text: string) => Markup): Markup {
  const whole = inlineValue(value, WHOLE);
  const shortened = inlineValue(value, PLAIN);
  if (shortened === whole) return shown(whole);
  return markup`<details class="long">
<summary>${shown(shortened)}</summary>
${shown(whole)}
</details>
`;
}
