import { member } from '../desired/node.ts';
import type { Target } from '../desired/target.ts';
import type { Json } from '../model/value.ts';
import { variableName } from './placeholder.ts';
import { type Edit, editText } from '../yaml-edit/edit-text.ts';

/** A variable that a settings file reads, and what for. */
export interface ReadVariable {
  readonly name: string;
  readonly purpose: string;
}

const HEAD =
  '# Variables that settings.yaml reads. Copy this file to .env, fill that in, and never commit it.';

/** The text of `.env.example` with an empty line for each variable; what it holds already stays as it is. */
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
  /** The address of its service; null if it inherits the address of the blocks above. */
  readonly url: string | null;
  /** Whether it gets a key of its own. */
  readonly keyed: boolean;
}

/** The variable that holds the key of an environment. */
export function keyVariable(environment: string): string {
  return variableName(environment, 'API_KEY');
}

/**
 * The text of a settings file with one more environment, which names its server and nothing else. Null if the text cannot be
 * edited. A file without environments keeps its one target, as an environment that adds nothing.
 */
export function withEnvironment(
  text: string,
  targets: readonly Target[],
  hasEnvironments: boolean,
  { name, url, keyed }: NewEnvironment,
): string | null {
  const [former] = targets;
  const edits: Edit[] = [];
  if (!hasEnvironments && former !== undefined && member(former.server, 'url') !== undefined)
    edits.push({ path: ['environments', former.name], value: {} });
  const server: [string, Json][] = [];
  if (url !== null) {
    server.push(['url', url]);
    // Neither a key nor headers follow a changed address, so those of the blocks above are declared here, too.
    if (keyed) server.push(['api_key', `\${env:${keyVariable(name)}}`]);
    else if (has(former, 'api_key')) server.push(['api_key', null]);
    if (has(former, 'headers')) server.push(['headers', {}]);
  }
  const block: Json = server.length === 0 ? {} : { server: Object.fromEntries(server) };
  return editText(text, [...edits, { path: ['environments', name], value: block }]);
}

function has(target: Target | undefined, key: string): boolean {
  return member(target?.server, key) !== undefined;
}
