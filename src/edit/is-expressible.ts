import { readTargets } from '../desired/target.ts';
import type { JsonObject } from './json-value.ts';
import { flowText } from './value-text.ts';

/** Whether a settings file may say this of its settings: the schema and every other rule of the file hold. */
export function isExpressible(settings: JsonObject): boolean {
  const text = flowText({ version: 1, settings }, 'double');
  const { diagnostics } = readTargets(
    { path: 'settings.yaml', text, base: null },
    { serverGiven: true, several: false },
  );
  return diagnostics.every(({ severity }) => severity !== 'error');
}
