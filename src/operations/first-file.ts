import { SetpointError } from '../model/error.ts';
import { fields } from '../model/field.ts';
import { masked, type Json } from '../model/value.ts';
import { plainValue } from '../desired/node.ts';
import { readTargets, type LoadedFile, type Target } from '../desired/target.ts';
import { initialText } from '../edit/initial-text.ts';
import { isObject, sameJson, type JsonObject } from '../edit/json-value.ts';
import { flowText } from '../edit/value-text.ts';
import { isThere } from '../host/read-text.ts';
import type { Initial, InitRequest } from './initial.ts';
import { observeSettings } from './open-target.ts';
import { prepareTargets, shownOrigin } from './prepare.ts';
import { hiddenIn, pullTools } from './pull-tools.ts';
import type { Running } from './redacting.ts';
import { pullEdits } from './pull-edits.ts';

const READ = { serverGiven: false, several: false };
const KEY = 'SETPOINT_API_KEY';

/** A first settings file: everything that its service holds and that is not a default, secrets as references. */
export async function firstFile(path: string, request: Running<InitRequest>): Promise<Initial> {
  if (isThere(path)) {
    throw new SetpointError('usage', `${path} exists already, and init does not overwrite it.`, {
      hint: 'Add an environment to it with -e NAME, name another file with -f, or use setpoint pull.',
    });
  }
  const url = request.server?.trim();
  if (url === undefined) {
    throw new SetpointError('usage', "init needs the service's address.", {
      hint: `Run setpoint init --server URL, with ${KEY} set to a key of that service if it asks for one.`,
    });
  }
  const keyed = (request.env[KEY] ?? '') !== '';
  const server: JsonObject = { url, ...(keyed ? { api_key: `\${env:${KEY}}` } : {}) };
  const text = flowText({ version: 1, server, settings: {} }, 'double');
  const file: LoadedFile = { path, text, base: null };
  const [prepared] = prepareTargets([targetOf(file)], { ...request, server: undefined });
  if (prepared === undefined) throw unwritable();
  const observed = await observeSettings(prepared, request);
  const tools = pullTools(request, [prepared.target.name]);
  const wish = { adopt: 'all', hidden: hiddenIn(prepared), overlay: false } as const;
  const looked = { target: prepared.target, observed, wish };
  const edits = pullEdits([file], READ, [looked], tools);
  const edited = edits.edited.get(prepared.target.name);
  const settings = withUnseen(settingsOf(edited));
  const written = initialText(server, settings);
  const now = targetOf({ ...file, text: written });
  if (!sameJson(settingsOf(now), settings)) throw unwritable();
  const stubs = edits.stubs.get(prepared.target.name) ?? [];
  const pull = edits.targets.get(prepared.target.name);
  return {
    before: null,
    text: written,
    origin: shownOrigin(prepared),
    observed,
    variables: [
      ...(keyed ? [{ name: KEY, path: ['server', 'api_key'] }] : []),
      ...stubs.map(({ name, path: of }) => ({ name, path: of })),
    ],
    left: pull?.left ?? [],
  };
}

/** What no service shows is declared as none, so that a write clears nothing in silence. */
function withUnseen(settings: JsonObject): JsonObject {
  const unseen = fields().filter(({ secret, setFlag }) => secret && setFlag === null);
  const nulls = unseen.map(({ name }) => [name, null] as const);
  return { ...Object.fromEntries(nulls), ...settings };
}

function targetOf(file: LoadedFile): Target {
  const { targets, diagnostics } = readTargets(file, READ);
  const [target] = targets;
  if (target === undefined || diagnostics.length > 0) throw unwritable();
  return target;
}

function settingsOf(target: Target | undefined): JsonObject {
  const node = target?.settings;
  const settings: Json = node === undefined ? {} : masked(plainValue(node));
  return isObject(settings) ? settings : {};
}

function unwritable(): SetpointError {
  return new SetpointError('internal', 'No settings file could be made of what the service has.', {
    hint: 'Please report it with what setpoint get settings shows.',
  });
}
