import { SetpointError, type Warning } from '../model/error.ts';
import type { GuardSettings, Refusal, Rule, GuardFinding } from '../model/guard.ts';
import { findPathFacts } from '../model/path-facts.ts';
import type { Code, Safety } from '../model/type-facts.ts';
import { formatPath, isWithin, type Path } from '../model/path.ts';
import {
  listPlanChanges,
  listPlanUnknowns,
  type Plan,
  type Change,
  isById,
  removesOther,
} from '../model/plan.ts';
import { findActionEffect } from '../model/action.ts';
import type { Proof } from '../model/proof.ts';
import type { ObservedState } from '../model/state.ts';
import { formatCount } from '../model/wording.ts';
import { holdsMask } from '../model/secret-words.ts';
import { Secret } from '../model/secret.ts';
import { holdsNothing, isEmpty, isList, sameValue, type Value } from '../model/value.ts';
import {
  listSecretsGone,
  findClearedSecrets,
  listRemovedEntries,
  findSharedKeys,
} from './plan-secrets.ts';
import { findMovedEndpoints, listChangedFacts, listChangedItemFacts } from './moved.ts';
import { resetAgent } from './consequences.ts';
import { besideSettings, selectJudgedSettings, extractSettingsPlan } from './settings-part.ts';
import { listUnproven } from './unproven.ts';

/** A plan with its observation and the guards of its file. */
interface GuardedPlan {
  readonly plan: Plan;
  readonly observed: ObservedState;
  readonly guards: GuardSettings;
  /** The service's trials of the plan; absent if they were not requested. */
  readonly proofs?: readonly Proof[] | undefined;
}

/** Every reason why an apply refuses a plan, the rules in `allowed` lifted. An empty plan is never refused. */
export function collectRefusals(guarded: GuardedPlan, allowed: readonly Rule[]): Refusal[] {
  const { forbidden } = guarded.guards;
  const refused = evaluateGuards(guarded)
    .filter(({ refuses, rule }) => refuses && !isLifted(rule, guarded, allowed))
    .map(({ rule, message, hint, path }): Refusal => {
      const by = forbidden?.get(rule);
      if (by === undefined) return { rule, message, hint, path };
      return { rule, message: `${message} ${by} forbids it.`, hint: FORBIDDEN, path };
    });
  return [...frozen(guarded), ...refused];
}

const FORBIDDEN = 'No flag lifts this rule. Ask the owner of the policy to change it.';

function isLifted(rule: Rule, { guards }: GuardedPlan, allowed: readonly Rule[]): boolean {
  return allowed.includes(rule) && guards.forbidden?.has(rule) !== true;
}

/** Returns the findings of rules that are off or lifted, as warnings that stop nothing. */
export function guardWarnings(guarded: GuardedPlan, allowed: readonly Rule[]): Warning[] {
  const noted = evaluateGuards(guarded)
    .filter(
      ({ refuses, warned, rule }) => (!refuses || isLifted(rule, guarded, allowed)) && !warned,
    )
    .map(({ rule, message, path }) => ({ message: `${message} (${rule})`, path }));
  const blindRules = blind(guarded, allowed).map((message) => ({ message, path: [] }));
  return [...noted, ...blindRules].map((one) => ({ code: 'guard', ...one }));
}

/** Rules that are on and cannot judge this plan. They protect nothing, so each is a warning. */
function blind(guarded: GuardedPlan, allowed: readonly Rule[]): string[] {
  const { plan, guards } = guarded;
  const isOn = (rule: Rule): boolean => guards.on.has(rule) && !isLifted(rule, guarded, allowed);
  const changes = listPlanChanges(plan);
  const judged = changes.length === 0 || changes.some((change) => change.class !== undefined);
  const drift =
    isOn('overwrite-drift') && !judged
      ? [
          'Without --base, setpoint cannot distinguish drift from edits: this may overwrite drift. (overwrite-drift)',
        ]
      : [];
  const unknown = listPlanUnknowns(plan).flatMap(({ path, ref }) => {
    const rule = ruleAbout(path);
    if (ref === null || rule === null || !isOn(rule)) return [];
    return [
      `${formatPath(path)} comes from a reference that was not resolved: an apply may be refused. (${rule})`,
    ];
  });
  return [...drift, ...unknown];
}

