import { SetpointError } from '../model/error.ts';
import { formatPath } from '../model/path.ts';
import { redactDocument } from '../model/redacted.ts';
import { formatOnly, toSkippedUnknowns } from '../model/uncompared.ts';
import type { EnvironmentPlan, PlanDocument } from '../model/plan.ts';
import type { Digests } from '../model/ports.ts';
import type { ApprovedPlan } from '../plan/approval.ts';
import { addressDigest, digestsFor } from './digests.ts';
import { formatOrigin, type PreparedTarget } from './prepare.ts';
import type { RunRedactors } from './redacting.ts';

/**
 * The part of a saved plan for each environment that is to be applied, by its name. Throws, before a request to
 * any, if the plan has no part for one or no digests (not-covered), or was made for another address (other-origin).
 */
export async function matchApprovedParts(
  approved: PlanDocument,
  targets: Iterable<PreparedTarget>,
  resolved: RunRedactors,
): Promise<ReadonlyMap<string, ApprovedPlan>> {
  const { salt, environments } = approved;
  if (typeof salt !== 'string' || salt === '') throw withoutDigests();
  const digests = await digestsFor(salt);
  const saved = new Map(environments.toReversed().map((one) => [one.name, one]));
  const parts = new Map<string, ApprovedPlan>();
  for (const one of targets) {
    const { name } = one.target;
    const part = await partFor(one, saved.get(name), digests, resolved);
    parts.set(name, { part, digests, redactor: resolved.of(name) });
  }
  return parts;
}

/** Both sides are compared as documents carry them: masked by what the references come to now. */
async function partFor(
  prepared: PreparedTarget,
  part: EnvironmentPlan | undefined,
  digests: Digests,
  resolved: RunRedactors,
): Promise<EnvironmentPlan> {
  const { name } = prepared.target;
  if (part === undefined)
    throw new SetpointError('not-covered', `The saved plan does not contain ${name}.`);
  const redactor = resolved.of(name);
  const { origin } = redactDocument({ origin: formatOrigin(prepared) }, redactor);
  const shown = redactDocument(part, redactor);
  if (shown.origin !== origin) {
    const message = `The saved plan of ${name} was made for ${shown.origin ?? 'no address'}, and this would apply to ${origin ?? 'none'}.`;
    throw new SetpointError('other-origin', message);
  }
  const [now, then] = [
    formatWithoutFlags(redactDocument(toSkippedUnknowns(prepared.desired), redactor)),
    formatWithoutFlags(shown.unknown),
  ];
  if (now !== then) throw createSkipMismatch(name, then);
  const only = redactDocument({ message: formatOnly(prepared.desired) }, redactor).message;
  const saved = shown.warnings.find(({ code }) => code === 'only')?.message ?? null;
  if (only !== saved) throw limitedOtherwise(name, saved);
  const { address = null, changes = [] } = part.digests ?? {};
  if (address === null || (changes.length === 0 && part.changes.length > 0)) throw withoutDigests();
  if (address === (await addressDigest(prepared, digests))) return shown;
  throw new SetpointError(
    'other-origin',
    `The saved plan of ${name} was made for another address: the host or the path prefix behind ${origin ?? 'it'} is not the same.`,
    { hint: 'Plan again for this address, or apply the plan that was made for it.' },
  );
}

function formatWithoutFlags(unknown: EnvironmentPlan['unknown']): string {
  return unknown
    .flatMap(({ kind, path }) => (kind === 'left' ? [`--without ${formatPath(path)}`] : []))
    .toSorted()
    .join(' ');
}

function createSkipMismatch(name: string, then: string): SetpointError {
  const made = then === '' ? 'without --without' : `with ${then}`;
  return new SetpointError(
    'not-covered',
    `The saved plan of ${name} was made ${made}, but this run skips other values.`,
    {
      hint: `${then === '' ? 'Leave --without out' : `Pass ${then}`}, or plan again with the flags of this run.`,
    },
  );
}

function limitedOtherwise(name: string, saved: string | null): SetpointError {
  const paths =
    saved === null ? [] : (/limited to (.*) \(--only\)/.exec(saved)?.[1] ?? '').split(', ');
  return new SetpointError(
    'not-covered',
    `The saved plan of ${name} was made for other parts of the file than this run is limited to.`,
    {
      hint:
        saved === null
          ? 'Leave --only out, or plan again with the flags of this run.'
          : `Pass ${paths.map((path) => `--only ${path}`).join(' ')}, or plan again with the flags of this run.`,
    },
  );
}

/** Without digests it is unknown whether what is masked in the plan is what the file declares now. */
function withoutDigests(): SetpointError {
  return new SetpointError(
    'not-covered',
    'The saved plan does not record which address and which masked values it was made for.',
    { hint: 'Plan again with setpoint plan --out FILE, and apply that plan.' },
  );
}
