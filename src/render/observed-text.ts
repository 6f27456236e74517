import type { EnvironmentObserved, ObservedDocument, Resource } from '../model/observed.ts';
import { ageText } from './age-text.ts';
import { COULD_NOT_READ, heading } from './plan-text.ts';
import { paint, type Style } from './style.ts';
import { table } from './table.ts';
import { visible } from './visible.ts';
import { yamlText } from './yaml-text.ts';

/** What services have, masked: settings as YAML, lists as tables. */
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
      return table(
        'No sandboxes.',
        ['SANDBOX', 'STATE', 'AGE', 'SPEC'],
        (sandboxes ?? []).map((one) => [one.id, one.status, age(one.created_at), one.spec ?? '-']),
        style,
      );
    case 'specs':
      return table(
        'No sandbox specs.',
        ['SPEC', ''],
        (specs ?? []).map((one) => [one.id, one.default ? 'default' : '']),
        style,
      );
    case 'conversations':
      return table(
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
