import type {
  EnvironmentObserved,
  ObservedDocument,
  ServerField,
  ServerReport,
} from '../model/documents.gen.ts';
import { COLLECTION_FORMS } from '../model/collection-forms.ts';
import type { CollectionForm, Column } from '../model/collection.ts';
import type { Resource } from '../model/observed.ts';
import { MASK } from '../model/secret.ts';
import type { Json } from '../model/value.ts';
import { NOT_OBSERVED, type ServiceDialect } from '../model/state.ts';
import { heading } from './section-text.ts';
import { ageText, yamlText } from './change.ts';
import { paint, type Style, visible } from './text.ts';
import { unreadSentence } from './wording.ts';

/** The observed state of services, masked: settings as YAML, lists as tables. */
export function formatObserved(document: ObservedDocument, style: Style): string {
  const at = Date.parse(document.observed_at);
  const blocks = document.environments.map((environment) => {
    const head = heading(
      document.resources.includes('server') ? { ...environment, ...NOT_OBSERVED } : environment,
      style,
    );
    if (environment.status === 'error')
      return `${head}\n\n${paint(style, 'red', unreadSentence(environment.error))}\n`;
    const parts = document.resources.map((resource) => partText(resource, environment, at, style));
    return `${head}\n\n${parts.join('\n\n')}\n`;
  });
  return blocks.join('\n');
}

/** A table of what a service keeps by name; `items` is null if it has no such collection. */
function collectionText(
  { resource, noun, table }: CollectionForm,
  items: readonly ObservedItem[] | null,
  style: Style,
): string {
  const { head = resource, columns = listColumns(items ?? []) } = table ?? {};
  return textTable(
    items === null ? `This service has no ${noun}.` : `No ${noun}.`,
    [head.toUpperCase(), ...columns.map(({ title }) => title)],
    (items ?? []).map((item) => [item.name, ...columns.map((column) => formatCell(item, column))]),
    style,
  );
}

type ObservedItem = { readonly name: string } & Readonly<Record<string, Json>>;

/** A column for each member that an item has. */
function listColumns(items: readonly ObservedItem[]): readonly Column[] {
  const names = new Set(items.flatMap(Object.keys).filter((name) => name !== 'name'));
  return [...names].map((name) => ({ title: name.toUpperCase(), members: [name] }));
}

/** One member in a word: that a secret is set, how many a list has, the first letters of a commit. */
function formatCell(item: ObservedItem, { members, otherwise = '-' }: Column): string {
  const name = members.find((one) => (item[one] ?? null) !== null);
  const value = name === undefined ? null : (item[name] ?? null);
  if (value === null) return otherwise;
  if (value === MASK) return 'set';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return String(value.length);
  if (typeof value === 'object') return 'set';
  return name === 'ref' ? String(value).slice(0, 12) : String(value);
}

function partText(
  resource: Resource,
  environment: EnvironmentObserved,
  at: number,
  style: Style,
): string {
  const form = COLLECTION_FORMS.find(({ block }) => block === resource);
  if (form !== undefined) {
    const items = (environment as unknown as Readonly<Record<string, unknown>>)[form.block] ?? null;
    return collectionText(form, items as readonly ObservedItem[] | null, style);
  }
  return formatOtherObserved(resource, environment, at, style);
}

function formatOtherObserved(
  resource: Resource,
  { status, server, settings, sandboxes, specs, conversations, ...spoken }: EnvironmentObserved,
  at: number,
  style: Style,
): string {
  const age = (created: string | null): string =>
    created === null ? '-' : ageText(at - Date.parse(created));
  switch (resource) {
    case 'server':
      return server === null ? '' : serverText(server, spoken, style);
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
    default:
      return '';
  }
}

const WRITES: Readonly<Record<ServerReport['writes'], string>> = {
  record: 'replaces the whole record',
  fields: 'keeps what it leaves out',
};
const READS: Readonly<Record<ServerField['reads'], string>> = {
  value: 'its value',
  presence: 'whether one is stored',
  names: 'names',
  nothing: 'nothing',
};

/** Formats the dialect and release of a service, and field by field what it supports. */
function serverText(
  { writes, fields, lacks }: ServerReport,
  { dialect, release }: ServiceDialect,
  style: Style,
): string {
  const about = [
    `  dialect   ${dialect ?? 'unknown'}`,
    `  release   ${visible(release ?? 'unknown')}`,
    `  a write   ${WRITES[writes]}`,
  ];
  const rows = fields.map(({ name, reads, on_null, loses }) => [
    name,
    READS[reads],
    on_null,
    loses === null ? '' : `lost: ${loses}`,
  ]);
  const table = textTable('No fields.', ['FIELD', 'A READ SHOWS', 'NULL', ''], rows, style);
  const missing = lacks.map(({ name, why }) => `  no ${visible(name)}: ${visible(why)}`);
  return [[...about], [table], missing]
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n');
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
