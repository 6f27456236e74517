import type { PulledLock, PulledSchema, PulledSchemas } from '../model/pulled.ts';
import { paint, type Style, visible } from './text.ts';

/** Formats the schemas that servers reported, and the updates of the locks. Errors are printed with the messages. */
export function formatPulledSchema({ environments, files }: PulledSchemas, style: Style): string {
  const readable = environments.filter(({ error }) => error === null);
  const lines = [
    ...readable.flatMap((one) => formatPulledServer(one, style)),
    ...files.flatMap((file) => formatLockLines(file, style)),
  ];
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function formatPulledServer({ name, dialect, release, known, left }: PulledSchema, style: Style) {
  const server = `${dialect ?? 'unknown'}${release === null ? '' : ` ${release}`}`;
  const line =
    known === null
      ? `${name}: ${server} does not report its schema. Nothing is written for it.`
      : `${name}: ${server}, checked against ${known}.`;
  return [
    visible(line),
    ...left.map(
      (path) =>
        `  ${paint(style, 'yellow', '!')} ${visible(path)}: left out: setpoint does not know its type or form.`,
    ),
  ];
}

function formatLockLines(
  { file, status, added, removed, changed }: PulledLock,
  style: Style,
): string[] {
  if (status === 'absent') return [];
  return [
    ...added.map((name) => `  ${paint(style, 'green', '+')} ${visible(name)}`),
    ...removed.map((name) => `  ${paint(style, 'red', '-')} ${visible(name)}`),
    ...changed.map((name) => `  ${paint(style, 'yellow', '~')} ${visible(name)}`),
    status === 'written' ? `Wrote ${visible(file)}.` : `${visible(file)} is up to date.`,
  ];
}
