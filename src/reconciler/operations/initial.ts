import { member, plainValue } from '../desired/node.ts';
import { parseFile } from '../desired/parse.ts';
import { type LoadedFile, readTargets, type Target } from '../desired/target.ts';
import { isThere } from '../host/read-text.ts';
import { SetpointError } from '../model/error.ts';
import type { Dialect } from '../model/dialect.ts';
import type { InitDocument, NewVariable } from '../model/documents.gen.ts';
import type { ObservedState } from '../model/state.ts';
import { type Json, masked } from '../model/value.ts';
import { InvalidSettings } from './load.ts';
import { observeSettings } from './open-target.ts';
import type { Options } from './options.ts';
import { prepareTargets, shownOrigin } from './prepare.ts';
import { sourceFor, withVariables, type Running } from './redacting.ts';
import { selectLoaded } from './select.ts';
import { declaresTheSame, pullEdits, type PullEdits } from '../pull/edits.ts';
import { initialText, keyVariable, withEnvironment } from '../pull/first-files.ts';
import { secretsToHide } from '../pull/target.ts';
import { flowText } from '../yaml-edit/print.ts';
import { isObject, type JsonObject, sameJson } from '../yaml-edit/source.ts';

export interface InitRequest extends Omit<Options, 'targets' | 'text'> {
  /** The environment to add to an existing file. Without it, a new file is written. */
  readonly environment?: string | undefined;
}

/** What an init found, before anything is written. */
export interface Initial {
  /** The text of the settings file that was read; null if there is none yet. */
  readonly before: string | null;
  readonly text: string;
  readonly origin: string | null;
  readonly observed: ObservedState;
  /** The variables that the settings read and the file did not read before, keys first. */
  readonly variables: readonly NewVariable[];
  readonly left: InitDocument['left'];
}

const KEY = 'SETPOINT_API_KEY';

/** A first settings file: everything that its service has and that is not a default, secrets as references. */
export async function firstFile(path: string, request: Running<InitRequest>): Promise<Initial> {
  if (isThere(path)) {
    throw new SetpointError('usage', `${path} exists already, and init does not overwrite it.`, {
      hint: 'Add an environment to it with -e NAME, name another file with -f, or use setpoint pull.',
    });
  }
  const url = request.server?.trim();
  if (url === undefined) {
    throw new SetpointError('usage', "init needs the service's address.", {
      hint: `Run setpoint init --server URL, with ${KEY} set to a key of that service if it requires one.`,
    });
  }
  const keyed = (request.env[KEY] ?? '') !== '';
  const server: JsonObject = { url, ...(keyed ? { api_key: `\${env:${KEY}}` } : {}) };
  const text = flowText({ version: 1, server, settings: {} }, 'double');
  const file: LoadedFile = { path, text, base: null };
  const [prepared] = prepareTargets([onlyTarget(file)], { ...request, server: undefined });
  if (prepared === undefined) throw notMade();
  const { target } = prepared;
  const observed = await observeSettings(prepared, request);
  const edits = pullEdits(
    [file],
    { serverGiven: false, several: false },
    [
      {
        target,
        observed,
        options: { adopt: 'all', hidden: secretsToHide(prepared), ownLayer: false },
      },
    ],
    sourceFor([target.name], request),
  );
  const settings = withUnreported(settingsOf(edits.edited.get(target.name)), observed.dialect);
  const written = initialText(server, settings, observed.dialect);
  if (!sameJson(settingsOf(onlyTarget({ ...file, text: written })), settings)) throw notMade();
  return {
    before: null,
    text: written,
    origin: shownOrigin(prepared),
    observed,
    variables: variablesOf(edits, target.name, keyed ? KEY : null),
    left: edits.pulls.get(target.name)?.left ?? [],
  };
}

/**
 * Declares secrets of which these services report nothing as none, so that a write does not clear one without a word; where a write
 * keeps what it leaves out, nothing needs to be said.
 */
function withUnreported(settings: JsonObject, { fields, writes }: Dialect): JsonObject {
  if (writes === 'fields') return settings;
  const unreported = [...fields.values()].filter(({ reads }) => reads === 'nothing');
  const nulls = unreported.map(({ name }) => [name, null] as const);
  return { ...Object.fromEntries(nulls), ...settings };
}

function onlyTarget(file: LoadedFile): Target {
  const { targets, diagnostics } = readTargets(file, { serverGiven: false, several: false });
  const [target] = targets;
  if (target === undefined || diagnostics.length > 0) throw notMade();
  return target;
}

function settingsOf(target: Target | undefined): JsonObject {
  const node = target?.settings;
  const settings: Json = node === undefined ? {} : masked(plainValue(node));
  return isObject(settings) ? settings : {};
}

/** The settings file with one more environment, which holds its server and what differs from the blocks above. */
export async function newEnvironment(
  name: string,
  request: Running<InitRequest>,
): Promise<Initial> {
  const options = {
    ...request,
    server: undefined,
    targets: undefined,
    selector: undefined,
    shard: undefined,
  };
  const {
    files: [file],
    targets: before,
  } = selectLoaded(options);
  if (file === undefined) throw notEdited();
  checkName(name, before);
  const variable = keyVariable(name);
  const key = [request.env[variable], request.env[KEY]].find(
    (one) => one !== undefined && one !== '',
  );
  const url = request.server?.trim() ?? null;
  const hasEnvironments =
    member(parseFile(file.path, file.text).root ?? undefined, 'environments') !== undefined;
  const keyed = url !== null && key !== undefined;
  const text = withEnvironment(file.text, before, hasEnvironments, { name, url, keyed });
  if (text === null) throw notEdited();
  const env = keyed ? { ...request.env, [variable]: key } : request.env;
  const running = withVariables(options, env);
  const read = { serverGiven: true, several: false };
  const begun: LoadedFile = { ...file, text };
  const { targets, diagnostics } = readTargets(begun, read);
  if (diagnostics.some(({ severity }) => severity === 'error'))
    throw new InvalidSettings(diagnostics);
  const [prepared] = prepareTargets(
    targets.filter((one) => one.name === name),
    running,
  );
  if (prepared === undefined) throw notEdited();
  const { target } = prepared;
  const observed = await observeSettings(prepared, running);
  const edits = pullEdits(
    [begun],
    read,
    [
      {
        target,
        observed,
        options: { adopt: 'all', hidden: secretsToHide(prepared), ownLayer: true },
      },
    ],
    sourceFor([name], running),
  );
  const isSame = (one: Target): boolean => {
    const now = edits.edited.get(one.name);
    return now !== undefined && declaresTheSame(one, now, false);
  };
  if (!before.every(isSame)) throw notEdited();
  return {
    before: file.text,
    text: edits.texts.get(file.path) ?? text,
    origin: shownOrigin(prepared),
    observed,
    variables: variablesOf(edits, name, keyed ? variable : null),
    left: edits.pulls.get(name)?.left ?? [],
  };
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

function variablesOf(
  { references }: PullEdits,
  target: string,
  keyName: string | null,
): NewVariable[] {
  return [
    ...(keyName === null ? [] : [{ name: keyName, path: ['server', 'api_key'] }]),
    ...(references.get(target) ?? []).map(({ name, path }) => ({ name, path })),
  ];
}

function notMade(): SetpointError {
  return new SetpointError('internal', 'No settings file could be made of what the service has.', {
    hint: 'Please report it with what setpoint get settings shows.',
  });
}

function notEdited(): SetpointError {
  return new SetpointError('internal', 'The file could not be edited. Nothing was written.', {
    hint: 'Add the environment by hand, and please report how the file is written.',
  });
}
