import { basename } from 'node:path';
import { pathExists } from '../host/read-text.ts';
import { type Finding, isOpenName, type Writing } from '../import/written.ts';
import {
  type Foreign,
  isForeignList,
  isForeignRecord,
  isForeignText,
  Template,
  readForeignText,
  Variable,
} from '../import/foreign.ts';
import { isEncrypted, isPlaceholder, Names } from '../import/variable-names.ts';
import { mergeUnits, collectForeignSecrets, type Unit, createUnit } from '../import/units.ts';
import type { HeldValue, NewVariable, NotTakenOver, TakenFrom } from '../model/documents.gen.ts';
import { SetpointError } from '../model/error.ts';
import { urlOrigin } from '../model/address.ts';
import { formatPath, formatPathKey, type Path } from '../model/path.ts';
import type { ObservedState } from '../model/state.ts';
import { groupSkipped } from '../model/taken.ts';
import { initialText, keyVariable } from '../pull/first-files.ts';
import { listTextVariables } from '../pull/placeholder.ts';
import { DIALECTS } from '../service/dialects.ts';
import { isObject, type JsonObject, isSameData } from '../yaml-edit/source.ts';
import { readTargets } from '../desired/target.ts';
import {
  fileToExtend,
  ofFile,
  withoutShared,
  withOneMore,
  type Initial,
  checkNew,
  keyGiven,
  notMade,
  findNearbySchema,
  SERVICE_KEY,
} from './initial.ts';
import { fittingUnits } from './fitting.ts';
import { type ForeignFile, foreignFiles } from './foreign-files.ts';
import { fileLimit } from './load.ts';
import type { Running } from './redacting.ts';
import type { InitRequest } from './options.ts';

/** A finding with its file, and what a settings file declares of it. */
interface UnitFinding {
  readonly file: string;
  readonly finding: Finding;
  readonly unit: Unit;
}

/**
 * A first settings file from the configuration that people had before setpoint, or one more environment of a file. No service is read.
 * Secrets are references, and skipped parts are listed. If several files set a value, the last one wins.
 */
export async function createInitialText(
  path: string,
  from: readonly string[],
  request: Running<InitRequest>,
): Promise<Initial> {
  const { environment, dialect } = request;
  const extended = findFileToExtend(path, request);
  const files = await foreignFiles(from, fileLimit(request));
  const writing = writingFor(files);
  for (const secret of writing.hidden) request.resolved.all.addSecret(secret);
  const left: NotTakenOver[] = [];
  const leave: Leave = (file, at, reason) => {
    const line = files.find((one) => one.file === file)?.lineOf(at) ?? null;
    left.push({ file, place: placeShown(at, writing), line, reason });
  };
  const service = emptyService(dialect);
  const placed = selectWritable(files, writing, leave);
  const fitting = selectFitting(placed, service, dialect, leave);
  const { url, server, variables: ofServer } = createServerBlock(request, files);
  const inherited = request.server === undefined ? (extended?.origin ?? null) : null;
  const variables = listUniqueVariables([
    ...ofServer,
    ...fitting.flatMap((unit) => unit.variables),
  ]);
  leaveUnread(files, variables, leave);
  if (fitting.length === 0) throw createEmptyImportError(files, left);
  const blocks = mergeUnits(fitting);
  const text =
    extended === null || environment === undefined
      ? initialText({
          ...toFirstContent(blocks),
          server,
          dialect: service.dialect,
          environment,
          schema: findNearbySchema(path),
          origin: `Written from ${files.map(({ file }) => basename(file)).join(', ')}.`,
          notes: listSkippedNotes(left),
        })
      : withOneMore(extended.file, extended.targets, {
          name: environment,
          server: inherited === null ? server : null,
          blocks: withoutShared(blocks, extended.targets),
        });
  requireValid(path, text);
  return {
    before: extended?.file.text ?? null,
    text,
    origin: inherited ?? urlOrigin(url),
    dialect: service.dialect.name,
    status: 'unread',
    variables,
    left: [],
    from: {
      files: files.map(({ file, form }) => ({ file, form })),
      taken: fitting.length,
      values: locateVariableValues(variables, files, placed, writing),
      left,
    } satisfies TakenFrom,
  };
}

/** The file that gets one more environment; null if there is none yet. Throws a SetpointError if it cannot be written. */
function findFileToExtend(path: string, request: Running<InitRequest>) {
  const { environment } = request;
  if (environment !== undefined && pathExists(path))
    return fileToExtend(environment, ofFile(request));
  checkNew(path, environment);
  return null;
}

