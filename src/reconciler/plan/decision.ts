import { holdsMask, isMaskedSecret } from '../model/secret-words.ts';
import type { Path, Source } from '../model/path.ts';
import type { Change, Unknown } from '../model/plan.ts';
import type { Action, SettingsAction } from '../model/action.ts';
import type { Fingerprints } from '../model/ports.ts';
import { membersDiffer, REASONS, type Reason } from '../model/reasons.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import {
  collectSecrets,
  holdsNothing,
  isEmpty,
  isList,
  isRecord,
  sameValue,
  textFits,
  type Value,
} from '../model/value.ts';

/* Decides for every declared value whether it is set, changed, rotated or cannot be compared, and in which words. */

/** The references in a value, as the file writes them; null if there are none. */
export function formatReferences(value: Value): string | null {
  const refs = collectSecrets(value).flatMap((secret) => secret.ref ?? []);
  return refs.length === 0 ? null : [...new Set(refs)].join(', ');
}

/** The place of a change, and what declares it. */
export interface Subject extends Pick<Change, 'resource' | 'path' | 'source'> {
  /** True of a value that is masked whatever it is. */
  readonly isSensitive?: boolean;
}

/** The subject of a change of the settings. */
export function createSettingsSubject(path: Path, source: Source | null): Subject {
  return { resource: 'settings', path, source };
}

export function createChange(
  { isSensitive = false, ...subject }: Subject,
  action: Action,
  before: Value,
  after: Value,
  reason: Reason,
): Change {
  const sensitive =
    isSensitive || [before, after].some((value) => collectSecrets(value).length > 0);
  return { ...subject, action, before, after, sensitive, ref: formatReferences(after), ...reason };
}

/** The change of a part that is there and differs in some members, or that is only sent again. */
export function createPartChange(
  subject: Subject,
  before: Value,
  after: Value,
  differing: readonly string[],
): Change {
  return differing.length === 0
    ? createChange(subject, 'rotate', before, after, REASONS['entry-rotated'])
    : createChange(subject, 'change', before, after, membersDiffer(differing));
}

/** The reasons that a plan gives for each kind of change of a value that the service shows. */
export const REASONS_OF_ACTIONS: Readonly<Record<SettingsAction, Reason>> = {
  set: REASONS['not-set'],
  change: REASONS.differs,
  clear: REASONS.cleared,
  remove: REASONS.undeclared,
  rotate: REASONS.rotated,
};

/** A value that a service stores and does not show. */
export const HIDDEN = new UnseenSecret();

/** Compares a declared secret with the one that was last written from here. */
export function compareWithLastWrite(
  fingerprints: Fingerprints,
  path: Path,
  value: Value,
): ReturnType<Fingerprints['compare']> {
  if (!(value instanceof Secret) || value instanceof UnseenSecret) return 'none';
  return value.compareWith((text) => fingerprints.compare(path, text));
}

/** A declared secret, and what is known of the stored one. */
export interface SecretFacts {
  readonly value: Value;
  /** The stored value: `UnseenSecret` if there is one and nothing shows it, null if there is none; undefined if nothing reports it. */
  readonly held: Value | undefined;
  readonly last: ReturnType<Fingerprints['compare']>;
  readonly isRotated: boolean;
  /** The reasons for one that is not stored, and for one that the service shows and that differs. */
  readonly words: { readonly unset: Reason; readonly differs: Reason };
  /** What plans have of the stored one, if it is not what is held. */
  readonly before?: Value;
  /** Why the value is unknown here: its reference has none. */
  readonly unseen?: Unknown;
  /** Why it is sent in any case. */
  readonly again?: Reason | null;
  /** Why it is sent if nothing is known of the stored one. */
  readonly resent?: Reason | null;
  /** Adds the way on which a hidden one is replaced. */
  readonly via?: (reason: Reason) => Reason;
  /** True if no service reports this secret: then no plan mentions that it cannot be compared. */
  readonly isSilent?: boolean;
}

/** What the plan of one value adds to a plan. */
export interface ValuePlan {
  readonly changes?: readonly Change[];
  readonly unknown?: readonly Unknown[];
}

