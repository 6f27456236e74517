import type { FieldPath } from '../desired/field-path.ts';
import type { EnvironmentExplained } from '../model/explain.ts';
import { isWithin, type Path } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import { isList, isRecord, sameValue, secretsIn, type Value } from '../model/value.ts';
import { maskedChange, sandboxWarnings } from '../plan/plan-document.ts';
import { planSettings } from '../plan/plan-settings.ts';
import { planOfSandboxes } from '../reconcile/look-at-sandboxes.ts';
import { settingsObserver } from '../service/settings.ts';
import { fingerprintsOf } from './fingerprints.ts';
import type { OpenTarget } from './open-target.ts';
import type { Options } from './options.ts';
import type { Prepared } from './prepare.ts';
import { sandboxObserverOf } from './sandbox-observer.ts';

type Planned = Pick<EnvironmentExplained, 'dialect' | 'changes' | 'unknown' | 'warnings'>;

/** The part of a plan that is about one place. Only what that place needs is looked at. */
export function plannedAt(
  place: FieldPath,
  prepared: Prepared,
  open: OpenTarget,
  options: Options,
): Promise<Planned> {
  return place.part === 'sandboxes'
    ? plannedSandboxes(place, prepared, open, options)
    : plannedSettings(place, prepared, open, options);
}

async function plannedSettings(
  { path, filePath }: FieldPath,
  prepared: Prepared,
  { connection, limits }: OpenTarget,
  options: Options,
): Promise<Planned> {
  const { desired, warnings } = prepared;
  const fingerprints = await fingerprintsOf(prepared, options);
  const observed = await settingsObserver(connection, limits).observe(options.signal);
  const plan = planSettings(desired, observed, { rotation: [], fingerprints });
  const all = filePath.length === 1;
  const about = (other: { readonly path: Path }): boolean =>
    all || isWithin(other.path, path) || isWithin(path, other.path);
  return {
    dialect: observed.dialect.name,
    changes: plan.changes
      .filter((change) => about(change) && (all || touches(change, path)))
      .map(maskedChange),
    unknown: plan.unknown.filter(about),
    warnings: [...warnings, ...plan.warnings.filter(about)],
  };
}

/** Whether a change of a whole mcp entry is one of the member that is asked about. */
function touches({ path: entry, before, after, action }: Change, path: Path): boolean {
  if (path.length <= entry.length || entry.length !== 3) return true;
  const inner = path.slice(entry.length);
  const [was, becomes] = [valueAt(before, inner), valueAt(after, inner)];
  if (action === 'rotate') return secretsIn(becomes).length > 0;
  return !sameValue(was ?? null, becomes ?? null);
}

function valueAt(value: Value | undefined, path: Path): Value | undefined {
  return path.reduce<Value | undefined>((inner, key) => {
    if (isList(inner)) return inner[Number(key)];
    return isRecord(inner) ? inner[key] : undefined;
  }, value);
}

/** `sandboxes` is about all of them, `sandboxes[0]` and what stands in it about those of the first item. */
async function plannedSandboxes(
  { filePath }: FieldPath,
  { desired: { sandboxes }, warnings }: Prepared,
  open: OpenTarget,
  { signal }: Options,
): Promise<Planned> {
  const plan = await planOfSandboxes(sandboxObserverOf(open), sandboxes, signal);
  const [, number] = filePath;
  const item = number === undefined ? undefined : sandboxes[Number(number)];
  const steps = number === undefined ? plan.steps : plan.steps.filter((step) => step.item === item);
  return {
    dialect: null,
    changes: steps.map(({ change }) => maskedChange(change)),
    unknown: [],
    warnings: [...warnings, ...sandboxWarnings(plan)],
  };
}
