import { join } from 'node:path';
import { isFolder, isThere, readText } from '../host/read-text.ts';
import { findIn } from '../import/find.ts';
import type { Findings } from '../import/findings.ts';
import type { Foreign } from '../import/foreign.ts';
import { type Form, formOf, parseForeign } from '../import/parse.ts';
import { SetpointError } from '../model/error.ts';

/** A file of what people had before setpoint, and what was found in it. */
export interface ForeignFile {
  readonly file: string;
  readonly form: Form;
  readonly documents: readonly Foreign[];
  readonly found: Findings;
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
  'It reads config.toml, settings.json, agent_settings.json and secrets.json of OpenHands, .env files, compose and Helm values, and the mcp servers of other agents (JSON, TOML, YAML).';

/** Reads files and folders, in their order. Throws a SetpointError that names the file and the place, and quotes nothing of it. */
export async function foreignFiles(
  paths: readonly string[],
  limit: number,
): Promise<readonly ForeignFile[]> {
  const files = paths.flatMap(filesAt);
  const read: ForeignFile[] = [];
  for (const file of files) read.push(await foreignFile(file, limit));
  return read;
}

function filesAt(path: string): readonly string[] {
  if (!isFolder(path)) return [path];
  const files = OF_FOLDER.map((name) => join(path, name)).filter(isThere);
  if (files.length > 0) return files;
  throw new SetpointError(
    'file-unreadable',
    `${path} is a folder that has none of ${OF_FOLDER.join(', ')}.`,
    {
      hint: 'Name a file with --from.',
    },
  );
}

async function foreignFile(file: string, limit: number): Promise<ForeignFile> {
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
  const form = formOf(file, read.text);
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
  return { file, form, documents: parsed.documents, found: findIn(form, parsed.documents) };
}
