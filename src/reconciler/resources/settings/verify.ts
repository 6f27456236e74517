import type { Remainder } from '../../model/outcome.ts';
import { formatPath, samePath, type Path } from '../../model/path.ts';
import type { Change, SettingsPlan, Unknown } from '../../model/plan.ts';
import type { SettingsWrite, ObservedState, DesiredState, Prediction } from '../../model/state.ts';
import { maskSecrets, type Value } from '../../model/value.ts';
import { resolveNamedBlocks } from '../../plan/field-here.ts';
import { NOTHING_KNOWN, planSettings } from '../../plan/plan-settings.ts';
import {
  findLostSecrets,
  findUnmanagedChanges,
  removesCopy,
  serverOwned,
  withoutDoubled,
} from '../../plan/side-effects.ts';
import { managesField } from '../../plan/declared.ts';
import { observePastLag } from './send.ts';
import { listDeactivatedProfiles } from './profile.ts';
import type { ReconcileInput } from '../../reconcile/contract.ts';
import { fieldNamed } from '../../model/field.ts';

/** The result of an observation after the write. `remaining` is empty if the service has the declared values and nothing else changed. */
export interface Verification {
  readonly observed: ObservedState;
  readonly remaining: readonly Remainder[];
  readonly unknown: readonly Unknown[];
}

/**
 * Observes until the service shows the write, or another state than the earlier ones: that before the write, and those between
 * two writes. An observation after a request to stop is the last.
 */
export async function verify(
  input: ReconcileInput,
  before: ObservedState,
  expected: Prediction,
  made: SettingsPlan,
  between: readonly ObservedState[] = [],
): Promise<Verification> {
  const observed = await observePastLag(
    input,
    [before, ...between],
    (shown) => compare(input, before, expected, shown, made).remaining.length === 0,
  );
  return compare(input, before, expected, observed, made);
}

function compare(
  { desired: declared }: ReconcileInput,
  before: ObservedState,
  { expected, differences }: Prediction,
  observed: ObservedState,
  made: SettingsPlan,
): Verification {
  const desired = resolveNamedBlocks(declared, observed);
  const plan = planSettings(desired, observed, NOTHING_KNOWN);
  const isWhole = before.dialect.writes === 'record';
  const touched = findUnmanagedChanges(expected, observed, desired, differences).map(
    ({ path, before: was, after }): Remainder => ({
      resource: 'settings',
      path,
      expected: maskSecrets(was),
      actual: maskSecrets(after),
      reason: `changed ${isWhole ? 'by' : 'during'} the write, although the file does not manage it`,
      hint: isWhole
        ? 'Check the service: another client writes these settings, or the service does not store what it receives.'
        : 'Check which other client writes these settings. This write did not contain the value.',
    }),
  );
  const fallen = findLostSecrets(expected, observed)
    .filter(
      (path) => !managesField(desired, path[0] ?? '') && !managesField(desired, formatPath(path)),
    )
    .map((path): Remainder => ({
      resource: 'settings',
      path,
      expected: '(sensitive)',
      actual: null,
      reason: 'was set before the write, and is no longer set',
      hint: `Declare ${formatPath(path)} as a reference, so that every write sends it.`,
    }));
  return {
    observed,
    remaining: [
      ...plan.changes.map((change) => remainder(change, made, before, observed)),
      ...touched,
      ...fallen,
      ...listDeactivatedProfiles(made.write, before, observed),
    ],
    unknown: plan.unknown,
  };
}

function remainder(
  change: Change,
  made: SettingsPlan,
  before: ObservedState,
  { cachedFor }: ObservedState,
): Remainder {
  return {
    resource: 'settings',
    path: change.path,
    expected: maskSecrets(change.after),
    actual: maskSecrets(change.before),
    ...(cachedFor === undefined ? whyLeft(change, made, before) : OF_A_CACHE),
  };
}

const OF_A_CACHE = {
  code: 'cached',
  reason: 'a cache in front of the service may have answered with the state before the write',
  hint: "Have the cache pass the service's API, then run setpoint plan to see what the service has.",
} as const;

