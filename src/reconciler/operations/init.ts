import { dirname, join } from 'node:path';
import { SetpointError } from '../model/error.ts';
import { NATIVE_PARTS } from '../model/field.ts';
import { formatPath } from '../model/path.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import type { InitDocument, NewVariable } from '../model/documents.gen.ts';
import { TOOL } from '../model/version.ts';
import { isAuthorizationPath } from '../model/header-scheme.ts';
import { isAddressOf } from '../desired/resolve.ts';
import { firstSentence } from '../desired/schema-lookup.ts';
import { envExample, gitIgnore } from '../pull/first-files.ts';
import { pathExists, readOptional } from '../host/read-text.ts';
import { checkWritable } from '../host/write-aside.ts';
import { writeFiles, type FileChange } from '../host/write-files.ts';
import { fileLimit } from './load.ts';
import { defaultFiles } from './settings-files.ts';
import { firstFile, type Initial, newEnvironment } from './initial.ts';
import type { InitRequest } from './options.ts';
import { DEFAULT_FILE } from './options.ts';
import { redacting, type Running } from './redacting.ts';

const [EXAMPLE, IGNORE] = ['.env.example', '.gitignore'];
const BESIDE = [EXAMPLE, IGNORE];

/**
 * Writes a first settings file from what a service has, or adds an environment to a file, with `.env.example` and lines in
 * `.gitignore` next to it. Reads the service only. Nothing is overwritten, and a plan of the settings against the same observation
 * is empty. Throws a SetpointError if nothing was written.
 */
export function init(request: InitRequest): Promise<InitDocument> {
  return redacting(request, initFiles);
}

async function initFiles(request: Running<InitRequest>): Promise<InitDocument> {
  const file = chooseInitFile(request);
  checkAddresses(request);
  for (const path of [file, ...BESIDE.map((name) => join(dirname(file), name))])
    checkWritable(path);
  const { environment } = request;
  const { from = [] } = request;
  const initial =
    from.length > 0
      ? await (await import('./initial-from.ts')).createInitialText(file, from, request)
      : environment === undefined || (request.server !== undefined && !pathExists(file))
        ? await firstFile(file, request)
        : await newEnvironment(environment, request);
  const changes = listInitChanges(file, initial, fileLimit(request));
  await writeFiles(
    changes.filter(({ before, text }) => before !== text),
    fileLimit(request),
  );
  return {
    format_version: FORMAT_VERSION,
    kind: 'init',
    tool: TOOL,
    environment: environment ?? 'default',
    origin: initial.origin,
    dialect: initial.dialect,
    status: initial.status,
    files: changes.map(({ path, before, text }) => ({
      file: path,
      status: before === null ? 'created' : before === text ? 'unchanged' : 'extended',
    })),
    variables: initial.variables,
    left: initial.left,
    from: initial.from,
  };
}

function checkAddresses({ server, automationUrl, from }: InitRequest): void {
  const isAddress = (name: string, text: string) =>
    isAddressOf(name, text.trim().replace(/\/+$/, ''));
  if (server !== undefined && !isAddress('url', server)) {
    const message =
      '--server takes an address: http, https or embedded:, without userinfo, query and fragment.';
    throw new SetpointError('usage', message);
  }
  if (automationUrl === undefined) return;
  if (server === undefined || from !== undefined)
    throw new SetpointError(
      'usage',
      'The address of an automation service needs that of its server, and no --from.',
    );
  if (isAddress('automation_url', automationUrl)) return;
  const message =
    'An automation service has an http or https address, without userinfo, query and fragment.';
  throw new SetpointError('usage', message);
}

function chooseInitFile({ file }: InitRequest): string {
  const files = [file ?? defaultFiles()].flat();
  const [only = DEFAULT_FILE] = files;
  if (files.length <= 1) return only;
  const given = file === undefined ? 'this folder has' : '-f names';
  throw new SetpointError('usage', `init writes one file, and ${given} several.`, {
    hint: 'Name one with -f.',
  });
}

function listInitChanges(
  file: string,
  { before, text, variables }: Initial,
  limit: number,
): FileChange[] {
  const folder = dirname(file);
  const beside = (name: string, edit: (old: string | null) => string): FileChange => {
    const path = join(folder, name);
    const old = readOptional(path, limit);
    return { path, before: old, text: edit(old) };
  };
  const read = variables.map((one) => ({
    name: one.name,
    purpose: `${describeVariable(one.path)}${schemeNote(one, text)}`,
  }));
  return [
    { path: file, before, text },
    beside(EXAMPLE, (old) => envExample(old, read)),
    beside(IGNORE, gitIgnore),
  ];
}

/** Whether the value of a header belongs into the variable with its scheme. */
function schemeNote({ name, path }: NewVariable, text: string): string {
  if (!isAuthorizationPath(path)) return '';
  const [before = ''] = text.split(`\${env:${name}}`);
  const [, scheme] = /(\w[\w-]*) $/.exec(before) ?? [];
  return scheme === undefined
    ? ' (the whole value, with its scheme if it has one, such as "Bearer TOKEN")'
    : ` (without "${scheme} ", which the file has)`;
}

function describeVariable(path: NewVariable['path']): string {
  const [block = ''] = path;
  const inSchema = block === 'server' ? path : ['settings', ...path];
  const isOwn = path.length === 1 || block === 'server' || NATIVE_PARTS.has(block);
  const sentence = isOwn ? firstSentence(inSchema) : '';
  return sentence === '' ? formatPath(path) : `${formatPath(path)}: ${sentence}`;
}
