import { dirname, relative } from 'node:path';
import { SetpointError } from '../model/error.ts';
import type { Rule } from '../model/guard.ts';
import type { EnvironmentPlan, Warning } from '../model/plan.ts';
import { differencesOf } from '../model/verdict.ts';
import type { Digests, FingerprintStore, ReferenceSource } from '../model/ports.ts';
import { redacted } from '../model/redacted.ts';
import type { DesiredState } from '../model/state.ts';
import { partsWithReferences } from '../desired/blocks.ts';
import { readingProblem, travelPolicyIn } from '../desired/key-travel.ts';
import { resolveSettings } from '../desired/resolve.ts';
import type { Target } from '../desired/target.ts';
import { fingerprintFile } from '../host/fingerprint-file.ts';
import { assertAnswers, fingerprintPath } from './files-beside.ts';
import { SYSTEM_CLOCK } from '../host/this-process.ts';
import { environmentPlan, failedEnvironment, type Planned } from '../plan/plan-environment.ts';
import { type PlanTerms } from '../plan/settings-part.ts';
import { declaredDigests, type Rotation } from '../plan/declared.ts';
import type { PlanInput } from '../reconcile/contract.ts';
import { observeAndPlan } from '../reconcile/observe-and-plan.ts';
import { RESOURCES } from '../resources/resources.ts';
import { askSecrets } from './ask-secrets.ts';
import { proverOf } from './checking.ts';
import { addressDigest } from './digests.ts';
import { parseRotation, parseRules } from './flag-values.ts';
import { checkWithout } from './leavable.ts';
import { InvalidSettings, loadTargets } from './load.ts';
import { embeddedStore, observeTarget, type OpenTarget } from './open-target.ts';
import { DEFAULT_WAIT, type Options, type PlanRequest } from './options.ts';
import { noting, shownOrigin, travelError, type Prepared } from './prepare.ts';
import { sourceFor, type Running } from './redacting.ts';

/** What the flags of a command set for the plan of every environment. */
export interface Planning {
  readonly rotation: Rotation;
  /** The guards that are lifted. */
  readonly allowed: readonly Rule[];
  /** What an environment declared in the file of `--base`, or who made its changes is told without one; null if it is not. */
  readonly baseOf: (declared: Declared) => PlanTerms['base'] | Promise<PlanTerms['base']>;
}

/** A target whose references are resolved, as far as planning needs it; a snapshot has no server. */
type Declared = Pick<Prepared, 'target' | 'desired'> & Partial<Pick<Prepared, 'server'>>;

/**
 * Reads the flags of plan and apply. `source` looks up the references of the base file, if it is not the one that each
 * environment has. Throws a usage error, or an error of the base file.
 */
export async function planningFor(
  request: Running<PlanRequest>,
  environments: () => Iterable<Declared>,
  source?: ReferenceSource,
): Promise<Planning> {
  checkWithout(request.without, desiredOf(environments));
  return {
    rotation:
      request.rotate === undefined ? [] : parseRotation(request.rotate, desiredOf(environments)),
    baseOf: await basesFor(request, environments, source),
    allowed: request.allow === undefined ? [] : parseRules(request.allow),
  };
}

function* desiredOf(environments: () => Iterable<Declared>): Iterable<DesiredState> {
  for (const { desired } of environments()) yield desired;
}

/**
 * What each environment declared when the file was last applied: one that the earlier file does not have declared nothing. The earlier file may read the variables and files that the settings file may read, and no others.
 */
async function basesFor(
  options: Running<PlanRequest>,
  environments: () => Iterable<Declared>,
  source: ReferenceSource | undefined,
): Promise<Planning['baseOf']> {
  const byName = earlierTargets(options);
  if (byName === null) return () => null;
  const policy = travelPolicyIn(options.env, options.checkout !== undefined);
  if (source === undefined) {
    const chosen = [...environments()].flatMap(({ target }) => byName.get(target.name) ?? []);
    await askSecrets(chosen, [], options);
  }
  const note = noting(options);
  if (source === undefined) for (const target of byName.values()) note(target);
  for (const { target, server } of environments()) {
    if (server === undefined || server instanceof SetpointError) continue;
    const earlier = byName.get(target.name);
    const parts =
      earlier === undefined ? [] : partsWithReferences({ ...earlier, server: undefined });
    const problem = readingProblem(parts, server, policy);
    if (problem !== null)
      throw travelError({ ...problem, message: `${options.base}: ${problem.message}` });
  }
  return ({ target, desired }) => {
    const earlier = byName.get(target.name);
    if (earlier !== undefined)
      return resolveSettings(earlier, source ?? sourceFor([target.name], options));
    return {
      ...desired,
      fields: [],
      missing: [],
      unmanaged: [],
      items: new Map(),
      exhaustive: new Map(),
    };
  };
}

