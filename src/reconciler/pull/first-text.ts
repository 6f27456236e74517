import { expectationAt, namedKeys, settingsNodes } from '../desired/schema-lookup.ts';
import { schemaText } from '../desired/schema.gen.ts';
import type { Dialect, DialectField } from '../model/dialect.ts';
import { fields, isNativePath, NATIVE_PARTS } from '../model/field.ts';
import { isPart } from '../model/native-schema.ts';
import { isRecord, masked, type Json } from '../model/value.ts';
import { isObject, type JsonObject } from '../yaml-edit/json.ts';
import { memberLines } from '../yaml-edit/print.ts';
import type { Layout } from '../yaml-edit/source.ts';
import { isExpressible } from './writable.ts';

const LAYOUT: Layout = { eol: '\n', step: 2, dash: 2, gap: 2 };

/**
 * The text of a first settings file: what it declares, each value under the first sentence of its description, then the fields
 * of the service that it does not manage, commented out so that each line is valid without its #.
 */
export function initialText(server: JsonObject, settings: JsonObject, dialect: Dialect): string {
  const names: readonly string[] = fields().map(({ name }) => name);
  const declared = [...names, ...NATIVE_PARTS].filter((name) => Object.hasOwn(settings, name));
  const others = fields().filter(({ name }) => !Object.hasOwn(settings, name));
  const rest = others.flatMap(({ name }) => {
    const field = dialect.fields.get(name);
    return field === undefined ? [] : [`  # ${name}: ${JSON.stringify(declarable(field))}`];
  });
  const { $id } = JSON.parse(schemaText()) as { readonly $id: string };
  return [
    `# yaml-language-server: $schema=${$id}`,
    '# Written from what the service had. What is absent is not managed, and never changed; null clears a field.',
    '#   setpoint plan     shows what an apply would change',
    '#   setpoint pull     imports what was changed on the service since',
    'version: 1',
    '',
    'server:',
    ...Object.entries(server).flatMap(([key, value]) => explained(['server', key], value, 2)),
    '',
    ...(declared.length === 0 ? ['settings: {}'] : ['settings:']),
    ...declared.flatMap((name) => [
      ...(name === UNSEEN && settings[name] === null ? [KEPT_BY] : []),
      ...explained(['settings', name], settings[name] ?? null, 2),
    ]),
    ...(rest.length === 0 ? [] : ['', '  # Not managed: remove a # to manage the field.', ...rest]),
    '',
  ].join('\n');
}

const UNSEEN = 'sandbox_api_key';
const KEPT_BY =
  '  # The service never shows sandbox_api_key, and every write sends it. It stores asterisks in place of a key, which never works.';

/** A value that the file may declare: what the field is if nobody has set it, or an example if that is null and it cannot be. */
function declarable({ name, absent, onNull, clearWith }: DialectField): Json {
  if (isRecord(absent)) return null;
  const isAllowed = absent !== null || onNull === 'clears' || clearWith !== null;
  const value = isAllowed ? masked(absent) : (EXAMPLES[name] ?? null);
  return isExpressible({ [name]: value }) ? value : (EXAMPLES[name] ?? null);
}

/** For the fields that cannot be null. */
const EXAMPLES: Readonly<Record<string, Json>> = {
  secrets_store: { provider_tokens: { github: { token: '${env:GIT_PROVIDER_TOKEN}' } } },
  user_consents_to_analytics: false,
};

/** A member under what it is for. The members of a native part are explained one by one, in the order of the schema. */
function explained(path: readonly string[], value: Json, column: number): string[] {
  const key = path.at(-1) ?? '';
  const [block, ...below] = path;
  const isNative = block === 'settings' && isNativePath(below);
  // What a part is says its name; a description of it may be that of another kind of agent.
  const isInnerPart = isNative && below.length > 1 && isPart(settingsNodes(below));
  const sentence = isInnerPart ? '' : firstSentence(path);
  const comment = sentence === '' ? [] : [`${' '.repeat(column)}# ${sentence}`];
  if (!isNative || !isObject(value) || Object.keys(value).length === 0)
    return [...comment, ...memberLines(key, value, column, LAYOUT)];
  if (!isPart(settingsNodes(below)))
    return [...comment, ...memberLines(key, value, column, LAYOUT)];
  const known = namedKeys(below).filter((name) => Object.hasOwn(value, name));
  const others = Object.keys(value).filter((name) => !known.includes(name));
  const [head = ''] = memberLines(key, null, column, LAYOUT);
  return [
    ...comment,
    head.replace(/ null$/, ''),
    ...[...known, ...others].flatMap((name) =>
      explained([...path, name], value[name] ?? null, column + LAYOUT.step),
    ),
  ];
}

/** The schema's description at a path, up to the first full stop or semicolon; empty if it has none of its own. */
export function firstSentence(path: readonly string[]): string {
  const { description } = expectationAt(path);
  if (description === '' || OF_REFERENCES.test(description)) return '';
  const [first = description] = /^.*?(?<!\b(?:e\.g|i\.e))(?=[.;](?:\s|$))/s.exec(description) ?? [];
  const line = first.replaceAll(/\s+/g, ' ');
  return `${line.length <= LONGEST ? line : line.replace(/(?<=.{20})(?: \(| [–—] |: ).*$/s, '')}.`;
}

const LONGEST = 120;

/** What the schema says of any place that takes a reference. */
const OF_REFERENCES =
  /^(?:A value from outside the file|Text with references inside|One reference)\b/;
