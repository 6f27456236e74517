import type { BlockName } from '../desired/blocks.ts';
import { plainValue, member } from '../desired/node.ts';
import { type LoadedFile, readTargets, type Target } from '../desired/target.ts';
import { SetpointError, asSetpointError } from '../model/error.ts';
import type { DialectName } from '../model/dialect.ts';
import type { InitDocument, NewVariable } from '../model/documents.gen.ts';
import type { ObservedState } from '../model/state.ts';
import { type Json, maskSecrets } from '../model/value.ts';
import { InvalidSettings } from './invalid-settings.ts';
import type { Options, InitRequest } from './options.ts';
import { prepareTargets, formatOrigin, type PreparedTarget } from './prepare.ts';
import { createMaskingSource, withVariables, type Running } from './redacting.ts';
import { declaresTheSame, pullEdits, type PullEdits } from '../pull/edits.ts';
import { createCopyMatcher } from '../desired/active-profiles.ts';
import {
  initialText,
  keyVariable,
  type NewEnvironment,
  withEnvironment,
} from '../pull/first-files.ts';
import { ACTIVE_FORM } from '../model/collection-forms.ts';
import { secretsToHide, type ObservedService } from '../pull/pull-target.ts';
import { flowText } from '../yaml-edit/print.ts';
import { isObject, type JsonObject, isSameData } from '../yaml-edit/source.ts';
import { dirname, join } from 'node:path';
import { pathExists } from '../host/read-text.ts';
import { findInterruption } from '../reconcile/interruption.ts';
import { withTarget } from './open-target.ts';
import { listLogins } from './logins.ts';
import { readCollections } from './read-collections.ts';
import { readDeclaredOrigin } from '../desired/blocks/server.ts';
import { parseFile } from '../desired/parse.ts';
import { selectLoaded } from './select.ts';

/** The findings of an init, before anything is written. */
export interface Initial {
  /** The text of the settings file that was read; null if there is none yet. */
  readonly before: string | null;
  readonly text: string;
  readonly origin: string | null;
  readonly dialect: DialectName;
  /** The state of the service's store; `unread`: it was not asked. */
  readonly status: InitDocument['status'];
  /** The variables that the settings read and the file did not read before, keys first. */
  readonly variables: readonly NewVariable[];
  readonly left: InitDocument['left'];
  /** The files that were read instead of a service; null if a service was read. */
  readonly from: InitDocument['from'];
}

/**
 * A first settings file: everything that its service has and that is not a default, secrets as references. With the name of an environment,
 * the service is that of this environment.
 */
export async function firstFile(path: string, asked: Running<InitRequest>): Promise<Initial> {
  const { environment } = asked;
  checkNew(path, environment);
  const url = asked.server?.trim();
  if (url === undefined) throw createMissingAddressError();
  const variable = environment === undefined ? SERVICE_KEY : keyVariable(environment);
  const key = keyGiven(asked, variable);
  const keyed = key !== undefined;
  const request = keyed ? withVariables(asked, { ...asked.env, [variable]: key }) : asked;
  const server = createServer(url, asked, keyed ? variable : null);
  const text = flowText({ version: 1, server, settings: {} }, 'double');
  const file: LoadedFile = { path, text, bases: [] };
  const only = [onlyTarget(file)];
  const [prepared] = await prepareTargets(
    { targets: only, declared: only },
    { ...request, server: undefined },
  );
  if (prepared === undefined) throw notMade();
  const { target } = prepared;
  const { observed, collections } = await observeForInit(prepared, request);
  const edits = adoptAll(file, { prepared, observed, collections }, request, false);
  const edited = edits.edited.get(target.name);
  const logins = listLogins(observed, collections);
  const left = [...(edits.pulls.get(target.name)?.left ?? []), ...logins];
  const { read, unread } = collections;
  const blocks = new Map(
    read.map(({ form: { block } }) => [block, readTargetBlock(edited, block as BlockName)]),
  );
  const leftActive = left.flatMap(({ path: [own, kind = ''] }) =>
    own === ACTIVE_FORM.block ? kind : [],
  );
  const isCopy = createCopyMatcher(Object.keys(blocks.get(ACTIVE_FORM.block) ?? {}), leftActive);
  const settings = readTargetBlock(edited, 'settings');
  const leftItems = left.filter(
    (one) => unread.includes(one) || logins.includes(one) || blocks.has(one.path[0] ?? ''),
  );
  const written = initialText({
    server,
    settings,
    dialect: observed.dialect,
    collections: { blocks, left: leftItems },
    isCopy,
    environment,
    schema: findNearbySchema(path),
    origin: 'Written from what the service had.',
    notes: [],
  });
  const reread = onlyTarget({ ...file, text: written });
  for (const [block, data] of [...blocks, ['settings', settings] as const])
    if (!isSameData(readTargetBlock(reread, block as BlockName), data)) throw notMade();
  return {
    before: null,
    text: written,
    origin: formatOrigin(prepared),
    ...toInitialStatus(observed),
    variables: listNewVariables(edits, target.name, keyed ? variable : null),
    left: [...left.filter((one) => !leftItems.includes(one)), ...leftItems],
  };
}