/** Plans a secret. The service may report that one is stored, and the fingerprint shows whether it is the one last written from here. */
export function planSecret(subject: Subject, facts: SecretFacts): ValuePlan {
  const { value, held, last, words, unseen, again = null, resent = null } = facts;
  const { before = held ?? HIDDEN } = facts;
  const isShown = held instanceof Secret && !(held instanceof UnseenSecret);
  const change = (action: Action, reason: Reason): ValuePlan => ({
    changes: [createChange(subject, action, action === 'set' ? null : before, value, reason)],
  });
  const missing = unseen === undefined ? {} : { unknown: [unseen] };
  if (held === null)
    return isEmpty(value) && !(value instanceof Secret)
      ? {}
      : { ...change('set', words.unset), ...missing };
  if (unseen !== undefined) return missing;
  const unknown = (reason: string): ValuePlan => ({
    unknown: [{ path: subject.path, reason, ref: formatReferences(value), kind: 'stored' }],
  });
  if (held === undefined) {
    const { reason } = REASONS['not-shown'];
    if (facts.isRotated) return change(value === null ? 'clear' : 'rotate', REASONS['not-shown']);
    if (last === 'different') return change('rotate', REASONS['changed-since']);
    return last === 'same' || facts.isSilent === true ? {} : unknown(reason);
  }
  if (!(value instanceof Secret)) return change('clear', REASONS.cleared);
  if (isShown && !sameValue(held, value)) return change('change', words.differs);
  const changed = last === 'different' ? REASONS['changed-since'] : null;
  const rotated = facts.isRotated ? REASONS.rotated : null;
  if (isShown) return rotated === null ? {} : change('rotate', rotated);
  const why = again ?? changed ?? rotated ?? (last === 'none' ? resent : null);
  if (why !== null) return change('rotate', facts.via?.(why) ?? why);
  return last === 'same' ? {} : unknown('set; the service does not show this value');
}

/** Plans a value that is no secret and that the service does not show, by the secret that was last sent with it. */
export function planHidden(
  subject: Subject,
  {
    before = null,
    value,
    last,
    isRotated,
  }: Pick<SecretFacts, 'before' | 'value' | 'last' | 'isRotated'>,
): ValuePlan {
  const reason = isRotated ? REASONS.rotated : REASONS['changed-elsewhere'];
  if (isRotated || last === 'different') {
    const action = isRotated ? 'rotate' : 'change';
    return { changes: [createChange(subject, action, before, value, reason)] };
  }
  if (last === 'same' || isEmpty(value)) return {};
  const unknown = { path: subject.path, reason: 'set; the service does not show which one' };
  return { unknown: [{ ...unknown, ref: formatReferences(value) }] };
}

/** Lists what cannot be compared: references without a value, and values that the service or a snapshot masks. */
export function collectUnknowns(path: Path, value: Value, actual: Value): readonly Unknown[] {
  const missing = listMissingReferences(path, value);
  if (missing.length > 0) return missing;
  const isWithheld = collectSecrets(value).some((secret) => secret instanceof UnseenSecret);
  if (!isWithheld && !holdsMask(actual)) return [];
  return [createMasked(path, value, isWithheld ? {} : { kind: 'stored' })];
}

/** The unknown of a value that a snapshot or the service masks. */
export function createMasked(path: Path, value: Value, kind: Pick<Unknown, 'kind'>): Unknown {
  return { path, reason: MASKED, ref: formatReferences(value), ...kind };
}

export const MASKED = 'masked, cannot be compared';

/** The rules by which an answer hides values. If it masks any, a null may hide a secret too. */
export interface Concealment {
  readonly nulls: boolean;
  /** The reason that a mask cannot be compared, and its kind of unknown. */
  readonly reason: string;
  readonly kind?: Unknown['kind'];
}