/** The rule that judges the value at a path. */
function ruleAbout(path: Path): Rule | null {
  const { address, runs, safety } = findPathFacts(path);
  if (runs !== null) return 'run-code';
  if (safety !== null) return 'disable-safety';
  return address === null ? null : 'move-endpoint';
}

const LISTED = 10;

/** The error that a refused apply ends with: every refusal in one message, and how to lift them all. Null without refusals. */
export function refusalError(refusals: readonly Refusal[]): SetpointError | null {
  if (refusals.length === 0) return null;
  const sentences = refusals
    .slice(0, LISTED)
    .map(({ rule, message }) => `${message} (rule ${rule})`);
  const more = refusals.length - LISTED;
  const rest = more > 0 ? [`And ${more} more: setpoint plan lists them all.`] : [];
  return new SetpointError('guard-refused', [...sentences, ...rest].join(' '), {
    hint: refusalHint(refusals),
  });
}

/** One hint of each kind; rules that a flag lifts share one sentence. */
function refusalHint(refusals: readonly Refusal[]): string {
  const isShared = ({ rule, hint }: Refusal): boolean => hint === describeLift(rule);
  const own = refusals.filter((one) => !isShared(one)).map(({ hint }) => hint);
  const rules = new Set(refusals.filter(isShared).map(({ rule }) => rule));
  const flags = [...rules].map((rule) => `--allow ${rule}`).join(' ');
  const shared = flags === '' ? [] : [`If this is intended, apply with ${flags}.`];
  return [...new Set(own), ...shared].slice(0, LISTED).join(' ');
}

function describeLift(rule: Refusal['rule']): string {
  return `If this is intended, apply with --allow ${rule}.`;
}

function evaluateGuards({ plan, observed, guards, proofs }: GuardedPlan) {
  return listPlanChanges(plan).length === 0 ? [] : guardRules(plan, observed, guards, proofs);
}

function frozen({ plan, guards }: GuardedPlan): Refusal[] {
  if (guards.frozen === null || listPlanChanges(plan).length === 0) return [];
  return [
    {
      rule: 'frozen',
      message: `Nothing may be written: ${guards.frozen}.`,
      hint: 'No flag lifts this; remove guards.frozen from the file when it is over.',
      path: [],
    },
  ];
}

/** A finding, whether it refuses the plan, and whether the plan itself warns of it. */
interface RuleFinding extends Refusal {
  readonly rule: Rule;
  readonly refuses: boolean;
  readonly warned: boolean;
}

/** The input of the rules. */
interface GuardInput {
  readonly plan: Plan;
  readonly observed: ObservedState;
  readonly guards: GuardSettings;
  /** The service's trials of the plan; absent if they were not requested. */
  readonly proofs?: readonly Proof[] | undefined;
}

/**
 * Each rule but `frozen`, in the order of their findings. They judge what a write would do, with references resolved: how the file
 * spells it does not matter.
 */
