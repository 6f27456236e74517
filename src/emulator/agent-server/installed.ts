import type { Routes } from '../call.ts';
import { type Answer, detail, createJsonAnswer } from '../http/answer.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  readTextMember,
  readJson,
} from '../json.ts';
import { fitScalar } from '../native/fit-scalar.ts';
import { checkObject, flagRule, nullable, type Rule, textRule } from '../rules.ts';
import { failure } from './body.ts';
import { type ServerContent, readableThings, findThing, withoutThing, withThing } from './held.ts';
import type { AgentServerKind } from './record.ts';
import {
  type ContentRequest,
  FOLDER,
  createHeldRoute,
  type HeldRequest,
  type ContentResult,
} from './requests.ts';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';

/** A kind of thing that is installed from folders: skills, plugins that bring some, and apps of Agent Canvas. */
interface InstalledKind {
  readonly collection: 'skills' | 'plugins' | 'canvas_extensions';
  /** The folder of the paths, and of what is installed. */
  readonly folder: string;
  /** The name of one in answers, at the beginning of a sentence and in the middle. */
  readonly title: string;
  readonly noun: string;
  /** The name of one in paths. */
  readonly called: string;
  readonly pattern: string;
  readonly unfit: string;
  /** The answer to a source that cannot be fetched. */
  readonly missing: (reason: string) => string;
  readonly read: (folder: string) => SourceReading;
  /** True if it is fetched again by `refresh`, and on once it is installed. */
  readonly isOld: boolean;
}

const SKILLS: InstalledKind = {
  collection: 'skills',
  folder: 'skills',
  title: 'Skill',
  noun: 'skill',
  called: 'skill_name',
  pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
  unfit: 'Invalid skill. Ensure the source contains a valid SKILL.md.',
  missing: () => 'Failed to fetch skill source. Check that the source is valid.',
  read: readSkillFolder,
  isOld: true,
};

const PLUGINS: InstalledKind = {
  collection: 'plugins',
  folder: 'plugins',
  title: 'Plugin',
  noun: 'plugin',
  called: 'plugin_name',
  pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$',
  unfit: 'Invalid plugin. Ensure it has a valid kebab-case name.',
  missing: () => 'Failed to fetch plugin source. Check that the source is valid.',
  read: readPluginFolder,
  isOld: true,
};

/** Source: contract "canvas extensions: install from a folder, list, enable, force, remove". */
const CANVAS_EXTENSIONS: InstalledKind = {
  collection: 'canvas_extensions',
  folder: 'canvas-extensions',
  title: 'Canvas extension',
  noun: 'canvas extension',
  called: 'extension_name',
  pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$',
  unfit: 'Invalid canvas extension. Ensure the manifest is well-formed.',
  missing: (reason) => `Could not read canvas extension source: ${reason}`,
  read: readExtensionFolder,
  isOld: false,
};

/** /api/skills, /api/plugins. Source: contract "skills: install from a folder, list, disable, refresh, remove". */
export function createAllInstalledRoutes(kind: AgentServerKind): Routes {
  return [SKILLS, PLUGINS, CANVAS_EXTENSIONS].flatMap((of) => createInstalledRoutes(kind, of));
}

function createInstalledRoutes(kind: AgentServerKind, of: InstalledKind): Routes {
  const { collection, folder, title, pattern, called, isOld } = of;
  const path = `/api/${folder}/installed`;
  const node = { type: 'string', minLength: 1, maxLength: 255, pattern };
  const names: Rule = (value) => fitScalar(node, { isNamed: false }, value, ['path', called]);
  const notInstalled = (name: string) => detail(404, `${title} '${name}' is not installed`);
  /** A request about one that must be there. */
  const about = (
    does: (held: ServerContent, asked: ContentRequest, found: JsonObject) => ContentResult,
  ): HeldRequest => ({
    names,
    does: (held, asked) => {
      const found = findThing(held, collection, asked.sent);
      return found === undefined ? notInstalled(asked.sent) : does(held, asked, found);
    },
  });
  const list: HeldRequest = {
    does: (held) =>
      createJsonAnswer(200, {
        [collection]: readableThings(held, collection).map(([, thing]) => thing),
      }),
  };
  const refresh = about((held, { now, sent }, found) => refreshThing(of, held, found, sent, now));
  return [
    createHeldRoute(kind, `/api/${folder}/install`, { POST: installing(of) }),
    createHeldRoute(kind, path, { GET: list }),
    ...(isOld ? [createHeldRoute(kind, `${path}/{id}/refresh`, { POST: refresh })] : []),
    createHeldRoute(kind, `${path}/{id}`, {
      GET: about((_, __, found) => createJsonAnswer(200, found)),
      PATCH: {
        ...about((held, { sent, body }, found) => {
          const enabled = body;
          return {
            held: withThing(held, collection, sent, { ...found, enabled }),
            answer: createJsonAnswer(200, { name: sent, enabled }),
          };
        }),
        takes: enabledRule,
      },
      DELETE: about((held, { sent }) => ({
        held: withoutThing(held, collection, sent),
        answer: createJsonAnswer(200, { message: `${title} '${sent}' uninstalled` }),
      })),
    }),
  ];
}

