import { asSetpointError, errorReport, SetpointError, type Warning } from '../model/error.ts';
import type { EnvironmentObserved, ObservedDocument } from '../model/documents.gen.ts';
import type { EnvironmentPlan } from '../model/plan.ts';
import type { Digests, ReferenceSource } from '../model/ports.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { SYSTEM_CLOCK } from '../host/this-process.ts';
import { readDeclaredOrigin } from '../desired/blocks/server.ts';
import { resolveSettings } from '../desired/resolve.ts';
import type { Target } from '../desired/target.ts';
import { createFailedEnvironment } from '../plan/plan-environment.ts';
import { NOTHING_KNOWN } from '../plan/plan-settings.ts';
import { RESOURCES } from '../resources/resources.ts';
import { DIALECTS } from '../service/dialects.ts';
import { notInSnapshot, type ResourceReader } from '../service/port.ts';
import { withLock } from '../service/settings.ts';
import { restoreSavedSettings } from '../plan/snapshot.ts';
import { digestDeclaredAddress, digestsFor } from './digests.ts';
import type { PlanRequest } from './options.ts';
import { planEnvironmentPart, planningFor, type Planning, type Sealing } from './plan-target.ts';
import { withoutSkippedParts } from './prepare.ts';
import type { Running } from './redacting.ts';
import { readSaved } from './saved-document.ts';

/** A snapshot is for places without keys: no variable is looked up, and no file is read. */
const WITHHELD: ReferenceSource = {
  withheld: true,
  variable: () => undefined,
  file: () => ({ problem: 'a plan against a snapshot reads no files' }),
};

/**
 * A function that plans against what `get -o json` saved of the services; nothing is sent. Secrets are masked there: the snapshot shows whether
 * one is set, and not which. What comes from a reference is listed under `unknown`.
 */
export async function snapshotPlanner(
  targets: readonly Target[],
  saved: string | ObservedDocument,
  request: Running<PlanRequest>,
  digests: Digests | null,
): Promise<(target: Target) => Promise<EnvironmentPlan>> {
  if (request.server !== undefined) {
    throw new SetpointError('usage', '--server and --snapshot exclude each other.', {
      hint: 'A snapshot has the address it was taken from.',
    });
  }
  const document = await readSaved(saved, ['observed']);
  const declared = (target: Target) => ({
    target,
    desired: withoutSkippedParts(resolveSettings(target, WITHHELD), request),
  });
  const planning = await planningFor(request, () => targets.map(declared), WITHHELD);
  const { clock = SYSTEM_CLOCK, maxAge } = request;
  const snapshot: Snapshot = {
    document,
    environments: new Map(document.environments.toReversed().map((one) => [one.name, one])),
    digests: await digestsFor(document.salt ?? ''),
    age: clock.now() - Date.parse(document.observed_at),
  };
  return (target) => {
    const address = digests === null ? null : digestDeclaredAddress(target, digests);
    const sealing = digests === null ? null : { digests, address };
    return planBySnapshot(target, declared(target).desired, snapshot, {
      planning,
      sealing,
      maxAge,
    });
  };
}

interface Snapshot {
  readonly document: ObservedDocument;
  readonly environments: ReadonlyMap<string, EnvironmentObserved>;
  /** Made as the digests in the document were. */
  readonly digests: Digests;
  /** Milliseconds since it was taken; NaN if its time cannot be read. */
  readonly age: number;
}

interface Terms {
  readonly planning: Planning;
  readonly sealing: Sealing | null;
  readonly maxAge: number | undefined;
}

