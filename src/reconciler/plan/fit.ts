import type { Dialect, DialectField } from '../model/dialect.ts';
import { SetpointError } from '../model/error.ts';
import { fieldNamed } from '../model/field.ts';
import { factsAt } from '../model/path-facts.ts';
import { formatPath, isUnmanaged, type Path } from '../model/path.ts';
import type { SettingsWrite } from '../model/plan.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredField, DesiredState, ObservedState } from '../model/state.ts';
import {
  isEmpty,
  isList,
  isRecord,
  recordOf,
  secretsIn,
  textFits,
  type Value,
} from '../model/value.ts';
import { pointerMisfits } from './active-profile.ts';
import { mcpMisfits } from './fit-mcp.ts';
import { lackingKind, schemaMisfits } from './fit-schema.ts';
import { dialectAfter } from './reset-agent.ts';

/**
 * Why a service cannot hold what the file declares: every field that it does not have, or whose value it would refuse or store as
 * something that it cannot read again. Null if it can. A field that the file lists as unmanaged is not judged.
 */
export function misfit(
  desired: DesiredState,
  dialect: Dialect,
  observed: ObservedState | null = null,
): SetpointError | null {
  const problems: string[] = [];
  for (const declared of desired.fields) {
    if (isUnmanaged(desired.unmanaged, declared.field.path)) continue;
    const problem =
      tableMisfit(declared, dialect) ?? (observed && kindMisfit(declared, desired, observed));
    if (problem !== null) problems.push(problem);
    problems.push(...unstorableIn(declared, dialect));
  }
  problems.push(...mcpMisfits(desired, dialect));
  if (observed !== null)
    problems.push(...schemaMisfits(desired, observed), ...pointerMisfits(desired, observed));
  if (desired.sandboxes.length > 0 && !dialect.sandboxes) problems.push(NO_SANDBOXES);
  if (problems.length === 0) return null;
  const message = `This service speaks ${dialect.name}, and nothing was sent to it. ${problems.join(' ')}`;
  return new SetpointError('unfit-for-service', message);
}

/**
 * Throws if the write of a plan must not be sent: what is wrong of it as a whole is known before. What is not known here, a reference
 * without a value, is taken to be fine; and a snapshot's masks are setpoint's own.
 */
export function requireWritable(write: SettingsWrite | null): void {
  if (write === null || write.observed.saved === true) return;
  const fields = Object.entries(write.fields).flatMap(([name, value]): [string, Value][] => {
    if (!secretsIn(value).some((secret) => secret instanceof UnseenSecret)) return [[name, value]];
    return name === 'mcp_config' ? [[name, withoutUnseen(value)]] : [];
  });
  const problem = write.observed.unwritable?.({ ...write, fields: recordOf(fields) }) ?? null;
  if (problem === null) return;
  const message = `This service speaks ${write.observed.dialect.name}, and nothing was sent to it: ${problem}.`;
  throw new SetpointError('unfit-for-service', message);
}

function withoutUnseen(value: Value): Value {
  if (value instanceof UnseenSecret) return new Secret('not known here');
  if (isList(value)) return value.map(withoutUnseen);
  if (!isRecord(value)) return value;
  return recordOf(Object.entries(value).map(([key, one]) => [key, withoutUnseen(one)]));
}

/** Throws the misfit, if there is one. */
export function requireFit(desired: DesiredState, observed: ObservedState): void {
  const unfit = misfit(desired, dialectAfter(desired, observed), observed);
  if (unfit !== null) throw unfit;
}

const NO_SANDBOXES =
  'It has no sandboxes: settings-v0 and app-server have them. Declare sandboxes only in environments with such a service.';

/** That a field is in a part of which only another kind has it. */
function kindMisfit(
  { field, value }: DesiredField,
  desired: DesiredState,
  observed: ObservedState,
): string | null {
  if (fieldNamed(field.name) === undefined || value === null) return null;
  const lacks = lackingKind(field.place, desired, observed);
  return lacks === null ? null : `It has no ${field.name} while ${lacks}.`;
}

/** The secrets of a value that these services would not keep: each by its path. */
function unstorableIn({ field, value }: DesiredField, { unstorable }: Dialect): readonly string[] {
  if (unstorable === undefined) return NONE;
  const secrets = textsIn(value, field.path).filter(
    ({ path }) => field.secret || factsAt(path).secret,
  );
  return unstorable.flatMap(({ form, because }) =>
    secrets
      .filter(({ text }) => matches(form, text))
      .map(({ path }) => `${formatPath(path)} cannot be stored there: ${because}.`),
  );
}

const NONE: readonly string[] = [];

interface Text {
  readonly path: Path;
  readonly text: string | Secret;
}

function textsIn(value: Value, path: Path): Text[] {
  if (value instanceof UnseenSecret) return [];
  if (typeof value === 'string' || value instanceof Secret) return [{ path, text: value }];
  if (isList(value)) return value.flatMap((item, index) => textsIn(item, [...path, String(index)]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => textsIn(member, [...path, key]));
}

function matches(form: RegExp, text: string | Secret): boolean {
  return textFits(text, (value) => form.test(value));
}

/** What the table of a dialect says against a field that the specification names. */
function tableMisfit({ field: { name }, value }: DesiredField, dialect: Dialect): string | null {
  if (fieldNamed(name) === undefined) return null;
  const field = dialect.fields.get(name);
  if (field === undefined) {
    const elsewhere = dialect.lacks.get(name);
    return `It has no ${name}${elsewhere === undefined ? '' : `: ${elsewhere}`}.`;
  }
  if (value === null)
    return field.onNull === 'refuses' ? `${name} cannot be null there: it is always set.` : null;
  return unacceptable(field, value);
}

function unacceptable({ name, accepts, clearWith }: DialectField, value: Value): string | null {
  if (accepts === undefined || value instanceof UnseenSecret) return null;
  if ('least' in accepts)
    return isBelow(accepts.least, value)
      ? `${name} must be at least ${accepts.least} there.`
      : null;
  if ('filled' in accepts)
    return isEmpty(value) ? `${name} cannot be empty there: it is always set.` : null;
  const words = clearWith === null ? accepts.oneOf : [...accepts.oneOf, clearWith];
  return isOneOf(words, value)
    ? null
    : `${name} must be ${words.map((word) => JSON.stringify(word)).join(' or ')} there, or null.`;
}

function isBelow(least: number, value: Value): boolean {
  if (!(value instanceof Secret)) return Number(value) < least;
  return value.fits((text) => Number(text) < least);
}

function isOneOf(words: readonly string[], value: Value): boolean {
  return textFits(value, (text) => words.includes(text));
}