/** `differs`, or what of the value cannot be compared: nothing if the two are the same. */
export function compareValue(
  path: Path,
  declared: Value,
  actual: Value,
  hiding: Concealment,
): 'differs' | readonly Unknown[] {
  if (isSameMember(declared, actual) && !isNullThatHides(path, actual, hiding)) return [];
  if (declared instanceof UnseenSecret) return compareUnseen(path, declared, actual, hiding);
  if (actual instanceof UnseenSecret || isMaskedSecret(actual)) {
    // A mask means that there is a value, and an empty one is declared.
    return isEmpty(declared) ? 'differs' : [findHiddenReason(path, declared, hiding)];
  }
  if (isNullThatHides(path, actual, hiding) || isMaskedList(declared, actual))
    return [findHiddenReason(path, declared, hiding)];
  const isNested = (isList(declared) && isList(actual)) || (isRecord(declared) && isRecord(actual));
  return isNested ? compareMembers(path, declared, actual, hiding) : 'differs';
}

function compareUnseen(
  path: Path,
  declared: UnseenSecret,
  actual: Value,
  hiding: Concealment,
): 'differs' | readonly Unknown[] {
  const unknown = [findUnseenReason(path, declared)];
  if (
    isNullThatHides(path, actual, hiding) ||
    isMaskedSecret(actual) ||
    actual instanceof UnseenSecret
  )
    return unknown;
  // A reference is never empty, and its text fits what is written around it.
  if (isEmpty(actual)) return 'differs';
  const isText = typeof actual === 'string' || actual instanceof Secret;
  return isText && !textFits(actual, (text) => declared.mayBe(text)) ? 'differs' : unknown;
}

/** The members of two lists, or of two maps. */
function compareMembers(
  path: Path,
  declared: Value,
  actual: Value,
  hiding: Concealment,
): 'differs' | readonly Unknown[] {
  // A service does not store what is empty in an authentication.
  const isCounted = ([, value]: [string, Value]): boolean =>
    path[0] !== 'auth' || isList(declared) || !holdsNothing(value);
  const entries = (value: Value): [string, Value][] => Object.entries(value ?? {});
  const found = new Map(entries(actual).filter(isCounted));
  const members = entries(declared).filter(isCounted);
  if (members.length !== found.size) return 'differs';
  const unknown: Unknown[] = [];
  for (const [name, value] of members) {
    const other = found.get(name);
    if (other === undefined) return 'differs';
    const compared = compareValue([...path, name], value, other, hiding);
    if (compared === 'differs') return compared;
    unknown.push(...compared);
  }
  return unknown;
}

/** Reports whether one mask replaces a whole list. */
function isMaskedList(declared: Value, actual: Value): boolean {
  const [only, ...more] = isList(actual) ? actual : [];
  const isFilled = isList(declared) && declared.length > 0;
  return isFilled && more.length === 0 && only !== undefined && isMaskedSecret(only);
}

/** null equals an empty list, an empty map and an empty text: the service reads them alike. */
function isSameMember(declared: Value, actual: Value): boolean {
  if (declared === null) return holdsNothing(actual);
  if (actual === null) return holdsNothing(declared);
  return (isEmpty(declared) && isEmpty(actual)) || sameValue(declared, actual);
}

/** Reports whether an empty value may hide a secret, because the service masks others. */
function isNullThatHides([member, variable]: Path, actual: Value, { nulls }: Concealment): boolean {
  const secret = member === 'api_key' || (member === 'env' && variable !== undefined);
  return nulls && secret && isEmpty(actual);
}

function findHiddenReason(path: Path, declared: Value, { reason, kind }: Concealment): Unknown {
  const ref = declared instanceof Secret ? declared.ref : null;
  return { path, reason, ref, ...(kind === undefined ? {} : { kind }) };
}

/** A value whose reference has none, or is not looked up for a snapshot. */
export function findUnseenReason(path: Path, { ref, unseen }: UnseenSecret): Unknown {
  const { reason, missing } = unseen;
  return { path, reason, ref, ...(missing === null ? {} : { kind: 'missing' }) };
}

/** The references without a value inside a declared value. */
export function listMissingReferences(path: Path, declared: Value): Unknown[] {
  if (declared instanceof UnseenSecret) {
    return declared.unseen.missing === null ? [] : [findUnseenReason(path, declared)];
  }
  if (isList(declared))
    return declared.flatMap((item, index) => listMissingReferences([...path, String(index)], item));
  if (!isRecord(declared)) return [];
  return Object.entries(declared).flatMap(([key, value]) =>
    listMissingReferences([...path, key], value),
  );
}
