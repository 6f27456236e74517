import { dirname, relative } from 'node:path';
import { SetpointError, usageError, type Warning } from '../model/error.ts';
import type { Rule } from '../model/guard.ts';
import { type EnvironmentPlan, omitImpliedChanges } from '../model/plan.ts';
import type { Variables, Digests, FingerprintStore, ReferenceSource } from '../model/ports.ts';
import { redactDocument } from '../model/redacted.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { partsWithReferences } from '../desired/blocks.ts';
import { readingProblem, createTravelPolicy } from '../desired/key-travel.ts';
import { resolveSettings } from '../desired/resolve.ts';
import type { Target } from '../desired/target.ts';
import { filePlace, fingerprintStore, type FingerprintPlace } from '../host/fingerprint-file.ts';
import { InvalidSettings } from './invalid-settings.ts';
import { assertAnswers, fingerprintPath, loadTargets } from './load.ts';
import { SYSTEM_CLOCK } from '../host/this-process.ts';
import {
  environmentPlan,
  createFailedEnvironment,
  type PlanResult,
} from '../plan/plan-environment.ts';
import type { PlanTerms } from '../plan/settings-part.ts';
import { digestDeclaredChanges, type Rotation } from '../plan/declared.ts';
import type { PlanInput } from '../reconcile/contract.ts';
import { observeAndPlan } from '../reconcile/observe-and-plan.ts';
import { RESOURCES } from '../resources/resources.ts';
import { askSecrets, noting, formatOrigin, travelError, type PreparedTarget } from './prepare.ts';
import { addressDigest } from './digests.ts';
import { parseRotation, parseRules } from './flag-values.ts';
import { checkOnly, checkWithout } from './leavable.ts';
import { resolveEmbeddedStore, observeTarget, type OpenTarget } from './open-target.ts';
import { DEFAULT_WAIT, type Options, type PlanRequest, type Checking } from './options.ts';
import { createMaskingSource, type Running } from './redacting.ts';
import type { Proof } from '../model/proof.ts';

/** The flags of a command for the plan of every environment. */
export interface Planning {
  readonly rotation: Rotation;
  /** The guards that are lifted. */
  readonly allowed: readonly Rule[];
  /** True if the plan also lists the items of blocks that the file does not declare. */
  readonly listsUndeclared?: boolean;
  /** Returns the declaration of an environment in the file of `--base`, or another way to attribute changes; null without either. */
  readonly baseOf: (declared: ResolvedTarget) => PlanTerms['base'] | Promise<PlanTerms['base']>;
}

/** A target with the references resolved that planning needs; a snapshot has no server. */
type ResolvedTarget = Pick<PreparedTarget, 'target' | 'desired'> &
  Partial<Pick<PreparedTarget, 'server'>>;

/**
 * Reads the flags of plan and apply. `source` looks up the references of the base file, if it is not the one that each
 * environment has. Throws a usage error, or an error of the base file.
 */
export async function planningFor(
  request: Running<PlanRequest>,
  environments: () => Iterable<ResolvedTarget>,
  source?: ReferenceSource,
): Promise<Planning> {
  checkWithout(request.without, listDesiredStates(environments));
  checkOnly(request.only, listDesiredStates(environments));
  return {
    rotation:
      request.rotate === undefined
        ? []
        : parseRotation(request.rotate, listDesiredStates(environments)),
    baseOf: await basesFor(request, environments, source),
    allowed: request.allow === undefined ? [] : parseRules(request.allow),
  };
}

function* listDesiredStates(environments: () => Iterable<ResolvedTarget>): Iterable<DesiredState> {
  for (const { desired } of environments()) yield desired;
}

/**
 * The declarations of each environment when the file was last applied: one that the earlier file does not have declared nothing. The
 * earlier file may read the variables and files that the settings file may read, and no others.
 */
