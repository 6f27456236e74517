import { member } from '../desired/node.ts';
import type { Target } from '../desired/target.ts';
import { isRecord, type Json, maskSecrets } from '../model/value.ts';
import { variableName } from './placeholder.ts';
import { type Edit, editText } from '../yaml-edit/edit-text.ts';
import { firstSentence, listNamedKeys, settingsNodes } from '../desired/schema-lookup.ts';
import type { Dialect, DialectField } from '../model/dialect.ts';
import { fields, isNativePath, NATIVE_PARTS } from '../model/field.ts';
import { isPart } from '../model/native-schema.ts';
import { isObject, type JsonObject, type Layout } from '../yaml-edit/source.ts';
import type { LeftAlone } from '../model/documents.gen.ts';
import { formatPath, type Path } from '../model/path.ts';
import { showsSecrets } from '../model/uncompared.ts';
import { memberLines } from '../yaml-edit/print.ts';
import { isExpressible } from './writable.ts';

/** A variable that a settings file reads, and what for. */
export interface ReadVariable {
  readonly name: string;
  readonly purpose: string;
}

const HEAD =
  '# Variables that settings.yaml reads. Copy this file to .env, fill that in, and never commit it.';

/** The text of `.env.example` with an empty line for each variable; existing lines stay unchanged. */
export function envExample(text: string | null, variables: readonly ReadVariable[]): string {
  const known = new Set(
    [...(text ?? '').matchAll(/^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/gm)].map(
      ([, name = '']) => name,
    ),
  );
  const added = variables.filter(({ name }) => !known.has(name));
  const lines = added.flatMap(({ name, purpose }) => [`# ${oneLine(purpose)}`, `${name}=`]);
  return text === null ? withLines(`${HEAD}\n`, lines) : withLines(text, lines);
}

const IGNORED = ['.env', '.setpoint/'];

/** The text of `.gitignore` with the lines for what must not be committed. */
export function gitIgnore(text: string | null): string {
  const ignored = new Set(
    (text ?? '').split(/\r?\n/).map((line) => line.trim().replace(/^\/|\/$/g, '')),
  );
  return withLines(
    text ?? '',
    IGNORED.filter((line) => !ignored.has(line.replace(/\/$/, ''))),
  );
}

