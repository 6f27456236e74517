import { SetpointError } from '../model/error.ts';
import type { GuardSettings, Refusal, Rule } from '../model/guard.ts';
import { factsAt } from '../model/path-facts.ts';
import { formatPath, type Path } from '../model/path.ts';
import { changesOf, unknownOf, type Plan, type Warning } from '../model/plan.ts';
import type { Proof } from '../model/proof.ts';
import type { ObservedState } from '../model/state.ts';
import { guardRules } from './guard-rules.ts';

/** A plan with its observation and the guards of its file. */
export interface Guarded {
  readonly plan: Plan;
  readonly observed: ObservedState;
  readonly guards: GuardSettings;
  /** What the service tried of the plan; absent if it was not asked to. */
  readonly proofs?: readonly Proof[] | undefined;
}

/** Every reason why an apply refuses a plan, the rules in `allowed` lifted. An empty plan is never refused. */
export function refusalsOf(guarded: Guarded, allowed: readonly Rule[]): Refusal[] {
  const refused = found(guarded)
    .filter(({ refuses, rule }) => refuses && !allowed.includes(rule))
    .map(({ rule, message, hint, path }) => ({ rule, message, hint, path }));
  return [...frozen(guarded), ...refused];
}

/** What rules that are off, or lifted, have found: worth knowing, and no reason to stop. */
export function guardWarnings(guarded: Guarded, allowed: readonly Rule[]): Warning[] {
  const noted = found(guarded)
    .filter(({ refuses, warned, rule }) => (!refuses || allowed.includes(rule)) && !warned)
    .map(({ rule, message }) => `${message} (${rule})`);
  return [...noted, ...blind(guarded, allowed)].map((message) => ({
    code: 'guard',
    message,
    path: [],
  }));
}

/** Rules that are on and cannot judge this plan. They protect nothing, so each is a warning. */
function blind({ plan, guards }: Guarded, allowed: readonly Rule[]): string[] {
  const isOn = (rule: Rule): boolean => guards.on.has(rule) && !allowed.includes(rule);
  const changes = changesOf(plan);
  const judged = changes.length === 0 || changes.some((change) => change.class !== undefined);
  const drift =
    isOn('overwrite-drift') && !judged
      ? [
          'Without --base, drift cannot be told from edits: this may overwrite drift. (overwrite-drift)',
        ]
      : [];
  const unknown = unknownOf(plan).flatMap(({ path, ref }) => {
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
  const { address, runs, safety } = factsAt(path);
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
  const own = refusals.filter(({ rule }) => OWN_HINT.has(rule)).map(({ hint }) => hint);
  const lifted = refusals.map(({ rule }) => rule).filter((rule) => !OWN_HINT.has(rule));
  const flags = [...new Set(lifted)].map((rule) => `--allow ${rule}`).join(' ');
  const shared = flags === '' ? [] : [`If this is intended, apply with ${flags}.`];
  return [...new Set(own), ...shared].slice(0, LISTED).join(' ');
}

const OWN_HINT: ReadonlySet<Refusal['rule']> = new Set([
  'frozen',
  'lose-unreadable',
  'secrets-gone',
  'unproven',
]);

function found({ plan, observed, guards, proofs }: Guarded) {
  return changesOf(plan).length === 0 ? [] : guardRules(plan, observed, guards, proofs);
}

function frozen({ plan, guards }: Guarded): Refusal[] {
  if (guards.frozen === null || changesOf(plan).length === 0) return [];
  return [
    {
      rule: 'frozen',
      message: `Nothing may be written: ${guards.frozen}.`,
      hint: 'No flag lifts this; remove guards.frozen from the file when it is over.',
      path: [],
    },
  ];
}
