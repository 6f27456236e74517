import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { isJsonObject, type JsonObject, readJson, readTextMember } from '../json.ts';

/** The content of the folder that a skill or a plugin is installed from; `unfit` is the reason why it cannot be. */
export type SourceReading =
  | { readonly kind: 'found'; readonly name: string; readonly thing: JsonObject }
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'unfit'; readonly reason: string };

/** A folder of this machine, or one in it. There is no network: any other source is missing. */
export function sourceFolder(source: string, inside: string | null): SourceReading | string {
  const missing = (reason: string) => ({ kind: 'missing', reason }) as const;
  const whole = resolve(source);
  if (!source.startsWith('/') || !existsSync(whole))
    return missing(`Local extension path does not exist: ${whole}`);
  const folder = join(whole, inside ?? '');
  if (relative(whole, folder).startsWith('..'))
    return missing(`Subdirectory '${inside}' escapes local source '${source}'`);
  return existsSync(folder)
    ? folder
    : missing(`Subdirectory '${inside}' not found in local source '${source}'`);
}

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** A skill: the content of its SKILL.md. Its folder must have its name. */
export function readSkillFolder(folder: string): SourceReading {
  const text = readFolderText(folder, 'SKILL.md');
  if (text === undefined)
    return { kind: 'unfit', reason: `Skill directory is missing SKILL.md: ${folder}` };
  const { name = basename(folder), description = '', version = '1.0.0' } = frontMatter(text);
  if (!NAME.test(name) || name !== basename(folder))
    return {
      kind: 'unfit',
      reason: `Name '${name}' does not match directory '${basename(folder)}'`,
    };
  return { kind: 'found', name, thing: { name, version, description } };
}

const MANIFESTS = ['.plugin/plugin.json', '.claude-plugin/plugin.json'];

/** A plugin: the content of its manifest, the skills in it, and all its files. */
export function readPluginFolder(folder: string): SourceReading {
  const manifest = MANIFESTS.map((name) => readFolderText(folder, name)).find(
    (text) => text !== undefined,
  );
  const read = readJson(manifest ?? '');
  const said = read.kind === 'json' && isJsonObject(read.value) ? read.value : {};
  const name = readTextMember(said, 'name');
  if (!NAME.test(name)) return { kind: 'unfit', reason: `Invalid extension name: '${name}'.` };
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => statSync(join(folder, file)).isFile())
    .map((file) => file.split(sep).join('/'))
    .toSorted();
  const skills = files.flatMap((file) => {
    const found = /^skills\/([^/]+)\/SKILL\.md$/.exec(file)?.[1];
    const skill = found === undefined ? undefined : readSkillFolder(join(folder, 'skills', found));
    if (skill?.kind !== 'found') return [];
    return [{ name: skill.name, description: readTextMember(skill.thing, 'description') }];
  });
  const version = readTextMember(said, 'version') || '1.0.0';
  const told = { name, version, description: readTextMember(said, 'description') };
  return { kind: 'found', name, thing: { ...told, skills, files } };
}

function readFolderText(folder: string, name: string): string | undefined {
  const path = join(folder, name);
  return existsSync(path) && statSync(path).isFile() ? readFileSync(path, 'utf8') : undefined;
}

/** The members at the top of a text, each on a line of its own. */
function frontMatter(text: string): Readonly<Record<string, string>> {
  const block = /^---\r?\n(.*?)\r?\n---/s.exec(text)?.[1] ?? '';
  const lines = [...block.matchAll(/^(\w+):[ \t]*(?:"(.*)"|'(.*)'|(.*?))[ \t]*$/gm)];
  return Object.fromEntries(
    lines.map(([, name, double, single, bare]) => [name, double ?? single ?? bare]),
  );
}