async function planBySnapshot(
  target: Target,
  desired: DesiredState,
  snapshot: Snapshot,
  { planning: { rotation, allowed, baseOf }, sealing, maxAge }: Terms,
): Promise<EnvironmentPlan> {
  const { document, digests } = snapshot;
  const at = document.observed_at;
  const about = { name: target.name, origin: readDeclaredOrigin(target), observed_at: at };
  try {
    const old = oldWarnings(snapshot, maxAge);
    const saved = findSnapshotEntry(snapshot, target);
    const reader = <R>(of: ResourceReader<R>): R => of.saved({ environment: saved, at });
    const input = {
      ...NOTHING_KNOWN,
      desired,
      base: await baseOf({ target, desired }),
      rotation,
      allowed,
      settings: { observe: async () => settingsOfSnapshot(saved, desired, digests) },
      reader,
      listing: reader,
      resources: RESOURCES,
      clock: STOPPED,
      wait: 0,
      progress: () => {},
    };
    return await planEnvironmentPart(input, { ...about, origin: saved.origin }, old, sealing);
  } catch (thrown) {
    return createFailedEnvironment(about, errorReport(asSetpointError(thrown)), []);
  }
}

/** A snapshot does not change: there is nothing to wait for. */
const STOPPED = { now: () => 0, monotonic: () => 0, sleep: async () => {} };

const A_DAY = 86_400_000;

/** Throws snapshot-too-old. A snapshot that claims to come from the future is trusted as little as an old one. */
function oldWarnings(
  { document: { observed_at: at }, age }: Snapshot,
  maxAge: number | undefined,
): Warning[] {
  const old = `The snapshot is ${spanText(age)} old (${at})`;
  if (maxAge !== undefined) {
    if (Math.abs(age) <= maxAge) return [];
    throw new SetpointError('snapshot-too-old', `${old}, and --max-age is ${spanText(maxAge)}.`);
  }
  if (age <= A_DAY) return [];
  const message = `${old}: the service may have changed since. Take a new one, or set --max-age.`;
  return [{ code: 'snapshot-old', message, path: [] }];
}

function spanText(milliseconds: number): string {
  if (Number.isNaN(milliseconds)) return 'of an unknown time,';
  const [size, unit] = UNITS.find(([size]) => Math.abs(milliseconds) >= size) ?? [1000, 's'];
  const all = milliseconds / size;
  return `${Number.isInteger(all) ? all : all.toFixed(1)} ${unit}`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [3_600_000, 'h'],
  [60_000, 'm'],
];

/** Returns the snapshot of an environment. Throws not-in-snapshot, and other-origin if the file names another address now. */
function findSnapshotEntry(
  { environments, digests }: Snapshot,
  target: Target,
): EnvironmentObserved {
  const { name } = target;
  const origin = readDeclaredOrigin(target);
  const saved = environments.get(name);
  if (saved === undefined) throw notInSnapshot(`The snapshot does not contain ${name}.`);
  if (saved.error !== null)
    throw notInSnapshot(`${name} could not be read when the snapshot was saved.`);
  if (origin !== null && saved.origin !== origin) {
    const message = `The snapshot of ${name} is from ${saved.origin ?? 'no address'}, and the file names ${origin}.`;
    throw new SetpointError('other-origin', message);
  }
  const address = digestDeclaredAddress(target, digests);
  const taken = saved.digests?.address ?? null;
  if (address === null || taken === address) return saved;
  if (taken === null) throw notInSnapshot(`The snapshot does not name the path prefix of ${name}.`);
  throw new SetpointError(
    'other-origin',
    `The snapshot of ${name} is from another path prefix of ${origin ?? 'its address'} than the file names.`,
  );
}

function settingsOfSnapshot(
  { name, dialect, status, settings, digests }: EnvironmentObserved,
  desired: DesiredState,
  made: Digests,
): ObservedState {
  const stored = status === 'stored';
  if (dialect === null || (!stored && status !== 'empty'))
    throw notInSnapshot(`The snapshot does not contain the settings of ${name}.`);
  const isRecord = typeof settings === 'object' && settings !== null && !Array.isArray(settings);
  const record = isRecord ? (settings as Readonly<Record<string, never>>) : {};
  const answer = restoreSavedSettings(record, digests?.values ?? [], desired, made);
  const observed = DIALECTS[dialect].saved(stored ? answer : null);
  return desired.lock === undefined ? observed : withLock(observed, desired.lock);
}
