import type { Target } from '../desired/target.ts';
import type { DoctorDocument } from '../model/doctor.ts';
import { SetpointError } from '../model/error.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import { TOOL } from '../model/version.ts';
import { sideBySide } from '../reconcile/side-by-side.ts';
import { checkFiles } from './check-files.ts';
import { checkMachine } from './check-machine.ts';
import { checkTarget } from './check-target.ts';
import { SIDE_BY_SIDE, type Options } from './options.ts';
import { prepareTargets, type Prepared } from './prepare.ts';
import { redacting, type Running } from './redacting.ts';
import { selectTargets } from './select.ts';

/**
 * Checks this machine, the settings files, and of every target whether it can be reached and believed; sends only GET. A
 * failure stops no other check that still makes sense. Throws a SetpointError where the names or flags are not right.
 */
export function doctor(options: Options): Promise<DoctorDocument> {
  return redacting(options, examined);
}

async function examined(options: Running<Options>): Promise<DoctorDocument> {
  const machine = checkMachine(options.env);
  const file = checkFiles(options);
  const prepared = file.status === 'failed' ? [] : prepareAll(selectTargets(options), options);
  return {
    format_version: FORMAT_VERSION,
    kind: 'health',
    tool: TOOL,
    checks: [...machine, file],
    environments: await sideBySide(prepared, options.parallel ?? SIDE_BY_SIDE, (target) =>
      checkTarget(target, options),
    ),
  };
}

/** A key that would go to two origins goes to none. */
function prepareAll(targets: readonly Target[], options: Running<Options>): readonly Prepared[] {
  try {
    return prepareTargets(targets, options);
  } catch (thrown) {
    if (!(thrown instanceof SetpointError) || thrown.code !== 'key-shared') throw thrown;
    return targets
      .flatMap((target) => prepareTargets([target], options))
      .map((one) => (one.server instanceof SetpointError ? one : { ...one, server: thrown }));
  }
}
