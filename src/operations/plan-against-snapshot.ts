import { asSetpointError, SetpointError } from '../model/error.ts';
import type { Rule } from '../model/guard.ts';
import type { EnvironmentObserved, ObservedDocument } from '../model/observed.ts';
import type { EnvironmentPlan, SandboxPlan, Warning } from '../model/plan.ts';
import { MASK } from '../model/secret.ts';
import type { Digests, ReferenceSource } from '../model/ports.ts';
import type { DesiredSandboxes } from '../model/sandbox.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { SYSTEM_CLOCK } from '../host/system-clock.ts';
import { declaredOrigin } from '../desired/resolve-server.ts';
import { resolveSettings } from '../desired/resolve.ts';
import type { Target } from '../desired/target.ts';
import { NOTHING_KNOWN, planSettings } from '../plan/plan-settings.ts';
import { NO_SANDBOXES, planSandboxes } from '../plan/plan-sandboxes.ts';
import type { Rotation } from '../plan/plan-secrets.ts';
import { DIALECTS } from '../service/dialects.ts';
import { savedSettings } from '../plan/snapshot.ts';
import { specProblem } from '../plan/spec-problem.ts';
import { allowedRules } from './allowed-rules.ts';
import { classifierFor } from './base.ts';
import { declaredAddressDigest, digestsFor } from './digests.ts';
import { failedEnvironment, plannedEnvironment } from './environment-plan.ts';
import { errorReport } from './error-report.ts';
import type { PlanRequest } from './options.ts';
import { parseRotation } from './parse-rotation.ts';
import type { Running } from './redacting.ts';
import { readSaved } from './saved-document.ts';

/** A snapshot is for where there are no keys: no variable is looked up, and no file is read. */
const WITHHELD: ReferenceSource = {
  withheld: true,
  variable: () => undefined,
  file: () => ({ problem: 'a plan against a snapshot reads no files' }),
};

/**
 * Plans against what `get -o json` saved of the services: nothing is sent. Secrets are masked there, so that it is known whether
 * one is set and not whether it is another; what comes from a reference is listed under `unknown`.
 */
export async function planAgainstSnapshot(
  targets: readonly Target[],
  path: string,
  request: Running<PlanRequest>,
  digests: Digests | null,
): Promise<EnvironmentPlan[]> {
  if (request.server !== undefined) {
    throw new SetpointError('usage', '--server and --snapshot exclude each other.', {
      hint: 'A saved snapshot has the address it was taken from.',
    });
  }
  const look = await readSaved(path, ['observed']);
  const { clock = SYSTEM_CLOCK, maxAge } = request;
  const age = clock.now() - Date.parse(look.observed_at);
  const resolved = targets.map((target) => ({
    target,
    desired: resolveSettings(target, WITHHELD),
  }));
  const rotation = parseRotation(
    request.rotate,
    resolved.map(({ desired }) => desired),
  );
  const classifier = classifierFor(request, [], WITHHELD);
  const allowed = allowedRules(request);
  const saved = await digestsFor(look.salt ?? '');
  return resolved.map(({ target, desired }) =>
    planTarget(target, desired, look, {
      rotation,
      classifier,
      allowed,
      digests,
      saved,
      age,
      maxAge,
    }),
  );
}

interface Approach {
  readonly rotation: Rotation;
  readonly classifier: ReturnType<typeof classifierFor>;
  readonly allowed: readonly Rule[];
  /** Those of the plan that is made, and those of the snapshot. */
  readonly digests: Digests | null;
  readonly saved: Digests;
  /** Milliseconds between the snapshot and now; NaN if its time is none. */
  readonly age: number;
  readonly maxAge: number | undefined;
}

const A_DAY = 86_400_000;

function oldWarning({ observed_at: at }: ObservedDocument, age: number): Warning {
  const message = `The snapshot is ${hours(age)} old (${at}): the service may have changed since. Take a new one, or set --max-age.`;
  return { code: 'snapshot-old', message, path: [] };
}

/** A snapshot that claims to come from the future is as little to be trusted as an old one. */
function tooOld({ observed_at: at }: ObservedDocument, age: number, maxAge: number): SetpointError {
  const message = `The snapshot is ${hours(age)} old (${at}), and --max-age is ${hours(maxAge)}.`;
  return new SetpointError('snapshot-too-old', message);
}

function hours(milliseconds: number): string {
  if (Number.isNaN(milliseconds)) return 'of an unknown time,';
  const all = milliseconds / 3_600_000;
  return `${Number.isInteger(all) ? all : all.toFixed(1)} h`;
}