/** Checks a body with only the flag for enabling one. */
const enabledRule: Rule = (body, at) => {
  const verdict = checkObject([{ name: 'enabled', rule: flagRule }], 'ignored', body, at);
  if (verdict.kind !== 'good') return verdict;
  return { kind: 'good', value: readOwnMember(verdict.value, 'enabled') ?? null };
};

const someText: Rule = (value, at) =>
  fitScalar({ type: 'string', minLength: 1 }, { isNamed: false }, value, at);

const SENT = [
  { name: 'source', rule: someText },
  { name: 'ref', rule: nullable(textRule), absent: null },
  { name: 'repo_path', rule: nullable(textRule), absent: null },
  { name: 'force', rule: flagRule, absent: false },
];

/** Source: contract "skills: refused", "skills: another source under the same name needs force". */
function installing(of: InstalledKind): HeldRequest {
  return {
    takes: (body, at) => checkObject(SENT, 'ignored', body, at),
    does: (held, { body, now }) => {
      const read = readSource(of, body);
      if (read.kind === 'missing') return detail(400, of.missing(read.reason));
      if (read.kind === 'unfit') return detail(422, read.answer ?? of.unfit);
      const before = findThing(held, of.collection, read.name);
      const isForced = isJsonObject(body) && readOwnMember(body, 'force') === true;
      if (before !== undefined && !isForced)
        return detail(409, `${of.title} already installed. Use force=true to overwrite.`);
      return installThing(of, held, { ...read, source: body, before, now }, (thing) =>
        createJsonAnswer(200, thing),
      );
    },
  };
}

/** Fetched again from its source. Source: contract "skills: a source that is gone, refreshed". */
function refreshThing(
  of: InstalledKind,
  held: ServerContent,
  before: JsonObject,
  name: string,
  now: number,
): ContentResult {
  const read = readSource(of, before);
  if (read.kind !== 'found') return failure(read.reason);
  const message = `${of.title} '${name}' updated`;
  return installThing(of, held, { ...read, source: before, before, now }, (thing) =>
    createJsonAnswer(200, { message, [of.noun]: thing }),
  );
}

function readSource({ read }: InstalledKind, from: Json): SourceReading {
  const folder = sourceFolder(
    readTextMember(from, 'source'),
    readTextMember(from, 'repo_path') || null,
  );
  return typeof folder === 'string' ? read(folder) : folder;
}

interface Installing {
  readonly name: string;
  readonly thing: JsonObject;
  /** The values of `source` and `repo_path`. */
  readonly source: Json;
  readonly before: JsonObject | undefined;
  readonly now: number;
}

/** Stores the reported facts of it and copies nothing; its enabled flag does not change. */
function installThing(
  { collection, folder, isOld }: InstalledKind,
  held: ServerContent,
  { name, thing: { manifest, ...thing }, source, before, now }: Installing,
  answerOf: (thing: JsonObject) => Answer,
): ContentResult {
  const after = {
    ...thing,
    enabled: readOwnMember(before ?? {}, 'enabled') ?? isOld,
    source: readTextMember(source, 'source'),
    ...(isOld ? {} : { requested_ref: readTextMember(source, 'ref') || null }),
    resolved_ref: null,
    repo_path: readTextMember(source, 'repo_path') || null,
    installed_at: new Date(now).toISOString(),
    install_path: `${FOLDER}/${folder}/installed/${name}`,
    ...(manifest === undefined ? {} : { manifest }),
  };
  return { held: withThing(held, collection, name, after), answer: answerOf(after) };
}

/** The content of the folder that a skill or a plugin is installed from; `unfit` is the reason why it cannot be. */
type SourceReading =
  | { readonly kind: 'found'; readonly name: string; readonly thing: JsonObject }
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'unfit'; readonly reason: string; readonly answer?: string };

/** A folder of this machine, or one in it. There is no network: any other source is missing. */
function sourceFolder(source: string, inside: string | null): SourceReading | string {
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
function readSkillFolder(folder: string): SourceReading {
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
function readPluginFolder(folder: string): SourceReading {
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
  const description = readTextMember(said, 'description');
  return { kind: 'found', name, thing: { name, version, description, skills, files } };
}

const EXTENSION = 'canvas-extension.json';

/** A canvas extension: the content of its manifest, whose entry point is a file of the folder. */
function readExtensionFolder(folder: string): SourceReading {
  const read = readJson(readFolderText(folder, EXTENSION) ?? '');
  if (readFolderText(folder, EXTENSION) === undefined)
    return {
      kind: 'unfit',
      reason: `No ${EXTENSION}: ${folder}`,
      answer: `No ${EXTENSION} found at the resolved location. Source plus Path must point at the extension's own directory, not the repository root.`,
    };
  const manifest = read.kind === 'json' && isJsonObject(read.value) ? read.value : {};
  const name = readTextMember(manifest, 'name');
  const entry = readTextMember(manifest, 'entrypoint');
  const isOutside = entry === '' || relative(folder, join(folder, entry)).startsWith('..');
  if (!NAME.test(name) || isOutside || readFolderText(folder, entry) === undefined)
    return { kind: 'unfit', reason: `Invalid ${EXTENSION}: ${folder}` };
  const { version = '', description = '' } = manifest;
  return { kind: 'found', name, thing: { name, version, description, manifest } };
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