function listSkippedNotes(left: readonly NotTakenOver[]): string[] {
  return groupSkipped(left).map(
    ({ file, places, reason }) => `Not taken from ${basename(file)}: ${places}: ${reason}.`,
  );
}

/** Each variable once, for the first path that reads it. */
function listUniqueVariables(variables: readonly NewVariable[]): readonly NewVariable[] {
  return variables.filter(
    ({ name }, index) => variables.findIndex((one) => one.name === name) === index,
  );
}

/** Leaves out a part of a file, for a reason. */
type Leave = (file: string, at: Path, reason: string) => void;

/** The units that a settings file for this service, or for a later kind, may declare. */
function selectFitting(
  placed: readonly UnitFinding[],
  service: ObservedState,
  dialect: InitRequest['dialect'],
  leave: Leave,
): readonly Unit[] {
  const others = dialect === undefined ? LATER.map((name) => emptyService(name)) : [];
  const { fitting, left } = fittingUnits(
    placed.map(({ unit }) => unit),
    service,
    others,
  );
  const placedBy = new Map(placed.map((one) => [formatPathKey(one.unit.to), one]));
  for (const { unit, member, reason } of left) {
    const one = placedBy.get(formatPathKey(unit.to));
    if (one !== undefined)
      leave(one.file, [...one.finding.at, ...(member === null ? [] : [member])], reason);
  }
  return fitting;
}

/** Leaves out what no settings file declares, except for variables that the new one reads. */
function leaveUnread(
  files: readonly ForeignFile[],
  variables: readonly { readonly name: string }[],
  leave: Leave,
): void {
  const read = new Set(variables.map(({ name }) => name));
  for (const { file, form, found } of files)
    for (const { at, reason, isServerKey = false } of found.left) {
      const isRead = (isServerKey || form === 'variables') && read.has(at.at(-1) ?? '');
      if (!isRead) leave(file, at, isServerKey ? `${reason}; --server URL takes it` : reason);
    }
}

function toFirstContent({ settings = {}, ...named }: JsonObject) {
  const blocks = Object.entries(named).flatMap(([block, items]) =>
    isObject(items) ? [[block, items] as const] : [],
  );
  return {
    settings: isObject(settings) ? settings : {},
    collections: { blocks: new Map(blocks), left: [] },
    isCopy: () => false,
  };
}

/** The names of the variables that the files have, and what in them is known to be a secret. */
function writingFor(files: readonly ForeignFile[]): Writing {
  const names = new Names();
  for (const { documents } of files)
    for (const { name, text } of documents.flatMap(variablesWithin)) names.keep(name, text);
  for (const { found } of files)
    for (const { text } of found.taken.flatMap(({ value }) => collectTemplates(value)))
      for (const name of listTextVariables(text)) names.keep(name, '');
  return { names, hidden: collectForeignSecrets(files.flatMap(({ documents }) => documents)) };
}

function variablesWithin(value: Foreign): readonly Variable[] {
  if (value instanceof Variable) return [value];
  if (isForeignList(value)) return value.flatMap(variablesWithin);
  return isForeignRecord(value) ? Object.values(value).flatMap(variablesWithin) : [];
}

/** Returns the writable parts of the files. A later file replaces an earlier one. */
function selectWritable(
  files: readonly ForeignFile[],
  writing: Writing,
  leave: Leave,
): readonly UnitFinding[] {
  const placed = new Map<string, UnitFinding>();
  for (const { file, found } of files)
    for (const finding of found.taken) {
      const { unit, left } = createUnit(finding, writing);
      for (const { at, reason } of left) leave(file, [...finding.at, ...at], reason);
      if (unit === null) continue;
      const key = formatPathKey(finding.to);
      const former = placed.get(key);
      const own = former?.finding.value;
      const isReferred =
        own instanceof Variable &&
        !(finding.value instanceof Variable) &&
        listTextVariables(JSON.stringify(unit.value)).has(own.name);
      const isSame =
        isSameData(former?.unit.value ?? null, unit.value) &&
        ownText(own) === ownText(finding.value);
      if (former !== undefined && !isReferred && !isSame)
        leave(former.file, former.finding.at, `${file} has another value and comes later`);
      placed.set(key, { file, finding, unit });
    }
  return [...placed.values()];
}

/** The text that a value is, which a reference in its place does not show. */
function ownText(value: Foreign | undefined): string | null {
  return isForeignText(value) && !(value instanceof Template) ? readForeignText(value) : null;
}