async function basesFor(
  options: Running<PlanRequest>,
  environments: () => Iterable<ResolvedTarget>,
  source: ReferenceSource | undefined,
): Promise<Planning['baseOf']> {
  const byName = earlierTargets(options);
  if (byName === null) return () => null;
  const policy = createTravelPolicy(options.env, options.checkout?.from);
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
      throw travelError({ ...problem, message: `${nameOfBase(options)}: ${problem.message}` });
  }
  return ({ target, desired }) => {
    const earlier = byName.get(target.name);
    if (earlier !== undefined)
      return resolveSettings(earlier, source ?? createMaskingSource([target.name], options));
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

function nameOfBase({ base }: Pick<Options, 'base'>): string {
  return typeof base === 'string' ? base : 'base';
}

/** The environments of the file of `--base`; null without it. */
function earlierTargets(options: Options): ReadonlyMap<string, Target> | null {
  if (options.base === undefined) return null;
  if ([options.file ?? []].flat().length > 1) {
    throw new SetpointError('usage', '--base needs one settings file, and there are several.', {
      hint: 'Choose one with -f.',
    });
  }
  const earlier =
    typeof options.base === 'string'
      ? { file: options.base, text: undefined }
      : { file: undefined, text: options.base.text };
  const { targets, diagnostics } = loadTargets({ ...options, ...earlier });
  if (diagnostics.some(({ severity }) => severity === 'error'))
    throw new InvalidSettings(diagnostics);
  return new Map(targets.map((target) => [target.name, target]));
}

/** Creates the input of an environment's plan while its service is open. */
export async function planInput(
  prepared: PreparedTarget,
  { reader, listing, comparing, comparingReader }: OpenTarget,
  request: Running<PlanRequest>,
  { rotation, allowed, baseOf, listsUndeclared = false }: Planning,
): Promise<PlanInput & { readonly fingerprints: FingerprintStore }> {
  const { name } = prepared.target;
  return {
    desired: prepared.desired,
    base: await baseOf(prepared),
    rotation,
    allowed,
    settings: comparing,
    reader: comparingReader,
    listing: listsUndeclared ? listing : undefined,
    resources: RESOURCES,
    fingerprints: await openFingerprints(prepared, request),
    clock: request.clock ?? SYSTEM_CLOCK,
    wait: request.wait ?? DEFAULT_WAIT,
    progress: (waiting) =>
      request.onProgress?.(name, redactDocument(waiting, request.resolved.of(name))),
    signal: request.signal,
    prove: createPlanProver(prepared, { reader }, request),
  };
}

/**
 * Plans one target, reading only, and gives its part of a plan. That it cannot be observed is an error in it. `digests` make it one that can be
 * approved; `onPlanned` gets what was compared.
 */
export async function planTarget(
  prepared: PreparedTarget,
  request: Running<PlanRequest>,
  planning: Planning,
  digests: Digests | null,
  onPlanned?: (planned: PlanResult) => void,
): Promise<EnvironmentPlan> {
  const { warnings } = prepared;
  const about = describeTarget(prepared);
  const sealing =
    digests === null ? null : { digests, address: await addressDigest(prepared, digests) };
  return observeTarget<EnvironmentPlan>(prepared, request, {
    open: async (open) => {
      const input = await planInput(prepared, open, request, planning);
      const part = await planEnvironmentPart(input, about, warnings, sealing, onPlanned);
      return request.differences === true ? omitImpliedChanges(part) : part;
    },
    failed: (error) => createFailedEnvironment(about, error, warnings),
  });
}

/** Returns what a target's part contains before it is observed. */
export function describeTarget(
  prepared: PreparedTarget,
): Pick<EnvironmentPlan, 'name' | 'origin' | 'observed_at'> {
  return { name: prepared.target.name, origin: formatOrigin(prepared), observed_at: null };
}

/** The functions that create digests, and the digest of the environment's address. */
export interface Sealing {
  readonly digests: Digests;
  readonly address: string | null;
}

/** An environment's part of a plan document; without sealing it cannot become an approval. */
export async function planEnvironmentPart(
  input: PlanInput,
  about: Pick<EnvironmentPlan, 'name' | 'origin' | 'observed_at'>,
  earlier: readonly Warning[],
  sealing: Sealing | null,
  onPlanned?: (planned: PlanResult) => void,
): Promise<EnvironmentPlan> {
  const planned = await observeAndPlan(input);
  onPlanned?.(planned);
  const digests =
    sealing === null
      ? null
      : {
          address: sealing.address,
          changes: digestDeclaredChanges(planned.plan, input.desired, sealing.digests),
        };
  return environmentPlan(planned, { ...about, digests }, earlier);
}

/** Opens the fingerprints of a target's secrets; nothing is known without SETPOINT_STATE_KEY. */
function openFingerprints(
  { server, target }: PreparedTarget,
  request: Running<PlanRequest>,
): Promise<FingerprintStore> {
  const known = server instanceof SetpointError ? null : server;
  const key = request.env['SETPOINT_STATE_KEY'] ?? '';
  return fingerprintStore(fingerprintPlace(target, request), key, {
    origin: known?.origin ?? '',
    // Without a key nothing is known of any service.
    address:
      known === null || key === '' ? '' : serviceAddress(known.url, dirname(target.file), request),
  });
}

/** The place of an environment's fingerprints. Default: a file next to its settings. */
export interface Remembering {
  readonly fingerprints?: ((environment: string) => FingerprintPlace) | undefined;
}

function fingerprintPlace(
  target: Target,
  request: Running<PlanRequest & Remembering>,
): FingerprintPlace {
  if (request.fingerprints !== undefined) return request.fingerprints(target.name);
  if (request.state === null) return NO_PLACE;
  const path = fingerprintPath(target, request);
  assertAnswers(path, request);
  return filePlace(path);
}

/** For settings without a file: nothing is known, and nothing is stored. */
const NO_PLACE: FingerprintPlace = {
  version: () => null,
  read: () => null,
  replace: async () => {},
};

/** Returns the address of a target's requests in one spelling. An embedded store is a path relative to the settings. */
function serviceAddress(url: string, folder: string, options: Options): string {
  const store = resolveEmbeddedStore({ url }, folder, options);
  if (store !== null) return `embedded:${relative(folder, store)}`;
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/** Creates the function that tries a plan; undefined unless requested. */
function createPlanProver(
  prepared: PreparedTarget,
  { reader }: Pick<OpenTarget, 'reader'>,
  request: Running<Options & Checking>,
): PlanInput['prove'] {
  if (request.check !== true) return undefined;
  return async (plan, settings, refused) => {
    const { provePlan } = await import('../resources/proofs/prove.ts');
    return provePlan(createProofContext(prepared, { reader, settings }, request), plan, refused);
  };
}

/** Finds out what works of what the file declares and the service has. */
export async function proveStoredState(
  prepared: PreparedTarget,
  open: Pick<OpenTarget, 'reader'> & { readonly settings: ObservedState },
  request: Running<Options & Checking>,
): Promise<readonly Proof[]> {
  const { proveStored } = await import('../resources/proofs/prove.ts');
  return proveStored(createProofContext(prepared, open, request));
}

function createProofContext(
  { target, desired }: PreparedTarget,
  { reader, settings }: Pick<OpenTarget, 'reader'> & { readonly settings: ObservedState },
  { onChecks, signal }: Pick<Running<Options & Checking>, 'onChecks' | 'signal'>,
) {
  return {
    reader,
    desired,
    settings,
    signal,
    announce: (costs: Parameters<NonNullable<Checking['onChecks']>>[1]) =>
      onChecks?.(target.name, costs),
  };
}

/**
 * Throws if this run is about a pull request: its author could have the service send its keys to any address, and start any program,
 * through the branch. `flag` is the flag that requested the check.
 */
export function refusePullRequest(env: Variables, flag: string): void {
  const why = findPullRequestVariable(env);
  if (why === null) return;
  throw onPullRequest(flag, why);
}

function onPullRequest(flag: string, why: string): SetpointError {
  return usageError(
    `${flag} is refused on a pull request (${why}): the service would send keys to the addresses of the branch, and start its programs.`,
    `Leave ${flag} out here, and check where the branch is merged: in the job that applies.`,
  );
}

/** The variable that indicates that a pipeline runs for a pull request, on the platforms that have one; null if none does. */
function findPullRequestVariable(env: Variables): string | null {
  const found = SIGNS.find(([name, sign]) => sign.test(env[name] ?? ''));
  return found === undefined ? null : found[0];
}

const SIGNS: readonly (readonly [string, RegExp])[] = [
  ['GITHUB_EVENT_NAME', /^pull_request/],
  ['GITHUB_REF', /^refs\/pull\//],
  ['CI_MERGE_REQUEST_IID', /./],
  ['CI_PIPELINE_SOURCE', /^(merge_request_event|external_pull_request_event)$/],
  ['BITBUCKET_PR_ID', /./],
  ['BUILD_REASON', /^PullRequest$/],
  ['SYSTEM_PULLREQUEST_PULLREQUESTID', /./],
  ['CHANGE_ID', /./],
  ['CIRCLE_PULL_REQUEST', /./],
  ['BUILDKITE_PULL_REQUEST', /^\d+$/],
  ['TRAVIS_PULL_REQUEST', /^\d+$/],
  ['DRONE_PULL_REQUEST', /./],
];
