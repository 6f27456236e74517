import { Secret } from '../model/secret.ts';
import type { Value } from '../model/value.ts';
import { escaped } from './as-written.ts';
import { isHarmlessValue, openPart } from './harmless-text.ts';
import { isHidden } from './is-hidden.ts';
import { marked, markerOf, variableName } from './stub.ts';

/** An argument or variable of a stdio server as a file writes it. `names` are there where a reference stands in it. */
export interface StdioText {
  readonly written: string;
  readonly marker: string;
  readonly names: readonly string[] | null;
}

/**
 * The text of an argument or variable. The service's are wrapped, because they hold secrets often enough; a file may hold
 * those of a few harmless forms, so that here, and in this room only here, they are opened. Null for what is no text.
 */
function opened(value: Value | undefined): string | null {
  const text = value instanceof Secret ? value.reveal() : value;
  return typeof text === 'string' ? text : null;
}

/** An argument of the server called `owner`, one of `all` that the service has. Null where it is no text. */
export function writtenArgument(
  owner: string,
  all: readonly Value[],
  index: number,
  hidden: readonly Secret[],
): StdioText | null {
  const text = opened(all[index]);
  if (text === null) return null;
  const before = index === 0 ? null : opened(all[index - 1]);
  const open = isHidden(text, hidden) ? '' : openPart(text, before);
  const flag = /[A-Za-z][\w.-]+/.exec(
    open === '' ? (before?.startsWith('-') ? before : '') : (open ?? ''),
  );
  return textOf(text, open, markerOf('args', owner, String(index)), [
    variableName(owner, flag?.[0] ?? `ARG_${index + 1}`),
  ]);
}

/** A variable of the server called `owner`. */
export function writtenVariable(
  owner: string,
  name: string,
  value: Value,
  hidden: readonly Secret[],
): StdioText | null {
  const text = opened(value);
  if (text === null) return null;
  const open = isHarmlessValue(name, text) && !isHidden(text, hidden);
  const own = variableName(owner);
  return textOf(text, open ? null : '', markerOf('env', owner, name), [
    variableName(name).startsWith(`${own}_`) ? variableName(name) : variableName(owner, name),
  ]);
}

function textOf(
  text: string,
  open: string | null,
  marker: string,
  names: readonly string[],
): StdioText {
  return open === null
    ? { written: escaped(text), marker, names: null }
    : { written: escaped(open) + marked(marker), marker, names };
}