/** The text with lines added at its end, with the line breaks that it has. */
function withLines(text: string, lines: readonly string[]): string {
  if (lines.length === 0) return text;
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const begun = text === '' || text.endsWith('\n') ? text : text + eol;
  return begun + lines.map((line) => line + eol).join('');
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** An environment to be added to a file. */
export interface NewEnvironment {
  readonly name: string;
  /** The address of its service, and its key if it has one of its own; null if it inherits the address of the blocks above. */
  readonly server: JsonObject | null;
  /** The other blocks that it declares. */
  readonly blocks: JsonObject;
}

/** The variable that holds the key of an environment. */
export function keyVariable(environment: string): string {
  return variableName(environment, 'API_KEY');
}

/**
 * The text of a settings file with one more environment. Null if the text cannot be edited. A file without environments keeps its one target, as an environment that adds nothing.
 */
export function withEnvironment(
  text: string,
  targets: readonly Target[],
  hasEnvironments: boolean,
  { name, server: own, blocks }: NewEnvironment,
): string | null {
  const [former] = targets;
  const edits: Edit[] = [];
  if (!hasEnvironments && former !== undefined && member(former.server, 'url') !== undefined)
    edits.push({ path: ['environments', former.name], value: {} });
  // Neither a key nor headers follow a changed address, so those of the blocks above are also declared here.
  const server = own !== null && {
    ...own,
    ...(has(former, 'api_key') && !('api_key' in own) ? { api_key: null } : {}),
    ...(has(former, 'headers') ? { headers: {} } : {}),
  };
  const block = { ...(server === false ? {} : { server }), ...blocks };
  return editText(text, [...edits, { path: ['environments', name], value: block }]);
}

function has(target: Target | undefined, key: string): boolean {
  return member(target?.server, key) !== undefined;
}

const LAYOUT: Layout = { eol: '\n', step: 2, dash: 2, gap: 2 };

/** The items that a service stores by name. */
interface FirstItems {
  /** The items of each block, in the order of the file. */
  readonly blocks: ReadonlyMap<string, JsonObject>;
  /** Items that are not declared, and why. */
  readonly left: readonly LeftAlone[];
}

/** The content of a first settings file. */
export interface FirstFile {
  readonly server: JsonObject;
  readonly settings: JsonObject;
  /** The dialect of the target service. */
  readonly dialect: Dialect;
  /** The items stored by name, and those that are left out. */
  readonly collections: FirstItems;
  /** Reports whether what the file activates sets the value of a field. */
  readonly isCopy: (path: Path) => boolean;
  /** The environment that the service belongs to; the file has no environments without it. */
  readonly environment: string | undefined;
  /** The path of a schema next to the file, for editors; null if there is none. */
  readonly schema: string | null;
  /** The origin of the content, as the first comment. */
  readonly origin: string;
  /** Comments at its end. */
  readonly notes: readonly string[];
}

/**
 * The text of a first settings file: what it declares, each value under the first sentence of its description, then the fields
 * of the service that it does not manage, commented out so that each line is valid without its #; then what the service keeps by name.
 */
export function initialText(file: FirstFile): string {
  const { server, settings, dialect, collections, isCopy, environment, schema } = file;
  const names: readonly string[] = fields().map(({ name }) => name);
  const declared = [...names, ...NATIVE_PARTS].filter((name) => Object.hasOwn(settings, name));
  const others = fields().filter(
    ({ name, path }) => !Object.hasOwn(settings, name) && !isCopy(path),
  );
  const rest = others.flatMap(({ name }) => {
    const field = dialect.fields.get(name);
    return field === undefined ? [] : [[name, JSON.stringify(declarable(field))] as const];
  });
  return [
    ...(schema === null ? [] : [`# yaml-language-server: $schema=${schema}`]),
    `# ${oneLine(file.origin)} What is absent is not managed, and never changed; null clears a field.`,
    '#   setpoint plan     shows what an apply would change',
    '#   setpoint pull     imports what was changed on the service since',
    'version: 1',
    '',
    ...serverLines(server, environment, dialect),
    '',
    ...settingsLines(declared, settings, rest),
    ...collectionLines(collections),
    ...(file.notes.length === 0 ? [] : ['', ...file.notes.map((note) => `# ${oneLine(note)}`)]),
    '',
  ].join('\n');
}

/** The settings, and those that are not managed. A map with only comments would not be a map: then its key is also a comment. */
function settingsLines(
  declared: readonly string[],
  settings: JsonObject,
  rest: readonly (readonly [name: string, value: string])[],
): string[] {
  if (declared.length === 0) {
    const about = '# Not managed: remove the # of settings and of a field to manage it.';
    const fieldLines = rest.map(([name, value]) => `#   ${name}: ${value}`);
    return rest.length === 0 ? ['settings: {}'] : [about, '# settings:', ...fieldLines];
  }
  const others = rest.map(([name, value]) => `  # ${name}: ${value}`);
  return [
    'settings:',
    ...declared.flatMap((name) => formatExplanation(['settings', name], settings[name] ?? null, 2)),
    ...(rest.length === 0
      ? []
      : ['', '  # Not managed: remove a # to manage the field.', ...others]),
  ];
}

/** Formats the service's address: at the top of the file, or in its only environment. */
function serverLines(
  server: JsonObject,
  environment: string | undefined,
  { name: dialect }: Dialect,
): readonly string[] {
  const origin = typeof server['url'] === 'string' ? server['url'] : null;
  const members = (column: number) => [
    ...Object.entries(server).flatMap(([key, value]) =>
      formatExplanation(['server', key], value, column),
    ),
    ...(showsSecrets({ dialect, origin })
      ? [
          `${' '.repeat(column)}# Remove the # for plans that notice a new key.`,
          `${' '.repeat(column)}# compare_secrets: true`,
        ]
      : []),
  ];
  if (environment === undefined) return ['server:', ...members(2)];
  const [name = ''] = memberLines(environment, null, 2, LAYOUT);
  return ['environments:', name.replace(/ null$/, ''), '    server:', ...members(6)];
}

/** The blocks of items that are stored by name, and the parts of them that the file omits. */
function collectionLines({ blocks: all, left }: FirstItems): readonly string[] {
  const blocks = new Map([...all].filter(([, items]) => Object.keys(items).length > 0));
  const names = new Set([...blocks.keys(), ...left.map(({ path: [block = ''] }) => block)]);
  return [...names].flatMap((block) => {
    const items = blocks.get(block);
    const notes = left
      .filter(({ path }) => path[0] === block)
      .map(({ path, reason }) => {
        const column = items === undefined ? '' : '  ';
        return `${column}# Left out: ${oneLine(formatPath(path))}: ${reason}.`;
      });
    return ['', ...(items === undefined ? [] : formatExplanation([block], items, 0)), ...notes];
  });
}

/** A value that the file may declare: the default of the field, or an example if that is null and it cannot be. */
function declarable({ name, absent, onNull, clearWith }: DialectField): Json {
  if (isRecord(absent)) return null;
  const isAllowed = absent !== null || onNull === 'clears' || clearWith !== null;
  const value = isAllowed ? maskSecrets(absent) : (EXAMPLES[name] ?? null);
  return isExpressible({ [name]: value }) ? value : (EXAMPLES[name] ?? null);
}

/** For the fields that cannot be null. */
const EXAMPLES: Readonly<Record<string, Json>> = {
  secrets_store: { provider_tokens: { github: { token: '${env:GIT_PROVIDER_TOKEN}' } } },
  user_consents_to_analytics: false,
};

/** A member under what it is for. The members of a native part are explained one by one, in the order of the schema. */
function formatExplanation(path: readonly string[], value: Json, column: number): string[] {
  const key = path.at(-1) ?? '';
  const [block, ...below] = path;
  const isNative = block === 'settings' && isNativePath(below);
  // The name of a part shows its meaning; its description may be that of another kind of agent.
  const isInnerPart = isNative && below.length > 1 && isPart(settingsNodes(below));
  const sentence = isInnerPart ? '' : firstSentence(path);
  const comment = sentence === '' ? [] : [`${' '.repeat(column)}# ${sentence}`];
  if (!isNative || !isObject(value) || Object.keys(value).length === 0)
    return [...comment, ...memberLines(key, value, column, LAYOUT)];
  if (!isPart(settingsNodes(below)))
    return [...comment, ...memberLines(key, value, column, LAYOUT)];
  const known = listNamedKeys(below).filter((name) => Object.hasOwn(value, name));
  const others = Object.keys(value).filter((name) => !known.includes(name));
  const [head = ''] = memberLines(key, null, column, LAYOUT);
  return [
    ...comment,
    head.replace(/ null$/, ''),
    ...[...known, ...others].flatMap((name) =>
      formatExplanation([...path, name], value[name] ?? null, column + LAYOUT.step),
    ),
  ];
}