const FINDINGS: Readonly<Record<Rule, (judged: GuardInput, rule: Rule) => readonly RuleFinding[]>> =
  {
    'max-changes': createLiftableRule(({ plan, guards }) => findExcessChanges(plan, guards), {
      always: true,
    }),
    'clear-secret': createLiftableRule(({ plan, observed }) => [
      ...findClearedSecrets(selectJudgedSettings(plan), observed),
      ...findRemovedSecretItems(plan),
    ]),
    'move-endpoint': createLiftableRule(({ plan, observed }) => [
      ...findMovedEndpoints(selectJudgedSettings(plan), observed),
      ...findMovedItemAddresses(plan),
    ]),
    'run-code': createLiftableRule(({ plan, observed }) => runsCode(plan, observed)),
    'disable-safety': createLiftableRule(({ plan, observed }) =>
      findDisabledSafety(plan, observed),
    ),
    'overwrite-drift': createLiftableRule(({ plan }) => overwrittenDrift(plan)),
    'empty-store': createLiftableRule(({ plan, observed }) => findEmptyStore(plan, observed)),
    'reset-agent': createLiftableRule(({ plan, observed }) =>
      resetAgent(selectJudgedSettings(plan), observed),
    ),
    'remove-others': createLiftableRule(({ plan }) => findUnnamedRemovals(plan)),
    'shared-key': createLiftableRule(({ plan, observed }) =>
      findSharedKeys(
        { settings: extractSettingsPlan(plan), others: besideSettings(plan) },
        observed,
      ),
    ),
    'lose-unreadable': ({ plan, guards }) => losing(plan, guards),
    'secrets-gone': ({ plan, observed, guards }) => secretsGone(plan, observed, guards),
    unproven: ({ plan, guards, proofs }) => unproven(plan, guards, proofs),
  };

/** Returns the findings of every rule in a plan. */
export function guardRules(
  plan: Plan,
  observed: ObservedState,
  guards: GuardSettings,
  proofs?: readonly Proof[],
): readonly RuleFinding[] {
  const order = Object.keys(FINDINGS) as Rule[];
  return order.flatMap((rule) => FINDINGS[rule]({ plan, observed, guards, proofs }, rule));
}

/** A rule whose findings `--allow` lifts, and nothing else settles. `always`: it refuses whether the file turns it on or not. */
function createLiftableRule(
  find: (judged: GuardInput) => readonly GuardFinding[],
  { always = false }: { readonly always?: boolean } = {},
) {
  return (judged: GuardInput, rule: Rule): RuleFinding[] =>
    find(judged).map((finding) => ({
      ...finding,
      rule,
      hint: describeLift(rule),
      refuses: always || judged.guards.on.has(rule),
      warned: false,
    }));
}

/** Finds the removed or cleared items of collections that are, or contain, a secret. */
function findRemovedSecretItems(plan: Plan): GuardFinding[] {
  return besideSettings(plan)
    .flatMap(({ resource, changes }) => changes.filter(({ path }) => path[0] === resource.block))
    .flatMap(({ path, action, before, after }): GuardFinding[] => {
      if (findActionEffect(action) !== 'drop')
        return listSecretsGone(before, after, path).map((one) => ({
          message: `The plan clears ${formatPath(one)}.`,
          path: one,
        }));
      if (listSecretsGone(before, null, path).length === 0) return [];
      return [{ message: `The plan ${action}s ${formatPath(path)}.`, path }];
    });
}

/** The items of collections with an address that moves although a stored credential goes there, unless the plan writes that again. */
function findMovedItemAddresses(plan: Plan): GuardFinding[] {
  const parts = besideSettings(plan);
  const isWritten = (by: Path): boolean =>
    parts.some(({ changes }) =>
      changes.some(({ path, action }) => findActionEffect(action) !== 'drop' && isWithin(by, path)),
    );
  return parts.flatMap(({ moved = [] }) =>
    moved
      .filter(({ by }) => by === undefined || !isWritten(by))
      .map(({ path, where, by }) => {
        const what = by === undefined ? 'the stored secret' : `any stored ${formatPath(by)}`;
        const message = `The plan moves ${formatPath(path)} to ${where}, and ${what} would go there.`;
        return { message, path };
      }),
  );
}

/** Finds the items that a plan removes because the file does not name them. Another client may have created them and need them. */
function findUnnamedRemovals(plan: Plan): GuardFinding[] {
  return listPlanChanges(plan)
    .filter(removesOther)
    .map(({ path }) => ({
      message: `The plan removes ${formatPath(path)}, which the file does not name.`,
      path,
    }));
}

