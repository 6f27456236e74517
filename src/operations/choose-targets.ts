import { SetpointError } from '../model/error.ts';
import type { Target } from '../desired/target.ts';
import type { Options } from './options.ts';
import { selectTargets } from './select.ts';

export interface WritingRequest extends Options {
  /** Take every target where there are several and none is named. */
  readonly all?: boolean | undefined;
}

/** The targets of a command that writes: where there are several, it takes those it is told. */
export function chooseTargets(request: WritingRequest, command: string): readonly Target[] {
  const targets = selectTargets(request);
  if (targets.length <= 1 || request.targets !== undefined || request.all === true) return targets;
  throw new SetpointError(
    'usage',
    `There are ${targets.length} environments, and ${command} needs to know which.`,
    {
      hint: `Name them with -e (${targets.map(({ name }) => name).join(', ')}), or take all with --all.`,
    },
  );
}
