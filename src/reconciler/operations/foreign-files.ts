import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { isFolder, isThere, namesIn, readText } from '../host/read-text.ts';
import { environmentFiles, findIn } from '../import/find.ts';
import { type Findings, NOT_TAKEN } from '../import/written.ts';
import type { Foreign } from '../import/foreign.ts';
import { linesIn } from '../import/lines.ts';
import { type Form, formOf, parseForeign } from '../import/parse.ts';
import { SetpointError } from '../model/error.ts';
import type { Path } from '../model/path.ts';

/** A file of what people had before setpoint, and what was found in it. */
export interface ForeignFile {
  readonly file: string;
  readonly form: Form;
  readonly documents: readonly Foreign[];
  readonly found: Findings;
  /** The line of what keys lead to; null if it is not known. */
  readonly lineOf: (at: Path) => number | null;
}

/** What OpenHands keeps in its folder. */
const OF_FOLDER = [
  'config.toml',
  'settings.json',
  'agent_settings.json',
  'secrets.json',
  'mcp.json',
];

const READS =
  'It reads config.toml, settings.json, agent_settings.json, secrets.json and profiles of OpenHands, .env files, compose and Helm values, and the mcp servers of other agents (JSON, TOML, YAML).';

/** The folder of OpenHands with a file for each LLM profile. */
const PROFILES = 'profiles';

/**
 * Reads files and folders, in their order, the files that a compose file names with `env_file` before it: what it says itself holds.
 * Throws a SetpointError that names the file and the place, and quotes nothing of it.
 */
export async function foreignFiles(
  paths: readonly string[],
  limit: number,
): Promise<readonly ForeignFile[]> {
  const files = paths.flatMap(filesAt);
  const given = new Set(files.map((file) => resolve(file)));
  const read: ForeignFile[] = [];
  for (const file of files) {
    const one = await foreignFile(file, limit, null);
    for (const name of one.form === 'yaml' ? environmentFiles(one.documents) : []) {
      const path = isAbsolute(name) ? name : join(dirname(file), name);
      const known = resolve(path);
      if (given.has(known)) continue;
      given.add(known);
      if (isThere(path)) read.push(await foreignFile(path, limit, 'variables'));
      else one.found.left.push({ at: ['env_file', name], reason: NOT_TAKEN.absent });
    }
    read.push(one);
  }
  return read;
}

function filesAt(path: string): readonly string[] {
  if (!isFolder(path)) return [path];
  const profiles = basename(resolve(path)) === PROFILES ? path : join(path, PROFILES);
  const files = [
    ...OF_FOLDER.map((name) => join(path, name)).filter(isThere),
    ...(isFolder(profiles) ? [...namesIn(profiles)].toSorted() : [])
      .filter((name) => name.endsWith('.json'))
      .map((name) => join(profiles, name)),
  ];
  if (files.length > 0) return files;
  throw new SetpointError(
    'file-unreadable',
    `${path} is a folder that has none of ${OF_FOLDER.join(', ')}, ${PROFILES}.`,
    {
      hint: 'Name a file with --from.',
    },
  );
}

async function foreignFile(file: string, limit: number, known: Form | null): Promise<ForeignFile> {
  const read = readText(file, limit);
  if ('problem' in read) {
    const isLarge = read.problem === 'file-too-large';
    throw new SetpointError(
      'file-unreadable',
      isLarge ? `${file} is larger than ${limit} bytes.` : `${file} is not UTF-8 text.`,
      {
        hint: isLarge
          ? '--max-file-size 16MiB reads a larger one; or take what is needed into a file of its own.'
          : READS,
      },
    );
  }
  const form = known ?? formOf(file, read.text);
  if (form === null)
    throw new SetpointError('file-unreadable', `${file} is of no kind that init --from knows.`, {
      hint: READS,
    });
  const parsed = await parseForeign(form, read.text);
  if ('problem' in parsed) {
    const { problem, line, column } = parsed;
    const place = line === null ? '' : `:${line}${column === null ? '' : `:${column}`}`;
    throw new SetpointError('file-unreadable', `${file}${place} is ${problem}.`, {
      hint: line === null ? READS : 'Mend the file there, or give another one with --from.',
    });
  }
  const { text } = read;
  const { documents } = parsed;
  const isProfile = form === 'json' && basename(dirname(resolve(file))) === PROFILES;
  const profile = isProfile ? basename(file, '.json') : null;
  let lines: ReturnType<typeof linesIn> | undefined;
  return {
    file,
    form,
    documents,
    found: findIn(form, documents, profile),
    lineOf: (at) => (lines ??= linesIn(form, text))(at),
  };
}
