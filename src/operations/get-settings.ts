import { asSetpointError, SetpointError } from '../model/error.ts';
import type { EnvironmentSettings, ObservedDocument } from '../model/observed.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import { masked } from '../model/value.ts';
import { TOOL } from '../model/version.ts';
import { settingsObserver } from '../service/observe.ts';
import { errorReport } from './error-report.ts';
import { openTarget } from './open-target.ts';
import type { Options } from './options.ts';
import { prepareTargets, type Prepared } from './prepare.ts';
import { selectTargets } from './select.ts';
import { sideBySide } from './side-by-side.ts';

const SIDE_BY_SIDE = 8;

/** What every target's service has, masked. Reads only. */
export async function getSettings(options: Options): Promise<ObservedDocument> {
  const prepared = prepareTargets(await selectTargets(options), options);
  const environments = await sideBySide(prepared, options.parallel ?? SIDE_BY_SIDE, (target) =>
    lookAt(target, options),
  );
  return { format_version: FORMAT_VERSION, kind: 'observed', tool: TOOL, environments };
}

async function lookAt(prepared: Prepared, options: Options): Promise<EnvironmentSettings> {
  const { target, server } = prepared;
  const origin = server instanceof SetpointError ? null : server.origin;
  try {
    const open = await openTarget(prepared, options);
    try {
      const observed = await settingsObserver(open.connection, { deadline: open.deadline }).observe(
        options.signal,
      );
      const settings = observed.stored ? masked(observed.record) : null;
      return {
        name: target.name,
        origin,
        dialect: observed.dialect,
        status: observed.stored ? 'stored' : 'empty',
        settings,
        error: null,
      };
    } finally {
      await open.close();
    }
  } catch (thrown) {
    const error = errorReport(asSetpointError(thrown));
    return { name: target.name, origin, dialect: null, status: 'error', settings: null, error };
  }
}