function planTarget(
  target: Target,
  desired: DesiredState,
  look: ObservedDocument,
  { rotation, classifier, allowed, digests, saved, age, maxAge }: Approach,
): EnvironmentPlan {
  const { name } = target;
  const origin = declaredOrigin(target);
  const where = { name, origin, observed_at: look.observed_at };
  const sealing =
    digests === null ? null : { digests, address: declaredAddressDigest(target, digests) };
  try {
    if (maxAge !== undefined && !(Math.abs(age) <= maxAge)) throw tooOld(look, age, maxAge);
    const seen = seenIn(look, target, saved);
    const observed = settingsIn(seen, desired, saved);
    const old = maxAge === undefined && !(age <= A_DAY) ? [oldWarning(look, age)] : [];
    const planning = { ...NOTHING_KNOWN, rotation };
    const whole = classifier({ target, desired }, planning)(
      {
        settings: planSettings(desired, observed, planning),
        sandboxes: sandboxesIn(seen, desired.sandboxes, look.observed_at),
      },
      observed,
    );
    const at = { ...where, origin: seen.origin };
    return plannedEnvironment(whole, observed, desired, at, { warnings: old, allowed, sealing });
  } catch (thrown) {
    return failedEnvironment(where, errorReport(asSetpointError(thrown)));
  }
}

/** What the look has of a target. Throws not-in-snapshot, and other-origin where the file has moved elsewhere since. */
function seenIn(
  { environments }: ObservedDocument,
  target: Target,
  saved: Digests,
): EnvironmentObserved {
  const { name } = target;
  const origin = declaredOrigin(target);
  const seen = environments.find((environment) => environment.name === name);
  if (seen === undefined) throw notInSnapshot(`The saved snapshot does not contain ${name}.`);
  if (seen.error !== null)
    throw notInSnapshot(`${name} could not be read when the snapshot was saved.`);
  if (origin !== null && seen.origin !== origin) {
    const message = `The saved snapshot of ${name} is from ${seen.origin ?? 'no address'}, and the file names ${origin}.`;
    throw new SetpointError('other-origin', message);
  }
  const address = declaredAddressDigest(target, saved);
  const taken = seen.digests?.address ?? null;
  if (address === null || taken === address) return seen;
  if (taken === null)
    throw notInSnapshot(`The saved snapshot does not name the path prefix of ${name}.`);
  throw new SetpointError(
    'other-origin',
    `The saved snapshot of ${name} is from another path prefix of ${origin ?? 'its address'} than the file names.`,
  );
}

function settingsIn(
  { name, dialect, status, settings, digests }: EnvironmentObserved,
  desired: DesiredState,
  saved: Digests,
): ObservedState {
  const stored = status === 'stored';
  if (dialect === null || (!stored && status !== 'empty'))
    throw notInSnapshot(`The saved snapshot does not contain the settings of ${name}.`);
  const known = typeof settings === 'object' && settings !== null && !Array.isArray(settings);
  const record = known ? (settings as Readonly<Record<string, never>>) : {};
  const answer = savedSettings(record, digests?.values ?? [], desired, saved);
  return DIALECTS[dialect].saved(stored ? answer : null);
}

/** What is not in the look is not judged: specs, and in which sandboxes conversations run. */
function sandboxesIn(
  { name, sandboxes, specs, conversations }: EnvironmentObserved,
  desired: readonly DesiredSandboxes[],
  at: string,
): SandboxPlan {
  if (desired.length === 0) return NO_SANDBOXES;
  if (sandboxes === null)
    throw notInSnapshot(`The saved snapshot does not contain the sandboxes of ${name}.`);
  if (sandboxes.some(({ id, spec }) => `${id} ${spec ?? ''}`.includes(MASK)))
    throw notInSnapshot(`The saved snapshot masks the ids or specs of sandboxes of ${name}.`);
  const observed = {
    sandboxes: sandboxes.map(({ id, spec, status, created_at }) => ({
      id,
      spec,
      status,
      createdAt: created_at === null ? null : Date.parse(created_at),
    })),
    specs,
    busy: new Set(
      conversations?.flatMap(({ sandbox, status }) =>
        sandbox !== null && status === 'running' ? [sandbox] : [],
      ),
    ),
    at: Date.parse(at),
  };
  const plan = planSandboxes(desired, observed);
  const problem = specProblem(desired, observed, plan);
  if (problem !== null) throw problem;
  const mayBeBusy =
    conversations === null &&
    plan.steps.some(({ action, item }) => action === 'pause' && item.whenBusy === 'skip');
  if (!mayBeBusy) return plan;
  const message =
    'The saved snapshot does not show where conversations run; a sandbox in which one runs would not be paused.';
  return { ...plan, warnings: [...plan.warnings, { code: 'sandbox-busy', message, path: [] }] };
}

function notInSnapshot(message: string): SetpointError {
  return new SetpointError('not-in-snapshot', message);
}
