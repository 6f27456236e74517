import { usageError, type SetpointError } from '../model/error.ts';
import type { Variables } from '../model/ports.ts';
import type { Proof } from '../model/proof.ts';
import type { ObservedState } from '../model/state.ts';
import type { PlanInput } from '../reconcile/contract.ts';
import type { OpenTarget } from './open-target.ts';
import type { Checking, Options } from './options.ts';
import type { Prepared } from './prepare.ts';
import type { Running } from './redacting.ts';

/** What finds out of a plan what works; undefined if nobody asked. */
export function proverOf(
  prepared: Prepared,
  { reader }: Pick<OpenTarget, 'reader'>,
  request: Running<Options & Checking>,
): PlanInput['prove'] {
  if (request.check !== true) return undefined;
  return async (plan, settings, refused) => {
    const { provePlan } = await import('../resources/proofs/prove.ts');
    return provePlan(provingOf(prepared, { reader, settings }, request), plan, refused);
  };
}

/** Finds out what works of what the file declares and the service has. */
export async function storedProofs(
  prepared: Prepared,
  open: Pick<OpenTarget, 'reader'> & { readonly settings: ObservedState },
  request: Running<Options & Checking>,
): Promise<readonly Proof[]> {
  const { proveStored } = await import('../resources/proofs/prove.ts');
  return proveStored(provingOf(prepared, open, request));
}

function provingOf(
  { target, desired }: Prepared,
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
 * Throws if this run is about a pull request: whoever may open one would have the service send its keys to an address, and start a
 * program, of the branch's choice. `flag` is what asked for the check.
 */
export function refusePullRequest(env: Variables, flag: string): void {
  const why = pullRequestIn(env);
  if (why === null) return;
  throw onPullRequest(flag, why);
}

function onPullRequest(flag: string, why: string): SetpointError {
  return usageError(
    `${flag} is refused on a pull request (${why}): the service would send keys to the addresses of the branch, and start its programs.`,
    `Leave ${flag} out here, and check where the branch is merged: in the job that applies.`,
  );
}

/** The variable that says that a pipeline runs for a pull request, on the platforms that have one; null if none does. */
function pullRequestIn(env: Variables): string | null {
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
