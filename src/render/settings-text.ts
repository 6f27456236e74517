import type { ObservedDocument } from '../model/observed.ts';
import { heading } from './plan-text.ts';
import { paint, type Style } from './style.ts';
import { visible } from './visible.ts';
import { yamlText } from './yaml-text.ts';

/** What services have, as YAML, masked. */
export function settingsText(document: ObservedDocument, style: Style): string {
  const blocks = document.environments.map((environment) => {
    const head = heading(environment, style);
    if (environment.status === 'error')
      return `${head}\n\n${paint(style, 'red', 'Could not be looked at.')}\n`;
    if (environment.status === 'empty') return `${head}\n\nNothing is stored yet.\n`;
    const yaml = yamlText(environment.settings).trimEnd().split('\n');
    return `${head}\n\n${yaml.map((line) => `  ${visible(line)}`).join('\n')}\n`;
  });
  return blocks.join('\n');
}