/**
 * Secrets no longer read as stored although some were: a service that cannot decrypt them answers so. Nothing distinguishes that from a
 * service whose secrets were cleared, and a write could be the end of them.
 */
function secretsGone(
  plan: Plan,
  { dialect, secrets, values, bare = [], saved = false }: ObservedState,
  guards: GuardSettings,
): RuleFinding[] {
  const hasAny = [...secrets.values()].includes('stored') || holdsMask(values['mcp_config']);
  const had = [
    ...(hasAny ? [] : [...extractSettingsPlan(plan).gone, ...bare]),
    ...besideSettings(plan).flatMap(({ gone }) => gone),
  ];
  const { undecryptable } = dialect;
  if (undecryptable === undefined || saved || had.length === 0) return [];
  const names = had.map(formatPath).join(', ');
  return [
    {
      rule: 'secrets-gone',
      message: `No secret is stored now, but there were some before: ${names}. The service may be unable to read them.`,
      hint: `${undecryptable} If they were removed on purpose, apply with --allow secrets-gone.`,
      path: [],
      refuses: guards.on.has('secrets-gone'),
      warned: false,
    },
  ];
}

/** The rows of the checks report the same, so there is no additional warning. */
function unproven(plan: Plan, guards: GuardSettings, proofs: GuardInput['proofs']): RuleFinding[] {
  if (proofs === undefined && !guards.on.has('unproven')) return [];
  const hint =
    proofs === undefined
      ? 'Apply with --check, which has the service try it; or with --allow unproven.'
      : 'Fix it and run again, or apply with --allow unproven.';
  return listUnproven(plan, proofs).map(({ message, path, always }) => ({
    rule: 'unproven',
    message,
    hint,
    path,
    refuses: always || guards.on.has('unproven'),
    warned: true,
  }));
}

/** `mcp_config: null` is one change, and counts as the entries that it removes. */
function findExcessChanges(plan: Plan, { maxChanges }: GuardSettings): GuardFinding[] {
  const listed = listPlanChanges(plan).length;
  const settings = extractSettingsPlan(plan);
  const whole = settings.changes.filter(isWholeClear).length;
  const removed = listRemovedEntries(settings).length;
  const count = whole === 0 ? listed : listed - whole + Math.max(whole, removed);
  if (maxChanges === null || count <= maxChanges) return [];
  const entries = count === listed ? '' : `, counting ${removed} removed mcp entries`;
  const message = `The plan makes ${formatCount(count, 'change')}${entries}; guards.max_changes is ${maxChanges}.`;
  return [{ message, path: [] }];
}

function isWholeClear({ path, action }: Change): boolean {
  return path.length === 1 && path[0] === 'mcp_config' && action === 'clear';
}

/** Lists what a write would lose. The plan warns of it, and some losses stop every write, whatever `guards` is. */
function losing(plan: Plan, guards: GuardSettings): RuleFinding[] {
  const losses = plan.flatMap(({ unpreservable }) => unpreservable);
  return losses.map(({ path, stops, remedy }) => ({
    rule: 'lose-unreadable',
    message: `This write clears ${formatPath(path)}, which the service does not show.`,
    hint: `${remedy}; or apply with --allow lose-unreadable and lose it.`,
    path,
    refuses: stops === 'always' || guards.on.has('lose-unreadable'),
    warned: true,
  }));
}

/** A removed program no longer runs, and a rotated one stays the same program. */
function runsCode(plan: Plan, observed: ObservedState): GuardFinding[] {
  const touched = selectJudgedSettings(plan).changes.flatMap((change) =>
    listChangedFacts(change, observed).map((place) => ({
      ...place,
      verb: describeCodeChange(change),
    })),
  );
  return [...touched, ...listChangedCodeItems(plan)].flatMap(
    ({ path, facts, before, after, verb }): GuardFinding[] => {
      const { runs } = facts;
      if (runs === null || verb === null || !isRun(runs, before, after)) return [];
      return [{ message: `The plan ${verb} ${formatPath(path)}, ${runs.what}.`, path }];
    },
  );
}

