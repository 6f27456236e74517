import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { isFolder, pathExists, listFolder, readText } from '../host/read-text.ts';
import { environmentFiles, collectFindings, type Item } from '../import/find.ts';
import { type Findings, NOT_TAKEN } from '../import/written.ts';
import type { Foreign } from '../import/foreign.ts';
import { collectObjects } from '../import/kube-objects.ts';
import { createLineFinder } from '../import/find-line.ts';
import { type Form, detectForm, parseForeign } from '../import/parse-file.ts';
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

/** The files that OpenHands stores in its folder. */
const OF_FOLDER = [
  'config.toml',
  'settings.json',
  'agent_settings.json',
  'secrets.json',
  'mcp.json',
];

const READS =
  'It reads config.toml, settings.json, agent_settings.json, secrets.json and profiles of OpenHands. It also reads .env files, compose files, objects of Kubernetes, and the mcp servers of other agents (JSON, TOML, YAML).';

/** The folders of OpenHands with a file for each item of a block. */
const FOLDERS: Readonly<Record<string, Item['block']>> = {
  profiles: 'llm_profiles',
  'agent-profiles': 'agent_profiles',
};

/**
 * Reads files and folders, in their order, the files that a compose file names with `env_file` before it: its own values win. Throws a
 * SetpointError that names the file and the place, and quotes nothing of it.
 */
export async function foreignFiles(
  paths: readonly string[],
  limit: number,
): Promise<readonly ForeignFile[]> {
  const files = paths.flatMap(listForeignFiles);
  const given = new Set(files.map((file) => resolve(file)));
  const read: (ParsedFile & { readonly absent: readonly string[] })[] = [];
  for (const file of files) {
    const one = await parseForeignText(file, limit, null);
    const absent: string[] = [];
    for (const name of one.form === 'yaml' ? environmentFiles(one.documents) : []) {
      const path = isAbsolute(name) ? name : join(dirname(file), name);
      const known = resolve(path);
      if (given.has(known)) continue;
      given.add(known);
      if (pathExists(path))
        read.push({ ...(await parseForeignText(path, limit, 'variables')), absent: [] });
      else absent.push(name);
    }
    read.push({ ...one, absent });
  }
  const objects = collectObjects(read.flatMap(({ documents }) => documents));
  return read.map(({ absent, ...one }): ForeignFile => {
    const found = collectFindings(one.form, one.documents, objects, findForeignKind(one));
    for (const name of absent)
      found.left.push({ at: ['env_file', name], reason: NOT_TAKEN.absent });
    return { ...one, found };
  });
}

/** What a file of a folder of OpenHands is by its place: a profile of some name. */
function findForeignKind({ file, form }: ParsedFile): Item | null {
  const folder = basename(dirname(resolve(file)));
  const block = form === 'json' ? FOLDERS[folder] : undefined;
  return block === undefined ? null : { block, name: basename(file, '.json') };
}

function listForeignFiles(path: string): readonly string[] {
  if (!isFolder(path)) return [path];
  const folders = Object.keys(FOLDERS).includes(basename(resolve(path)))
    ? [path]
    : Object.keys(FOLDERS).map((name) => join(path, name));
  const files = [
    ...OF_FOLDER.map((name) => join(path, name)).filter(pathExists),
    ...folders.filter(isFolder).flatMap((folder) =>
      [...listFolder(folder)]
        .toSorted()
        .filter((name) => name.endsWith('.json'))
        .map((name) => join(folder, name)),
    ),
  ];
  if (files.length > 0) return files;
  throw new SetpointError(
    'file-unreadable',
    `${path} is a folder that has none of ${[...OF_FOLDER, ...Object.keys(FOLDERS)].join(', ')}.`,
    {
      hint: 'Name a file with --from.',
    },
  );
}

type ParsedFile = Omit<ForeignFile, 'found'>;

async function parseForeignText(
  file: string,
  limit: number,
  known: Form | null,
): Promise<ParsedFile> {
  const read = readText(file, limit);
  if ('problem' in read) {
    const isLarge = read.problem === 'file-too-large';
    throw new SetpointError(
      'file-unreadable',
      isLarge ? `${file} is larger than ${limit} bytes.` : `${file} is not UTF-8 text.`,
      {
        hint: isLarge
          ? '--max-file-size 16MiB reads a larger one; or copy what is needed into a separate file.'
          : READS,
      },
    );
  }
  const form = known ?? detectForm(file, read.text);
  if (form === null)
    throw new SetpointError('file-unreadable', `${file} is of no kind that init --from knows.`, {
      hint: READS,
    });
  const parsed = await parseForeign(form, read.text);
  if ('problem' in parsed) {
    const { problem, line, column } = parsed;
    const place = line === null ? '' : `:${line}${column === null ? '' : `:${column}`}`;
    throw new SetpointError('file-unreadable', `${file}${place} is ${problem}.`, {
      hint: line === null ? READS : 'Fix the file there, or pass another one with --from.',
    });
  }
  const { text } = read;
  const { documents } = parsed;
  let lines: ReturnType<typeof createLineFinder> | undefined;
  return {
    file,
    form,
    documents,
    lineOf: (at) => (lines ??= createLineFinder(form, text))(at),
  };
}
