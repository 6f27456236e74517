import { SetpointError } from '../model/error.ts';
import { choicesHint } from '../model/suggest.ts';
import type { Target } from '../desired/target.ts';
import { InvalidSettings, loadTargets } from './load.ts';
import type { Options } from './options.ts';

/** The targets an operation is about, in the order they were named. Throws where the files or the names are not right. */
export function selectTargets(options: Options): readonly Target[] {
  const { targets, diagnostics } = loadTargets(options);
  if (diagnostics.some(({ severity }) => severity === 'error'))
    throw new InvalidSettings(diagnostics);
  const names = new Set<string>();
  const twice = targets.find(({ name }) => names.size === names.add(name).size);
  if (twice !== undefined) {
    throw new SetpointError('usage', `Two environments have the name ${twice.name}.`, {
      hint: 'Give each of the files its own name:.',
    });
  }
  const selected =
    options.targets === undefined
      ? targets
      : options.targets.map((name) => targetNamed(name, targets, options.targetsFrom));
  if (options.server !== undefined && selected.length > 1) {
    throw new SetpointError(
      'usage',
      `--server names one address, and there are ${selected.length} environments.`,
      {
        hint: 'Choose one with -e.',
      },
    );
  }
  return selected;
}

/** The target of that name. Throws a usage error if there is none. */
export function targetNamed(
  name: string,
  targets: readonly Target[],
  from: string | undefined,
): Target {
  const found = targets.find((target) => target.name === name);
  if (found !== undefined) return found;
  const names = targets.map((target) => target.name);
  const which = name.length <= LONGEST_NAME ? `named ${JSON.stringify(name)}` : 'of that name';
  throw new SetpointError(
    'usage',
    `No environment ${which}${from === undefined ? '' : ` (from ${from})`}.`,
    { hint: choicesHint(name, names) },
  );
}

/** What is longer than any name is not repeated. */
const LONGEST_NAME = 60;