function createMissingAddressError(): SetpointError {
  return new SetpointError('usage', "init needs the service's address.", {
    hint: `Run setpoint init --server URL, with ${SERVICE_KEY} set to a key of that service if it requires one. Or take what you have: setpoint init --from FILE.`,
  });
}

/** The block of a server with this key, a variable. */
function createServer(
  url: string,
  { automationUrl }: InitRequest,
  variable: string | null,
): JsonObject {
  return {
    url,
    ...(automationUrl === undefined ? {} : { automation_url: automationUrl.trim() }),
    ...(variable === null ? {} : { api_key: `\${env:${variable}}` }),
  };
}

function toInitialStatus({
  dialect,
  stored,
}: ObservedState): Pick<Initial, 'dialect' | 'status' | 'from'> {
  return { dialect: dialect.name, status: stored ? 'stored' : 'empty', from: null };
}

function onlyTarget(file: LoadedFile): Target {
  const { targets, diagnostics } = readTargets(file, { serverGiven: false, several: false });
  const [target] = targets;
  if (target === undefined || diagnostics.some(({ severity }) => severity === 'error'))
    throw notMade();
  return target;
}

function readTargetBlock(target: Target | undefined, name: BlockName): JsonObject {
  const node = target?.[name];
  const block: Json = node === undefined ? {} : maskSecrets(plainValue(node));
  return isObject(block) ? block : {};
}

/** The settings file with one more environment, which holds its server and what differs from the blocks above. */
export async function newEnvironment(
  name: string,
  request: Running<InitRequest>,
): Promise<Initial> {
  const options = ofFile(request);
  const { file, targets: before } = fileToExtend(name, options);
  const variable = keyVariable(name);
  const key = keyGiven(request, variable);
  const url = request.server?.trim() ?? null;
  const keyed = url !== null && key !== undefined;
  const server = url === null ? null : createServer(url, request, keyed ? variable : null);
  const text = withOneMore(file, before, { name, server, blocks: {} });
  const env = keyed ? { ...request.env, [variable]: key } : request.env;
  const running = withVariables(options, env);
  const begun: LoadedFile = { ...file, text };
  const { targets, diagnostics } = readTargets(begun, { serverGiven: true, several: false });
  if (diagnostics.some(({ severity }) => severity === 'error'))
    throw new InvalidSettings(diagnostics);
  const [prepared] = await prepareTargets(
    { targets: targets.filter((one) => one.name === name), declared: targets },
    running,
  );
  if (prepared === undefined) throw notEdited();
  const service = await observeForInit(prepared, running);
  const edits = adoptAll(begun, { prepared, ...service }, running, true);
  const isSame = (one: Target): boolean => {
    const now = edits.edited.get(one.name);
    return now !== undefined && declaresTheSame(one, now, false);
  };
  if (!before.every(isSame)) throw notEdited();
  return {
    before: file.text,
    text: edits.texts.get(file.path) ?? text,
    origin: formatOrigin(prepared),
    ...toInitialStatus(service.observed),
    variables: listNewVariables(edits, name, keyed ? variable : null),
    left: [
      ...(edits.pulls.get(name)?.left ?? []),
      ...listLogins(service.observed, service.collections),
    ],
  };
}

/** The edits by which a file declares everything of a service: with `ownLayer` in the block of the environment alone. */
function adoptAll(
  file: LoadedFile,
  { prepared, ...service }: ObservedService & { readonly prepared: PreparedTarget },
  request: Running<Options>,
  ownLayer: boolean,
): PullEdits {
  const { target } = prepared;
  const options = { adopt: 'all', hidden: secretsToHide(prepared), ownLayer } as const;
  return pullEdits(
    [file],
    { serverGiven: ownLayer, several: false },
    [{ target, ...service, options }],
    createMaskingSource([target.name], request),
  );
}

function listNewVariables(
  { references }: PullEdits,
  target: string,
  keyName: string | null,
): NewVariable[] {
  return [
    ...(keyName === null ? [] : [{ name: keyName, path: ['server', 'api_key'] }]),
    ...(references.get(target) ?? []).map(({ name: variable, path }) => ({ name: variable, path })),
  ];
}

