import { counted } from '../model/counted.ts';
import type { GuardFinding, GuardSettings, Rule } from '../model/guard.ts';
import { fieldNamed } from '../model/field.ts';
import { formatPath } from '../model/path.ts';
import { changesOf, type Change, type Plan } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import { secretsIn } from '../model/value.ts';
import { movedEndpoints } from './moved-endpoints.ts';

/** A finding, whether it refuses the plan, and whether the plan warns of it by itself. */
interface RuleFinding extends GuardFinding {
  readonly rule: Rule;
  readonly refuses: boolean;
  readonly warned: boolean;
}

type Found = readonly string[];

/** What every rule but `frozen` finds in a plan, rules in their order. */
export function guardRules(
  plan: Plan,
  observed: ObservedState,
  guards: GuardSettings,
): RuleFinding[] {
  const found: readonly (readonly [Rule, Found])[] = [
    ['max-changes', tooMany(plan, guards)],
    ['clear-secret', clearedSecrets(plan)],
    ['move-endpoint', movedEndpoints(plan.settings, observed)],
    ['run-code', runsCode(plan)],
    ['disable-safety', disabledSafety(plan)],
    ['overwrite-drift', overwrittenDrift(plan)],
    ['empty-store', emptyStore(plan, observed)],
  ];
  return [
    ...found.flatMap(([rule, messages]) =>
      messages.map((message) => ({
        rule,
        message,
        hint: `If that is meant, apply with --allow ${rule}.`,
        refuses: guards.on.has(rule) || rule === 'max-changes',
        warned: false,
      })),
    ),
    ...losing(plan, guards),
  ];
}

function tooMany(plan: Plan, { maxChanges }: GuardSettings): Found {
  const count = changesOf(plan).length;
  if (maxChanges === null || count <= maxChanges) return [];
  return [`The plan makes ${counted(count, 'change')}; guards.max_changes is ${maxChanges}.`];
}

/** The plan warns of what a write would lose; some of it stops every write, whatever the file says. */
function losing({ settings }: Plan, guards: GuardSettings): RuleFinding[] {
  return settings.unpreservable.map(({ path, stops, remedy }) => ({
    rule: 'lose-unreadable',
    message: `A write would wipe ${formatPath(path)}: the service does not say what it holds.`,
    hint: `In settings.yaml, ${remedy}; or apply with --allow lose-unreadable and lose it.`,
    refuses: stops === 'always' || guards.on.has('lose-unreadable'),
    warned: true,
  }));
}

function clearedSecrets({ settings }: Plan): Found {
  return settings.changes
    .filter(({ action, path, before }) =>
      action === 'remove'
        ? secretsIn(before).length > 0
        : action === 'clear' && fieldNamed(path[0] ?? '')?.secret === true,
    )
    .map(({ action, path }) =>
      action === 'remove'
        ? `The plan removes ${formatPath(path)}, which holds a secret.`
        : `The plan clears ${formatPath(path)}.`,
    );
}

const IMAGES: ReadonlySet<string> = new Set([
  'sandbox_base_container_image',
  'sandbox_runtime_container_image',
]);

function runsCode({ settings }: Plan): Found {
  const adds = ({ action }: Change): boolean => action === 'set' || action === 'change';
  return settings.changes.filter(adds).flatMap(({ path, action }) => {
    const [name = '', list] = path;
    if (IMAGES.has(name)) return [`The plan sets ${name}, the image of what the service runs.`];
    if (list !== 'stdio_servers') return [];
    return [`The plan ${action === 'set' ? 'adds' : 'changes'} ${formatPath(path)}, a program.`];
  });
}

function disabledSafety({ settings }: Plan): Found {
  return settings.changes.flatMap(({ path, before, after }) => {
    const [name] = path;
    if (name === 'confirmation_mode' && before === true)
      return ['The plan turns confirmation_mode off.'];
    const cleared = name === 'security_analyzer' && (after === null || after === '');
    return cleared ? ['The plan clears security_analyzer.'] : [];
  });
}

function overwrittenDrift(plan: Plan): Found {
  return changesOf(plan)
    .filter((change) => change.class === 'drift' || change.class === 'conflict')
    .map(({ resource, path }) =>
      resource === 'settings'
        ? `The plan overwrites ${formatPath(path)}, which somebody changed on the service.`
        : `The plan changes what somebody did to sandbox ${path[0]}.`,
    );
}

function emptyStore({ settings }: Plan, observed: ObservedState): Found {
  if (observed.stored || settings.changes.length === 0) return [];
  return ['The service has nothing stored yet.'];
}
