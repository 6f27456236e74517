import { SetpointError } from '../model/error.ts';
import { masked } from '../model/value.ts';
import { member, plainValue } from '../desired/node.ts';
import { parseFile } from '../desired/parse.ts';
import { readTargets, type LoadedFile, type Target } from '../desired/target.ts';
import { sameJson } from '../edit/json-value.ts';
import { keyVariable, withEnvironment } from '../edit/new-environment.ts';
import { editableFiles } from './editable-files.ts';
import type { Initial, InitRequest } from './initial.ts';
import { InvalidSettings } from './load.ts';
import { observeSettings } from './open-target.ts';
import { prepareTargets, shownOrigin } from './prepare.ts';
import { hiddenIn, pullTools } from './pull-tools.ts';
import { pullEdits } from './pull-edits.ts';
import type { Running } from './redacting.ts';
import { selectTargets } from './select.ts';

const READ = { serverGiven: true, several: false };

/** The settings file with one more environment, which holds its server and what differs from the blocks above. */
export async function newEnvironment(
  path: string,
  name: string,
  request: Running<InitRequest>,
): Promise<Initial> {
  const options = { ...request, server: undefined, targets: undefined };
  const before = selectTargets(options);
  const [file] = editableFiles({ ...options, file: path });
  if (file === undefined) throw unwritable();
  checkName(name, before);
  const variable = keyVariable(name);
  const key = [request.env[variable], request.env['SETPOINT_API_KEY']].find(
    (one) => one !== undefined && one !== '',
  );
  const url = request.server?.trim() ?? null;
  const hasEnvironments =
    member(parseFile(file.path, file.text).root ?? undefined, 'environments') !== undefined;
  const added = { name, url, keyed: url !== null && key !== undefined };
  const text = withEnvironment(file.text, before, hasEnvironments, added);
  if (text === null) throw unwritable();
  const env = added.keyed ? { ...request.env, [variable]: key } : request.env;
  const begun: LoadedFile = { ...file, text };
  const [prepared] = prepareTargets([targetNamed(begun, name)], { ...options, env });
  if (prepared === undefined) throw unwritable();
  const observed = await observeSettings(prepared, { ...options, env });
  const wish = { adopt: 'all', hidden: hiddenIn(prepared), overlay: true } as const;
  const looked = { target: prepared.target, observed, wish };
  const edits = pullEdits([begun], READ, [looked], pullTools({ ...options, env }, [name]));
  const kept = before.every((target) => isSame(target, edits.edited.get(target.name)));
  if (!kept) throw unwritable();
  const stubs = edits.stubs.get(name) ?? [];
  return {
    before: file.text,
    text: edits.texts.get(file.path) ?? text,
    origin: shownOrigin(prepared),
    observed,
    variables: [
      ...(added.keyed ? [{ name: variable, path: ['server', 'api_key'] }] : []),
      ...stubs.map(({ name: one, path: of }) => ({ name: one, path: of })),
    ],
    left: edits.targets.get(name)?.left ?? [],
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

function targetNamed(file: LoadedFile, name: string): Target {
  const { targets, diagnostics } = readTargets(file, READ);
  if (diagnostics.some(({ severity }) => severity === 'error'))
    throw new InvalidSettings(diagnostics);
  const target = targets.find((one) => one.name === name);
  if (target === undefined) throw unwritable();
  return target;
}

/** Whether a target that was there says what it said. */
function isSame(before: Target, now: Target | undefined): boolean {
  const blocks = ['server', 'settings', 'sandboxes', 'guards', 'unmanaged'] as const;
  return blocks.every((block) => {
    const [was, is] = [before[block], now?.[block]];
    if (was === undefined || is === undefined) return was === is;
    return sameJson(masked(plainValue(was)), masked(plainValue(is)));
  });
}

function unwritable(): SetpointError {
  return new SetpointError('internal', 'The file could not be edited; nothing was written.', {
    hint: 'Add the environment by hand, and please report the form that the file is written in.',
  });
}