export const SERVICE_KEY = 'SETPOINT_API_KEY';

/** Throws if the file is there already, or an environment cannot have this name. */
export function checkNew(path: string, environment: string | undefined): void {
  if (environment !== undefined) checkName(environment, []);
  if (!pathExists(path)) return;
  throw new SetpointError('usage', `${path} exists already, and init does not overwrite it.`, {
    hint: 'Add an environment to it with -e NAME, name another file with -f, or use setpoint pull.',
  });
}

/** Schemas that an editor can read without the network: one that `setpoint schema` wrote, and that of an installed setpoint. */
const SCHEMAS = ['settings.schema.json', 'node_modules/setpoint/schemas/settings.schema.json'];

export function findNearbySchema(path: string): string | null {
  const found = SCHEMAS.find((name) => pathExists(join(dirname(path), name)));
  return found === undefined ? null : `./${found}`;
}

/** The key of a service, by the variable of its own or the one that is for any; undefined if neither is set. */
export function keyGiven({ env }: Pick<Options, 'env'>, variable: string): string | undefined {
  return [env[variable], env[SERVICE_KEY]].find((one) => (one ?? '') !== '');
}

function checkName(name: string, targets: readonly Target[]): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) {
    throw new SetpointError('usage', 'The name of an environment cannot have these characters.', {
      hint: 'Use letters, digits, dots, - and _, a letter or digit first.',
    });
  }
  if (targets.every((target) => target.name !== name)) return;
  throw new SetpointError('usage', `The environment ${name} exists already.`, {
    hint: `Import what its service has with setpoint pull -e ${name}.`,
  });
}

export function notMade(): SetpointError {
  return new SetpointError('internal', 'No settings file could be made of what the service has.', {
    hint: 'Please report it with what setpoint get settings shows.',
  });
}

/** Reads the settings and every list. A list that cannot be read leaves its collection out. Throws a SetpointError if the settings cannot be read. */
async function observeForInit(
  prepared: PreparedTarget,
  request: Running<Options>,
): Promise<ObservedService> {
  const { signal } = request;
  try {
    return await withTarget(
      prepared,
      request,
      async ({ settings, reader }) => {
        const observed = await settings.observe(signal);
        const { desired } = prepared;
        const isWanted = () => true;
        const collections = await readCollections({ reader, observed, desired, isWanted, signal });
        return { observed, collections };
      },
      true,
    );
  } catch (thrown) {
    throw findInterruption(signal) ?? asSetpointError(thrown);
  }
}

/** Limits a request to its file, for all environments. */
export function ofFile<R extends Running<Omit<Options, 'targets' | 'text'>>>(request: R) {
  return {
    ...request,
    server: undefined,
    targets: undefined,
    selector: undefined,
    shard: undefined,
  };
}

/** The file that gets an environment of this name, those that it has, and the origin that all have. Throws a SetpointError if it cannot get it. */
export function fileToExtend(
  name: string,
  options: Options,
): {
  readonly file: LoadedFile;
  readonly targets: readonly Target[];
  readonly origin: string | null;
} {
  const {
    files: [file],
    targets,
  } = selectLoaded(options);
  if (file === undefined) throw notEdited();
  checkName(name, targets);
  const [first] = targets;
  return { file, targets, origin: first === undefined ? null : readDeclaredOrigin(first.shared) };
}

/** The text of the file with one more environment. */
export function withOneMore(
  file: LoadedFile,
  before: readonly Target[],
  environment: NewEnvironment,
): string {
  const { root } = parseFile(file.path, file.text);
  const hasEnvironments = member(root ?? undefined, 'environments') !== undefined;
  const text = withEnvironment(file.text, before, hasEnvironments, environment);
  if (text === null) throw notEdited();
  return text;
}

/** Blocks without the values that the blocks above the environments of a file already declare. */
export function withoutShared(blocks: JsonObject, [first]: readonly Target[]): JsonObject {
  const entries = Object.entries(blocks).flatMap(([block, value]): [string, Json][] => {
    const node = first?.shared[block as keyof Target['shared']];
    const above = node === undefined ? null : maskSecrets(plainValue(node));
    if (!isObject(above) || !isObject(value)) return [[block, value]];
    const own = Object.entries(value).filter(
      ([name, one]) => !Object.hasOwn(above, name) || !isSameData(one, above[name] ?? null),
    );
    return own.length === 0 ? [] : [[block, Object.fromEntries(own)]];
  });
  return Object.fromEntries(entries);
}

function notEdited(): SetpointError {
  return new SetpointError('internal', 'The file could not be edited. Nothing was written.', {
    hint: 'Add the environment by hand, and please report how the file is written.',
  });
}
