import { expectationAt } from '../desired/schema-lookup.ts';
import { SCHEMA } from '../desired/schema.gen.ts';
import { fields, type Field } from '../model/field.ts';
import type { Json } from '../model/value.ts';
import type { JsonObject } from './json-value.ts';
import { memberLines } from './value-text.ts';
import type { Layout } from './yaml-source.ts';

const LAYOUT: Layout = { eol: '\n', step: 2, dash: 2, gap: 2 };

/**
 * A first settings file: what it declares, each field under the schema's first sentence about it, then the fields that it
 * leaves alone, commented out: each line is valid as it is without its #.
 */
export function initialText(server: JsonObject, settings: JsonObject): string {
  const names = fields().map(({ name }) => name);
  const declared = names.filter((name) => Object.hasOwn(settings, name));
  const others = fields().filter(({ name }) => !Object.hasOwn(settings, name));
  const rest = others.map((field) => `  # ${field.name}: ${JSON.stringify(declarable(field))}`);
  const { $id } = JSON.parse(SCHEMA) as { readonly $id: string };
  return [
    `# yaml-language-server: $schema=${$id}`,
    '# Written from what the service had. What is absent is not managed, and never changed; null clears a field.',
    '#   setpoint plan     shows what an apply would change',
    '#   setpoint pull     imports what was changed on the service since',
    'version: 1',
    '',
    'server:',
    ...Object.entries(server).flatMap(([key, value]) => explained(['server', key], value)),
    '',
    ...(declared.length === 0 ? ['settings: {}'] : ['settings:']),
    ...declared.flatMap((name) => [
      ...(name === UNSEEN && settings[name] === null ? [KEPT_BY] : []),
      ...explained(['settings', name], settings[name] ?? null),
    ]),
    ...(rest.length === 0 ? [] : ['', '  # Not managed: remove a # to manage the field.', ...rest]),
    '',
  ].join('\n');
}

const UNSEEN = 'sandbox_api_key';
const KEPT_BY =
  '  # The service never shows sandbox_api_key, and every write sends it. To keep a key that is stored there, put its reference here.';

/** A value that may be declared: the default, or, if that is null and a file may not say so, an example. */
function declarable({ name, default: otherwise, onNull, clearWith }: Field): Json {
  const isAllowed = otherwise !== null || onNull === 'clears' || clearWith !== null;
  if (isAllowed) return otherwise;
  return EXAMPLES[name] ?? null;
}

/** For the fields that cannot be null. */
const EXAMPLES: Readonly<Record<string, Json>> = {
  secrets_store: { provider_tokens: { github: { token: '${env:GIT_PROVIDER_TOKEN}' } } },
  user_consents_to_analytics: false,
};

function explained(path: readonly string[], value: Json): string[] {
  return [`  # ${firstSentence(path)}`, ...memberLines(path.at(-1) ?? '', value, 2, LAYOUT)];
}

/** What the schema says of a place, up to the first full stop or semicolon. */
export function firstSentence(path: readonly string[]): string {
  const { description } = expectationAt(path);
  return `${/^.*?(?=[.;](?:\s|$))/s.exec(description)?.[0] ?? description}.`;
}
