import type { Dialect } from '../model/dialect.ts';
import type { Finding } from '../model/guard.ts';
import { AGENT_KIND, AGENT_PART, isNamedWithin } from '../model/field.ts';
import { entriesOf, MCP_LISTS, segmentsIn } from '../model/mcp.ts';
import { formatPath, isUnmanaged, pathNamed, samePath, type Path } from '../model/path.ts';
import type { SettingsPlan } from '../model/plan.ts';
import { Secret } from '../model/secret.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { isEmpty, isRecord, recordOf, sameValue } from '../model/value.ts';
import { kindsOf } from './field-here.ts';

/**
 * The kind of agent that a file makes of another one; null if it makes none. A server starts the settings of the agent anew then: all
 * that is stored of them is gone, secrets and mcp servers too, and going back brings nothing back.
 */
export function newKind(desired: DesiredState, observed: ObservedState): string | null {
  if (!observed.stored || observed.dialect.ofKind === undefined) return null;
  const declared = desired.fields.find(({ field }) => samePath(field.path, AGENT_KIND));
  if (declared === undefined || isUnmanaged(desired.unmanaged, AGENT_KIND)) return null;
  const { value } = declared;
  const kind = value instanceof Secret ? value.compareWith((text) => text) : (value ?? USUAL_KIND);
  if (typeof kind !== 'string' || sameValue(kind, kindsOf(observed)(AGENT_KIND))) return null;
  return kind;
}

/** The kind that null brings back. */
const USUAL_KIND = 'openhands';

/** What the services can do once the file is applied. */
export function dialectAfter(desired: DesiredState, observed: ObservedState): Dialect {
  const kind = newKind(desired, observed);
  return kind === null ? observed.dialect : (observed.dialect.ofKind?.(kind) ?? observed.dialect);
}

/** What a plan starts from: a service whose agent becomes one of another kind has nothing set of the agent. */
export function startOf(desired: DesiredState, observed: ObservedState): ObservedState {
  const kind = newKind(desired, observed);
  if (kind === null) return observed;
  const stays = Object.entries(observed.values).filter(
    ([name]) => !isNamedWithin(name, AGENT_PART),
  );
  const secrets = [...observed.secrets].map(
    ([name, state]) => [name, isNamedWithin(name, AGENT_PART) ? 'not-stored' : state] as const,
  );
  const { answer: shown } = observed;
  const answer = Object.entries(shown).filter(([name]) => name !== AGENT_PART[0]);
  return {
    ...observed,
    dialect: dialectAfter(desired, observed),
    values: recordOf([...stays, [formatPath(AGENT_KIND), kind]]),
    secrets: new Map(secrets),
    answer: recordOf(answer),
  };
}

/** What a change of the kind of agent loses, because the file does not declare it: named all at once. */
export function resetAgent(plan: SettingsPlan, observed: ObservedState): Finding[] {
  const change = plan.changes.find(({ path }) => samePath(path, AGENT_KIND));
  if (change === undefined || !observed.stored) return [];
  const written = plan.write?.fields ?? {};
  const held = [
    ...Object.keys(observed.values).filter(
      (name) => name !== 'mcp_config' && !isUsual(name, observed),
    ),
    ...[...observed.secrets].filter(([, state]) => state === 'stored').map(([name]) => name),
  ];
  const lost = held.filter(
    (name) =>
      isNamedWithin(name, AGENT_PART) &&
      !samePath(pathNamed(name), AGENT_KIND) &&
      !(name in written),
  );
  const entries = heldEntries(observed).filter(
    (path) => !plan.changes.some((other) => samePath(other.path, path)),
  );
  const all = [...lost, ...entries.map(formatPath)];
  const listed = all.length === 0 ? '' : ` Lost with it: ${all.join(', ')}.`;
  return [
    {
      message: `The plan changes ${formatPath(AGENT_KIND)}, with which the service resets all of ${AGENT_PART.join('.')}.${listed}`,
      path: AGENT_KIND,
    },
  ];
}

/** The mcp servers that the service has, by the paths that plans have for them. */
function heldEntries({ values }: ObservedState): Path[] {
  const config = values['mcp_config'];
  return MCP_LISTS.flatMap((list) => {
    const entries = isRecord(config) ? entriesOf(config[list]) : [];
    const segments = segmentsIn(list, entries);
    return segments.map((segment) => ['mcp_config', list, segment]);
  });
}

function isUsual(name: string, { values, dialect }: ObservedState): boolean {
  return isEmpty(values[name]) || sameValue(values[name], dialect.fields.get(name)?.absent);
}

/** Whether the agent has become one of another kind between two observations: then nothing of it stays by itself. */
export function isReset(before: ObservedState, after: ObservedState): boolean {
  return (
    before.dialect.ofKind !== undefined &&
    !sameValue(kindsOf(before)(AGENT_KIND), kindsOf(after)(AGENT_KIND))
  );
}