/** The keys that lead to a place, as they may be shown. */
function placeShown(at: Path, writing: Writing): string {
  const shown = at.map((key) => (isOpenName(key, writing) ? key : '(hidden)'));
  return formatPath(shown).replaceAll(/\["(\d+)"\]/g, '[$1]');
}

/** The kinds of services that have more than every kind has. */
const LATER = ['app-server', 'agent-server'] as const;

/** A service of a kind that has nothing stored; if no kind is named, of the one whose settings every kind has. */
function emptyService(dialect: InitRequest['dialect'] = 'settings-v0'): ObservedState {
  return DIALECTS[dialect].saved(null);
}

/** The block of the server: the address that was given, else the embedded service, and a key if there is one. */
function createServerBlock(request: Running<InitRequest>, files: readonly ForeignFile[]) {
  const { environment, dialect } = request;
  const url = request.server?.trim();
  if (url === undefined) {
    const isFirst = dialect === undefined || dialect === 'settings-v0';
    const inside = isFirst ? 'embedded:' : `embedded:?dialect=${dialect}`;
    return { url: inside, server: { url: inside }, variables: [] };
  }
  const variable = environment === undefined ? SERVICE_KEY : keyVariable(environment);
  const ofFiles = files
    .flatMap(({ found }) => found.left)
    .find(({ isServerKey }) => isServerKey)?.at;
  const keyName = keyGiven(request, variable) === undefined ? (ofFiles?.at(-1) ?? null) : variable;
  const server: JsonObject = {
    url,
    ...(keyName === null ? {} : { api_key: `\${env:${keyName}}` }),
    ...(dialect === undefined ? {} : { dialect }),
  };
  const variables = keyName === null ? [] : [{ name: keyName, path: ['server', 'api_key'] }];
  return { url, server, variables };
}

/** Where the values of variables are now, as far as a file has them. Of two files that have one, the later one holds. */
function locateVariableValues(
  variables: readonly NewVariable[],
  files: readonly ForeignFile[],
  placed: readonly UnitFinding[],
  writing: Writing,
): HeldValue[] {
  const held = new Map<string, HeldValue>();
  const add = (variable: string, file: string, place: string, text: string): void => {
    if (text === '' || isPlaceholder(text)) held.delete(variable);
    else held.set(variable, { variable, file, place, encrypted: isEncrypted(text) });
  };
  for (const { file, form, documents } of files)
    if (form === 'variables')
      for (const { name, text } of documents.flatMap(variablesWithin)) add(name, file, name, text);
  for (const { file, finding, unit } of placed) {
    const referred = new Set(
      collectTemplates(finding.value).flatMap((one) => [...listTextVariables(one.text)]),
    );
    for (const { name } of unit.variables) {
      if (referred.has(name)) continue;
      const own = variablesWithin(finding.value).find((one) => one.name === name);
      const text = own?.text ?? writing.names.textFor(name) ?? '';
      if (!held.has(name) || own !== undefined)
        add(name, file, placeShown(finding.at, writing), text);
    }
  }
  return variables.flatMap(({ name }) => held.get(name) ?? []);
}

function collectTemplates(value: Foreign): readonly Template[] {
  if (value instanceof Template) return [value];
  if (isForeignList(value)) return value.flatMap(collectTemplates);
  return isForeignRecord(value) ? Object.values(value).flatMap(collectTemplates) : [];
}

/** Throws if a file with this text is not valid. */
function requireValid(path: string, text: string): void {
  const read = { serverGiven: false, several: false };
  const { targets, diagnostics } = readTargets({ path, text, bases: [] }, read);
  const isValid = targets.length > 0 && diagnostics.every(({ severity }) => severity !== 'error');
  if (!isValid) throw notMade();
}

function createEmptyImportError(
  files: readonly ForeignFile[],
  left: readonly NotTakenOver[],
): SetpointError {
  const names = files.map(({ file }) => file).join(', ');
  const reasons = groupSkipped(left).map(({ file, places, reason }) =>
    files.length === 1 ? `${places}: ${reason}` : `${file}: ${places}: ${reason}`,
  );
  const because = reasons.length === 0 ? '' : ` (${reasons.join('; ')})`;
  return new SetpointError(
    'usage',
    `${names} has nothing that a settings file can declare${because}.`,
    {
      hint: 'Give the file that has the model, its key or the mcp servers with --from.',
    },
  );
}
