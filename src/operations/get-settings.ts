import type { EnvironmentSettings, ObservedDocument } from '../model/observed.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import { masked } from '../model/value.ts';
import { TOOL } from '../model/version.ts';
import { withoutTainted } from '../plan/tainted.ts';
import { lookAt, originOf } from './look-at.ts';
import { SIDE_BY_SIDE, type Options } from './options.ts';
import { prepareTargets, type Prepared } from './prepare.ts';
import { selectTargets } from './select.ts';
import { sideBySide } from './side-by-side.ts';

/** What every target's service has, masked. Reads only. */
export async function getSettings(options: Options): Promise<ObservedDocument> {
  const prepared = prepareTargets(selectTargets(options), options);
  const environments = await sideBySide(prepared, options.parallel ?? SIDE_BY_SIDE, (target) =>
    settingsOf(target, options),
  );
  return { format_version: FORMAT_VERSION, kind: 'observed', tool: TOOL, environments };
}

function settingsOf(prepared: Prepared, options: Options): Promise<EnvironmentSettings> {
  const where = { name: prepared.target.name, origin: originOf(prepared) };
  return lookAt<EnvironmentSettings>(prepared, options, {
    seen: ({ dialect, stored, record }) => ({
      ...where,
      dialect,
      status: stored ? 'stored' : 'empty',
      settings: stored ? masked(withoutTainted(record, prepared.desired)) : null,
      error: null,
    }),
    failed: (error) => ({ ...where, dialect: null, status: 'error', settings: null, error }),
  });
}