/** The line of a settings file that leaves entries alone, each once, whichever of its copies is named. */
export function formatUnmanagedEntry(entries: readonly Path[]): string {
  const names = entries.map((path) => formatPath(path).replace(/#\d+\]$/, ']'));
  return `unmanaged: ${JSON.stringify([...new Set(names)])}`;
}

/**
 * The reason why a change remains after the write. Only removed settings can have come back, and only sent ones can have been dropped:
 * anything else was changed by another client. Servers that preserve what a write omits do not add entries.
 */
function whyLeft(
  change: Change,
  made: SettingsPlan,
  { dialect }: ObservedState,
): Pick<Remainder, 'code' | 'reason' | 'hint'> {
  const isMade = made.changes.some(({ path }) => samePath(path, change.path));
  const isWhole = dialect.writes === 'record';
  if (change.action === 'remove' && isMade && isWhole) {
    return {
      code: 'server-adds',
      reason: 'came back after its removal: the server adds it automatically',
      hint: `Leave it to the server: ${formatUnmanagedEntry([change.path])}`,
    };
  }
  const isSent = isMade || (isWhole && (change.path[0] ?? '') in (made.write?.fields ?? {}));
  if (change.action === 'remove' || !isSent) {
    const reason =
      change.action !== 'remove'
        ? 'changed during the write by another client; this write did not contain it'
        : isMade
          ? 'came back after its removal: another client writes these settings'
          : 'appeared during the write: another client added it';
    return {
      code: 'other-client',
      reason,
      hint: 'Find the other client that writes there. Then run setpoint plan and apply again.',
    };
  }
  return {
    code: 'not-kept',
    reason: 'the service does not keep what it is sent',
    hint: 'Run setpoint plan to see what is left; the service may rewrite or refuse this value.',
  };
}

/**
 * The one write that may follow the first, or null if none is needed: it sends declared secrets that were lost once more, and leaves out
 * entries that the server adds as often as they doubled. It is made from the latest observation, so that later writes of other clients
 * stay.
 *
 * Also null if it would do more than the approved plan: later changes have passed no guard and are not approved. The verification reports
 * them, and the next run plans them.
 */
export function mendingWrite(
  desired: DesiredState,
  plan: SettingsPlan,
  before: ObservedState,
  latest: ObservedState,
): SettingsWrite | null {
  const sent = plan.write?.fields ?? {};
  const lost = new Set(findLostSecrets(before, latest).map(findSecretField));
  const secrets = desired.fields.filter(
    ({ field, value }) =>
      lost.has(field.name) && value !== null && managesField(desired, field.name),
  );
  // Values that the server does not show are in no observation: they are sent again unchanged.
  const along = new Map<string, Value>([
    ...desired.fields.flatMap(({ field: { name } }): [string, Value][] => {
      const isShown = latest.dialect.fields.get(name)?.reads === 'value';
      return isShown || !(name in sent) ? [] : [[name, sent[name] ?? null]];
    }),
    ...secrets.map(({ field, value }) => [field.name, value] as const),
  ]);
  const fresh = planSettings(desired, latest, { ...NOTHING_KNOWN, along });
  const { write } = fresh;
  const undoubled =
    write === null ? null : withoutDoubled(write, before, latest, desired, plan.changes);
  const owned = serverOwned(before, latest, desired);
  if (undoubled === null && secrets.length === 0) return null;
  const isApproved = fresh.changes.every(
    (change) =>
      plan.changes.some(({ path }) => samePath(path, change.path)) ||
      lost.has(findSecretField(change.path)) ||
      removesCopy(change, owned),
  );
  const losesMore = fresh.unpreservable.some(
    ({ path, stops }) =>
      stops === 'always' && !plan.unpreservable.some((one) => samePath(one.path, path)),
  );
  return isApproved && !losesMore ? (undoubled ?? write) : null;
}

/** The field that a path of a secret is in, by the name that plans have for it. */
function findSecretField(path: Path): string {
  const [name = ''] = path;
  return fieldNamed(name) === undefined ? formatPath(path) : name;
}
