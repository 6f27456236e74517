import { SetpointError } from '../model/error.ts';
import { suggest } from '../model/suggest.ts';
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
    throw new SetpointError('usage', `Two targets are called ${twice.name}.`, {
      hint: 'Give one of the files a name: of its own.',
    });
  }
  const selected =
    options.targets === undefined ? targets : options.targets.map((name) => named(name, targets));
  if (options.server !== undefined && selected.length > 1) {
    throw new SetpointError(
      'usage',
      `--server names one address, and there are ${selected.length} targets.`,
      {
        hint: 'Choose one with -e.',
      },
    );
  }
  return selected;
}

function named(name: string, targets: readonly Target[]): Target {
  const found = targets.find((target) => target.name === name);
  if (found !== undefined) return found;
  const names = targets.map((target) => target.name);
  const near = suggest(name, names);
  const hint = near === null ? `There is ${names.join(', ')}.` : `Did you mean ${near}?`;
  throw new SetpointError('usage', 'There is no target or environment of that name.', { hint });
}
