import type { Diagnostic } from '../model/diagnostic.ts';
import { toReportedDiagnostic, type ReportedDiagnostic } from '../model/diagnostic.ts';
import { usageError } from '../model/error.ts';
import { parsePath } from '../model/path.ts';
import type { FileEdit } from '../model/pulled.ts';
import type { Json } from '../model/value.ts';
import { choicesHint, namesListed } from '../model/wording.ts';
import { BLOCKS, isBlockName, type BlockName } from '../desired/blocks.ts';
import type { LoadedFile } from '../desired/target.ts';
import { isInsideFolder, isLink } from '../host/read-text.ts';
import { writeFiles } from '../host/write-files.ts';
import { editText } from '../yaml-edit/edit-text.ts';
import { isObject, toPlainData, yamlSource } from '../yaml-edit/source.ts';
import { fileLimit, loadTargets } from './load.ts';
import type { Options } from './options.ts';
import { noting } from './prepare.ts';
import { redactEdit } from './pull.ts';
import { running, type Running } from './redacting.ts';

/** An edit of one value of a settings file. */
export interface ProposeRequest extends Options {
  /** The path of the value, as `explain` takes it: `llm_model`, `llm_profiles.fast.model`. */
  readonly path: string;
  /** The value; undefined removes the path from the file, so that it is no longer managed. */
  readonly value: Json | undefined;
  /** The environment that has it alone. Default: the part that all environments of the file share. */
  readonly environment?: string | undefined;
  /** The settings file to edit, if there are several. */
  readonly in?: string | undefined;
}

/** What came of it. */
export interface Proposal {
  readonly kind: 'proposal';
  readonly file: string;
  /** `invalid`: the edited file would not be valid, and nothing was written. */
  readonly status: 'written' | 'unchanged' | 'invalid';
  /** The edit, masked. */
  readonly edit: FileEdit;
  /** The problems of the edited file. */
  readonly diagnostics: readonly ReportedDiagnostic[];
}

/** Where keys go, who may write and what guards allow: people change these. */
const FOR_PEOPLE: ReadonlySet<BlockName> = new Set(['server', 'guards', 'watch', 'kubernetes']);

/**
 * Writes one value into a settings file, byte for byte the same elsewhere, if the edited file is valid. Nothing is sent, and no variable is
 * shown. Throws usage for a path that only people change, and for a file that is not one of the settings files in this folder.
 */
export function proposeChange(request: ProposeRequest): Promise<Proposal> {
  return running(request, async (run) => {
    const loaded = loadTargets(run);
    const note = noting(run);
    for (const target of loaded.targets) note(target);
    const file = chooseFile(loaded.files, run);
    const edited = editFile(file, run);
    const change = { path: file.path, before: file.text, text: edited };
    const edit = redactEdit(change, run.resolved);
    if (edited === file.text)
      return { kind: 'proposal', file: file.path, status: 'unchanged', edit, diagnostics: [] };
    const diagnostics = listProblems(file, edited, loaded.files.length > 1, run);
    const isValid = !diagnostics.some(({ severity }) => severity === 'error');
    if (isValid) await writeFiles([change], fileLimit(run));
    return {
      kind: 'proposal',
      file: file.path,
      status: isValid ? 'written' : 'invalid',
      edit,
      diagnostics: diagnostics.map(toReportedDiagnostic),
    };
  });
}

function chooseFile(files: readonly LoadedFile[], request: ProposeRequest): LoadedFile {
  const paths = files.map(({ path }) => path);
  const named = request.in;
  const [only] = files;
  const file = named === undefined ? only : files.find(({ path }) => path === named);
  if (file === undefined)
    throw named === undefined
      ? usageError('No settings file can be read.')
      : usageError('That is none of the settings files.', choicesHint(named, paths));
  if (named === undefined && files.length > 1)
    throw usageError(
      'There are several settings files.',
      `Name one of them: ${namesListed(paths)}.`,
    );
  if (isLink(file.path) || !isInsideFolder(file.path, '.'))
    throw usageError(
      `${file.path} is outside of the folder that this was started in.`,
      'Start it in the folder of the settings files.',
    );
  return file;
}

function editFile(file: LoadedFile, request: ProposeRequest): string {
  const keys = parseFileKeys(request.path);
  const source = yamlSource(file.text);
  if (source === null)
    throw usageError(`${file.path} is not YAML that can be edited.`, 'Fix its problems first.');
  const data = toPlainData(source.root);
  const path =
    request.environment === undefined
      ? keys
      : ['environments', checkEnvironmentName(data, request.environment), ...keys];
  const edited = editText(file.text, [{ path, value: request.value }]);
  if (edited !== null) return edited;
  throw usageError(
    `${file.path} cannot be edited at this path: an alias, a merge or another form of YAML is in the way.`,
    'Edit the file by hand.',
  );
}

/** The keys of a path in a file. A path that begins with no block is one of the settings. */
function parseFileKeys(text: string): readonly string[] {
  const path = parsePath(text);
  if (path === null)
    throw usageError(
      'That is not a path.',
      'Write one such as llm_model or llm_profiles.fast.model.',
    );
  const [first = ''] = path;
  if (['version', 'name', 'extends', 'environments'].includes(first)) throw onlyForPeople(first);
  if (!isBlockName(first)) return ['settings', ...path];
  if (FOR_PEOPLE.has(first)) throw onlyForPeople(first);
  return path;
}

function onlyForPeople(block: string): Error {
  const own = BLOCKS.map(({ name }) => name).filter((name) => !FOR_PEOPLE.has(name));
  return usageError(
    `${block} is not changed by a proposal: it decides where keys go, or what may be written.`,
    `A person edits it. A proposal changes ${namesListed(own)}.`,
  );
}

function checkEnvironmentName(data: Json, name: string): string {
  const environments = isObject(data) ? data['environments'] : undefined;
  const names = isObject(environments) ? Object.keys(environments) : [];
  if (names.includes(name)) return name;
  throw usageError('The file has no environment of that name.', choicesHint(name, names));
}

function listProblems(
  { path }: LoadedFile,
  text: string,
  several: boolean,
  run: Running<ProposeRequest>,
): readonly Diagnostic[] {
  return loadTargets({ ...run, file: path, text, several }).diagnostics;
}
