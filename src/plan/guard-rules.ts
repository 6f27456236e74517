import { counted } from '../model/wording.ts';
import type { Finding, GuardSettings, Refusal, Rule } from '../model/guard.ts';
import { holdsMask } from '../model/mask.ts';
import { formatPath } from '../model/path.ts';
import { changesOf, type Change, type Plan } from '../model/plan.ts';
import { Secret } from '../model/secret.ts';
import type { ObservedState } from '../model/state.ts';
import { isEmpty, type Value } from '../model/value.ts';
import { clearedSecrets, removedEntries } from './cleared-secrets.ts';
import { movedEndpoints } from './moved-endpoints.ts';
import { resetAgent } from './reset-agent.ts';

/** A finding, whether it refuses the plan, and whether the plan warns of it by itself. */
interface RuleFinding extends Refusal {
  readonly rule: Rule;
  readonly refuses: boolean;
  readonly warned: boolean;
}

/**
 * What every rule but `frozen` finds in a plan, rules in their order. They judge what a write would do, with references
 * resolved: how the file spells it does not matter.
 */
export function guardRules(
  plan: Plan,
  observed: ObservedState,
  guards: GuardSettings,
): RuleFinding[] {
  const found: readonly (readonly [Rule, readonly Finding[]])[] = [
    ['max-changes', tooMany(plan, guards)],
    ['clear-secret', clearedSecrets(plan.settings)],
    ['move-endpoint', movedEndpoints(plan.settings, observed)],
    ['run-code', runsCode(plan)],
    ['disable-safety', disabledSafety(plan)],
    ['overwrite-drift', overwrittenDrift(plan)],
    ['empty-store', emptyStore(plan, observed)],
    ['reset-agent', resetAgent(plan.settings, observed)],
  ];
  return [
    ...found.flatMap(([rule, findings]) =>
      findings.map((finding) => ({
        ...finding,
        rule,
        hint: `If this is intended, apply with --allow ${rule}.`,
        refuses: guards.on.has(rule) || rule === 'max-changes',
        warned: false,
      })),
    ),
    ...losing(plan, guards),
    ...secretsGone(plan, observed, guards),
  ];
}

/**
 * No secret reads as stored any more although some were: a service that cannot decrypt them answers so. Nothing tells that from a
 * service whose secrets somebody has cleared, and a write could be the end of them.
 */
function secretsGone(
  { settings }: Plan,
  { dialect, secrets, values, bare = [], saved = false }: ObservedState,
  guards: GuardSettings,
): RuleFinding[] {
  const had = [...settings.gone, ...bare];
  const hasAny = [...secrets.values()].includes('stored') || holdsMask(values['mcp_config']);
  const { undecryptable } = dialect;
  if (undecryptable === undefined || saved || had.length === 0 || hasAny) return [];
  const names = had.map(formatPath).join(', ');
  return [
    {
      rule: 'secrets-gone',
      message: `No secret is stored any more, and there were some: ${names}. The service may be unable to read them.`,
      hint: `${undecryptable} If they are meant to be gone, apply with --allow secrets-gone.`,
      path: [],
      refuses: guards.on.has('secrets-gone'),
      warned: false,
    },
  ];
}

/** `mcp_config: null` is one change, and counts as the entries that it removes. */
function tooMany(plan: Plan, { maxChanges }: GuardSettings): Finding[] {
  const listed = changesOf(plan).length;
  const whole = plan.settings.changes.filter(isWholeClear).length;
  const removed = removedEntries(plan.settings).length;
  const count = whole === 0 ? listed : listed - whole + Math.max(whole, removed);
  if (maxChanges === null || count <= maxChanges) return [];
  const entries = count === listed ? '' : `, counting ${removed} removed mcp entries`;
  const message = `The plan makes ${counted(count, 'change')}${entries}; guards.max_changes is ${maxChanges}.`;
  return [{ message, path: [] }];
}

function isWholeClear({ path, action }: Change): boolean {
  return path.length === 1 && path[0] === 'mcp_config' && action === 'clear';
}

/** What a write would lose. The plan warns of it, and some of it stops every write, whatever `guards` is. */
function losing({ settings }: Plan, guards: GuardSettings): RuleFinding[] {
  return settings.unpreservable.map(({ path, stops, remedy }) => ({
    rule: 'lose-unreadable',
    message: `This write clears ${formatPath(path)}, which the service does not show.`,
    hint: `${remedy}; or apply with --allow lose-unreadable and lose it.`,
    path,
    refuses: stops === 'always' || guards.on.has('lose-unreadable'),
    warned: true,
  }));
}

const IMAGES: ReadonlySet<string> = new Set([
  'sandbox_base_container_image',
  'sandbox_runtime_container_image',
]);

/** A removed program no longer runs, and a rotated one stays the same program. */
function runsCode({ settings }: Plan): Finding[] {
  return settings.changes.flatMap(({ path, action }): Finding[] => {
    const [name = '', list] = path;
    if (IMAGES.has(name)) {
      const what = action === 'clear' ? 'clears' : 'sets';
      return [{ message: `The plan ${what} ${name}, the image of what the service runs.`, path }];
    }
    if (list !== 'stdio_servers' || (action !== 'set' && action !== 'change')) return [];
    const verb = action === 'set' ? 'adds' : 'changes';
    return [{ message: `The plan ${verb} ${formatPath(path)}, a program.`, path }];
  });
}

function disabledSafety({ settings }: Plan): Finding[] {
  return settings.changes.flatMap(({ path, before, after }): Finding[] => {
    const [name] = path;
    if (name === 'confirmation_mode' && isValue(before, true) && !isValue(after, true))
      return [{ message: 'The plan turns confirmation_mode off.', path }];
    if (name === 'security_analyzer' && !isNone(before) && isNone(after))
      return [{ message: 'The plan clears security_analyzer.', path }];
    return [];
  });
}

/** Whether a value is the expected one, also if it came from a reference. */
function isValue(value: Value, expected: boolean): boolean {
  return value instanceof Secret ? value.sameAs(expected) : value === expected;
}

/** No analyzer: nothing, blanks, or the word none. */
function isNone(value: Value): boolean {
  const analyzer = (text: string) => (/^\s*(none)?\s*$/i.test(text) ? 'none' : 'some');
  if (isEmpty(value)) return true;
  if (value instanceof Secret) return value.compareWith(analyzer) === 'none';
  return typeof value === 'string' && analyzer(value) === 'none';
}

function overwrittenDrift(plan: Plan): Finding[] {
  return changesOf(plan)
    .filter((change) => change.class === 'drift' || change.class === 'conflict')
    .map(({ resource, path }) => ({
      message:
        resource === 'settings'
          ? `The plan overwrites ${formatPath(path)}, which somebody changed on the service.`
          : `The plan changes what somebody did to sandbox ${path[0]}.`,
      path,
    }));
}

function emptyStore({ settings }: Plan, observed: ObservedState): Finding[] {
  if (settings.changes.length === 0) return [];
  if (!observed.stored) return [{ message: 'The service has nothing stored yet.', path: [] }];
  if (observed.untouched !== true) return [];
  const message = 'The service has nothing but its defaults: it is new, or cannot read its store.';
  return [{ message, path: [] }];
}