/** Lists the changes of a plan in collections, with the places inside. A reinstalled item may be something else by now. */
function listChangedCodeItems(plan: Plan) {
  return besideSettings(plan)
    .flatMap(({ resource, changes, effective = [] }) => [
      ...changes.filter(({ path }) => path[0] === resource.block),
      ...effective,
    ])
    .flatMap((change) => {
      const verb = change.action === 'rotate' ? 'installs again' : describeCodeChange(change);
      return listChangedItemFacts(change).map((place) => ({ ...place, verb }));
    });
}

/** Describes the effect of a change on code that runs; null if that code does not change or stops. */
function describeCodeChange({ path, action }: Change): string | null {
  if (action === 'clear') return 'clears';
  if (action !== 'set' && action !== 'change') return null;
  if (path.length === 1) return 'sets';
  return action === 'set' ? 'adds' : 'changes';
}

function isRun({ replaced, only, except, inverse }: Code, before: Value, value: Value): boolean {
  if (inverse === true) return someLeave(before, value);
  if (except !== undefined) return !isValue(value, except);
  if (only !== undefined) return isValue(value, only);
  return replaced || !holdsNothing(value);
}

/** Reports whether any item leaves a list. */
function someLeave(before: Value, after: Value): boolean {
  const rest = isList(after) ? after : [];
  return isList(before) && before.some((item) => !rest.some((other) => sameValue(item, other)));
}

/** Reports whether a value equals the expected one, also if it came from a reference. */
function isValue(value: Value, expected: Value): boolean {
  return value instanceof Secret ? value.sameAs(expected) : value === expected;
}

function findDisabledSafety(plan: Plan, observed: ObservedState): GuardFinding[] {
  const settings = selectJudgedSettings(plan).changes.flatMap((change) =>
    listChangedFacts(change, observed),
  );
  return [...settings, ...listChangedCodeItems(plan)].flatMap(
    ({ path, facts: { safety }, before, after }) =>
      safety !== null && protects(safety, before) && !protects(safety, after)
        ? [{ message: `The plan ${safety.lowered.replace('{}', () => formatPath(path))}.`, path }]
        : [],
  );
}

/** Reports whether a value keeps people safe, also if it came from a reference. */
function protects({ unless }: Safety, value: Value): boolean {
  const isSafe = (text: string) => !['', ...unless].includes(text.trim().toLowerCase());
  if (isEmpty(value)) return false;
  if (value instanceof Secret) return value.fits(isSafe);
  return isSafe(typeof value === 'string' ? value : JSON.stringify(value));
}

function overwrittenDrift(plan: Plan): GuardFinding[] {
  return listPlanChanges(plan)
    .filter((change) => change.class === 'drift' || change.class === 'conflict')
    .map((change) => ({
      message: isById(change)
        ? `The plan overwrites a change that another client made to ${change.resource} ${change.path[0]}.`
        : `The plan overwrites ${formatPath(change.path)}, which another client changed on the service.`,
      path: change.path,
    }));
}

/** Items count as a first write if the service lists none in any block that the file declares. */
function findEmptyStore(plan: Plan, observed: ObservedState): GuardFinding[] {
  const listed = besideSettings(plan).filter(({ stored }) => stored !== undefined);
  const isFirst =
    listed.some(({ changes }) => changes.length > 0) &&
    listed.every(({ stored = {} }) => Object.values(stored).every(holdsNothing));
  if (!isFirst && extractSettingsPlan(plan).changes.length === 0) return [];
  if (!observed.stored) return [{ message: 'The service has nothing stored yet.', path: [] }];
  if (observed.untouched !== true) return [];
  const message = 'The service has nothing but its defaults: it is new, or cannot read its store.';
  return [{ message, path: [] }];
}
