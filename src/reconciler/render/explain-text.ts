import type {
  EnvironmentExplained,
  ExplainDocument,
  Meaning,
  ReferenceReport,
  StoreReport,
} from '../model/documents.gen.ts';
import type { Origin } from '../model/effective.ts';
import { formatPath } from '../model/path.ts';
import { TYPE_NOUNS } from '../model/wording.ts';
import type { Json } from '../model/value.ts';
import { toShownChange, inlineValue, isNested, yamlText } from './change.ts';
import { changeText, unknownText, warningText, heading } from './section-text.ts';
import { paint, type Style, visible } from './text.ts';
import { groupWarnings } from './section.ts';

/** Explains a path of the file; then, for each environment, its declaration and what an apply would do. */
export function explainText(document: ExplainDocument, style: Style): string {
  const title = paint(style, 'bold', visible(formatPath(document.path)));
  const blocks = [
    [title, ...meaningText(document.meaning)],
    ...document.environments.map((environment) => [
      heading(environment, style),
      ...formatExplained(document, environment, style),
    ]),
    ...(document.environments.length === 0 ? [[NO_FILE]] : []),
  ];
  return blocks.map((lines) => `${lines.join('\n')}\n`).join('\n');
}

const NO_FILE = 'No environment declares it: this folder has no settings.yaml.';

function formatExplained(
  document: ExplainDocument,
  environment: EnvironmentExplained,
  style: Style,
): string[] {
  const { declared, name, references } = environment;
  return [
    ...(declared === null
      ? ['  value    not declared']
      : [...valueLines(declared.value, style), `  from     ${originText(declared, name)}`]),
    ...references.map((reference) => `  lookup   ${referenceText(reference)}`),
    ...(environment.unmanaged ? ['  ignored  listed under unmanaged: never changed'] : []),
    ...applyLines(document, environment, style),
  ];
}

function valueLines(value: Json, style: Style): string[] {
  if (!isNested(value) || Object.keys(value).length === 0) {
    const text = typeof value === 'string' && value.startsWith('${') ? visible(value) : null;
    return [`  value    ${text ?? inlineValue(value, style)}`];
  }
  const lines = yamlText(value).trimEnd().split('\n');
  return ['  value', ...lines.map((line) => `    ${visible(line)}`)];
}

function originText({ source, block }: Origin, name: string): string {
  const place = `${visible(source.file)}:${source.line}:${source.column}`;
  switch (block) {
    case 'top':
      return `${place}, at the top of the file`;
    case 'environment':
      return `${place}, in the environment ${visible(name)}`;
    case 'base':
      return `${place}, in the base file`;
  }
}

function referenceText({ kind, name, set, problem }: ReferenceReport): string {
  if (problem !== null) return visible(problem);
  if (kind === 'secret') return `the secret ${visible(name)} has a value`;
  if (kind === 'file') return `the file ${visible(name)} exists`;
  return `the variable ${name} is ${set ? 'set' : 'not set; its default is used'}`;
}

function applyLines(
  { part }: ExplainDocument,
  environment: EnvironmentExplained,
  style: Style,
): string[] {
  const { status, changes, unknown, warnings, unmanaged, declared, error } = environment;
  const applied = (words: string): string[] => [`  apply    ${words}`];
  if (part === 'file') return applied("nothing (setpoint's own setting)");
  if (error !== null) return applied(paint(style, 'red', 'unknown: the service could not be read'));
  if (status === 'not-observed') return applied('unknown: the service was not read');
  const lines = [
    ...changes.flatMap((change) => changeText(toShownChange(change, 'plan'), style)),
    ...unknown.map((one) => unknownText(one, style)),
    ...groupWarnings(warnings).map((warning) => warningText(warning, style)),
  ].map((line) => `  ${line}`);
  if (changes.length + unknown.length > 0) return ['  apply', ...lines];
  const why = unmanaged
    ? 'it is unmanaged'
    : declared === null
      ? 'the file does not declare it'
      : warnings.length > 0
        ? 'see the warnings'
        : 'the service matches the file';
  return [...applied(`nothing: ${why}`), ...lines];
}

/** A line each: what a path means, its type, its default, what null does, and whether it can be read. */
function meaningText(meaning: Meaning): string[] {
  const { description, store } = meaning;
  return [
    ...(description === '' ? [] : [`  ${visible(description)}`, '']),
    `  type     ${typeText(meaning)}`,
    ...(meaning.default === undefined ? [] : [`  default  ${defaultText(meaning.default)}`]),
    ...(store === null ? [] : [`  null     ${nullText(store)}`]),
    ...(store === null || store.readable ? [] : [`  reading  ${readingText(store)}`]),
    ...membersText(meaning),
  ];
}

function membersText({ members = [] }: Meaning): string[] {
  const width = Math.max(0, ...members.map(({ name }) => name.length));
  const lines = members.map(({ name, description }) =>
    `    ${name.padEnd(width)}  ${visible(description)}`.trimEnd(),
  );
  return lines.length === 0 ? [] : ['', '  members', ...lines];
}

function typeText(meaning: Meaning): string {
  const { types, values, nullable, secret, reference } = meaning;
  const orNull = nullable ? ', or null' : '';
  if (secret)
    return `a secret: one reference, \${env:NAME}, \${file:PATH} or \${secret:NAME/PATH}${orNull}`;
  const nouns = types.map((type) => (TYPE_NOUNS[type] ?? type) + rangeText(type, meaning));
  return `${either(values.length > 0 ? values : nouns)}${orNull}${REFERENCE_FORMS[reference]}`;
}

const REFERENCE_FORMS: Readonly<Record<Meaning['reference'], string>> = {
  whole: ', or one reference in its place',
  inside: '; may contain references',
  none: '',
};

function rangeText(type: string, { minimum, maximum }: Meaning): string {
  if (type !== 'integer' || minimum === null) return '';
  return maximum === null ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`;
}

function either(choices: readonly string[]): string {
  return choices.length < 2
    ? (choices[0] ?? 'anything')
    : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

function defaultText(value: NonNullable<Meaning['default']> | null): string {
  return value === null ? 'null (not set)' : visible(JSON.stringify(value));
}

function nullText({ on_null, clear_with }: StoreReport): string {
  switch (on_null) {
    case 'clears':
      return 'clears it';
    case 'refuses':
      return 'is refused by the service';
    case 'keeps':
      return clear_with === null
        ? 'not possible: the service keeps the value it has'
        : 'clears it: an empty string is sent, because the service ignores null';
  }
}

function readingText({ set_flag }: StoreReport): string {
  return set_flag === null
    ? 'the service does not show it'
    : `the service does not show it; ${set_flag} shows whether one is stored`;
}
