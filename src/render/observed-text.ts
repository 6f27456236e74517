import type { EnvironmentObserved, ObservedDocument, Resource } from '../model/observed.ts';
import { heading } from './section-text.ts';
import { paint, type Style } from './style.ts';
import { ageText, yamlText } from './values.ts';
import { visible } from './visible.ts';
import { COULD_NOT_READ } from './wording.ts';

/** The observed state of services, masked: settings as YAML, lists as tables. */
export function observedText(document: ObservedDocument, style: Style): string {
  const at = Date.parse(document.observed_at);
  const blocks = document.environments.map((environment) => {
    const head = heading(environment, style);
    if (environment.status === 'error')
      return `${head}\n\n${paint(style, 'red', COULD_NOT_READ)}\n`;
    const parts = document.resources.map((resource) => partText(resource, environment, at, style));
    return `${head}\n\n${parts.join('\n\n')}\n`;
  });
  return blocks.join('\n');
}

function partText(
  resource: Resource,
  { status, settings, sandboxes, specs, conversations }: EnvironmentObserved,
  at: number,
  style: Style,
): string {
  const age = (created: string | null): string =>
    created === null ? '-' : ageText(at - Date.parse(created));
  switch (resource) {
    case 'settings': {
      if (status === 'empty') return 'Nothing is stored yet.';
      const yaml = yamlText(settings).trimEnd().split('\n');
      return yaml.map((line) => `  ${visible(line)}`).join('\n');
    }
    case 'sandboxes':
      return textTable(
        'No sandboxes.',
        ['SANDBOX', 'STATE', 'AGE', 'SPEC'],
        (sandboxes ?? []).map((one) => [one.id, one.status, age(one.created_at), one.spec ?? '-']),
        style,
      );
    case 'specs':
      return textTable(
        'No sandbox specs.',
        ['SPEC', ''],
        (specs ?? []).map((one) => [one.id, one.default ? 'default' : '']),
        style,
      );
    case 'conversations':
      return textTable(
        'No conversations.',
        ['CONVERSATION', 'STATE', 'AGE', 'SANDBOX'],
        (conversations ?? []).map((one) => [
          one.id,
          one.status ?? '-',
          age(one.created_at),
          one.sandbox ?? '-',
        ]),
        style,
      );
  }
}

/** Rows below a head, every column as wide as its widest cell; `empty` if there are no rows. */
function textTable(
  empty: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
  style: Style,
): string {
  if (rows.length === 0) return `  ${empty}`;
  const shown = rows.map((row) => row.map(visible));
  const widths = head.map((title, column) =>
    Math.max(title.length, ...shown.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `  ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd();
  return [paint(style, 'dim', line(head)), ...shown.map(line)].join('\n');
}
