import { expectationAt } from '../desired/schema-lookup.ts';
import { SCHEMA } from '../desired/schema.gen.ts';
import { fields } from '../model/field.ts';
import type { Json } from '../model/value.ts';
import type { JsonObject } from './json-value.ts';
import { memberLines } from './value-text.ts';
import type { Layout } from './yaml-source.ts';

const LAYOUT: Layout = { eol: '\n', step: 2, dash: 2, gap: 2 };

/**
 * A first settings file: what it declares, each field under the schema's first sentence about it, then the fields that it
 * leaves alone, commented out, with what they are where nobody has set them.
 */
export function initialText(server: JsonObject, settings: JsonObject): string {
  const names = fields().map(({ name }) => name);
  const declared = names.filter((name) => Object.hasOwn(settings, name));
  const others = fields().filter(({ name }) => !Object.hasOwn(settings, name));
  const rest = others.map((field) => `  # ${field.name}: ${JSON.stringify(field.default)}`);
  const { $id } = JSON.parse(SCHEMA) as { readonly $id: string };
  return [
    `# yaml-language-server: $schema=${$id}`,
    '# Written from what the service had. What is absent is not managed, and never touched; null clears a field.',
    '#   setpoint plan     shows what an apply would change',
    '#   setpoint pull     brings into this file what was changed on the service since',
    'version: 1',
    '',
    'server:',
    ...Object.entries(server).flatMap(([key, value]) => explained(['server', key], value)),
    '',
    ...(declared.length === 0 ? ['settings: {}'] : ['settings:']),
    ...declared.flatMap((name) => explained(['settings', name], settings[name] ?? null)),
    ...(rest.length === 0 ? [] : ['  # Not managed:', ...rest]),
    '',
  ].join('\n');
}

function explained(path: readonly string[], value: Json): string[] {
  return [`  # ${firstSentence(path)}`, ...memberLines(path.at(-1) ?? '', value, 2, LAYOUT)];
}

/** What the schema says of a place, up to the first full stop or semicolon. */
export function firstSentence(path: readonly string[]): string {
  const { description } = expectationAt(path);
  return `${/^.*?(?=[.;](?:\s|$))/s.exec(description)?.[0] ?? description}.`;
}