/** The environments of the file of `--base`; null without it. */
function earlierTargets(options: Options): ReadonlyMap<string, Target> | null {
  if (options.base === undefined) return null;
  if ([options.file ?? []].flat().length > 1) {
    throw new SetpointError('usage', '--base needs one settings file, and there are several.', {
      hint: 'Choose one with -f.',
    });
  }
  const { targets, diagnostics } = loadTargets({ ...options, file: options.base, text: undefined });
  if (diagnostics.some(({ severity }) => severity === 'error'))
    throw new InvalidSettings(diagnostics);
  return new Map(targets.map((target) => [target.name, target]));
}

/** What an environment is planned with while its service is open. */
export async function planInput(
  prepared: Prepared,
  { reader, comparing }: OpenTarget,
  request: Running<PlanRequest>,
  { rotation, allowed, baseOf }: Planning,
): Promise<PlanInput & { readonly fingerprints: FingerprintStore }> {
  const { name } = prepared.target;
  return {
    desired: prepared.desired,
    base: await baseOf(prepared),
    rotation,
    allowed,
    settings: comparing,
    reader,
    resources: RESOURCES,
    fingerprints: await fingerprintsOf(prepared, request),
    clock: request.clock ?? SYSTEM_CLOCK,
    wait: request.wait ?? DEFAULT_WAIT,
    progress: (waiting) => request.onProgress?.(name, redacted(waiting, request.resolved.of(name))),
    signal: request.signal,
    prove: proverOf(prepared, { reader }, request),
  };
}

/**
 * Plans one target, reading only, and gives its part of a plan. That it cannot be observed is an error in it. `digests` make it one that can be
 * approved; `onPlanned` gets what was compared.
 */
export async function planTarget(
  prepared: Prepared,
  request: Running<PlanRequest>,
  planning: Planning,
  digests: Digests | null,
  onPlanned?: (planned: Planned) => void,
): Promise<EnvironmentPlan> {
  const { warnings } = prepared;
  const about = aboutOf(prepared);
  const sealing =
    digests === null ? null : { digests, address: await addressDigest(prepared, digests) };
  return observeTarget<EnvironmentPlan>(prepared, request, {
    open: async (open) => {
      const input = await planInput(prepared, open, request, planning);
      const part = await plannedPart(input, about, warnings, sealing, onPlanned);
      return request.differences === true ? differencesOf(part) : part;
    },
    failed: (error) => failedEnvironment(about, error, warnings),
  });
}

/** What of a target's part is known before it is observed. */
export function aboutOf(
  prepared: Prepared,
): Pick<EnvironmentPlan, 'name' | 'origin' | 'observed_at'> {
  return { name: prepared.target.name, origin: shownOrigin(prepared), observed_at: null };
}

/** How digests are made, and that of the environment's address. */
export interface Sealing {
  readonly digests: Digests;
  readonly address: string | null;
}

/** An environment's part of a plan document; without sealing it cannot become an approval. */
export async function plannedPart(
  input: PlanInput,
  about: Pick<EnvironmentPlan, 'name' | 'origin' | 'observed_at'>,
  earlier: readonly Warning[],
  sealing: Sealing | null,
  onPlanned?: (planned: Planned) => void,
): Promise<EnvironmentPlan> {
  const planned = await observeAndPlan(input);
  onPlanned?.(planned);
  const digests =
    sealing === null
      ? null
      : {
          address: sealing.address,
          changes: declaredDigests(planned.plan, input.desired, sealing.digests),
        };
  return environmentPlan(planned, { ...about, digests }, earlier);
}

/** What is known of the secrets last written to a target; nothing without SETPOINT_STATE_KEY. */
function fingerprintsOf(
  { server, target }: Prepared,
  request: Running<PlanRequest>,
): Promise<FingerprintStore> {
  const known = server instanceof SetpointError ? null : server;
  const path = fingerprintPath(target, request);
  assertAnswers(path, request);
  return fingerprintFile(path, request.env['SETPOINT_STATE_KEY'] ?? '', {
    origin: known?.origin ?? '',
    address: known === null ? '' : serviceAddress(known.url, dirname(target.file)),
  });
}

/** Where the requests of a target go, in one spelling; an embedded store by its place beside the settings. */
function serviceAddress(url: string, folder: string): string {
  const store = embeddedStore({ url }, folder);
  if (store !== null) return `embedded:${relative(folder, store)}`;
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}
