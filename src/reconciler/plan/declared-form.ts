import type { Plan } from '../model/plan.ts';
import type { Digests } from '../model/ports.ts';
import { Secret } from '../model/secret.ts';
import type { DesiredState } from '../model/state.ts';
import { isList, isRecord, WireNumber, type Value } from '../model/value.ts';

/**
 * The digest of what the file declares for each change, in their order: literals that documents mask among it, and every reference as it is
 * written, in its place. No value of a reference and nothing that only the service has goes into one.
 */
export function declaredDigests(
  plan: Plan,
  desired: DesiredState,
  { quick }: Pick<Digests, 'quick'>,
): string[] {
  const digest = (form: unknown): string => quick(JSON.stringify(form));
  return plan.flatMap((part) => {
    const terms = part.resource.terms(part, desired, quick);
    return part.changes.map(({ resource, path }, index) => digest([resource, path, terms[index]]));
  });
}

/** The digest of one literal of the file. */
export function literalDigest(text: string, { quick }: Pick<Digests, 'quick'>): string {
  return quick(JSON.stringify(['literal', text]));
}

/** A declared value with references in place of their values, keys in order. */
export function formOf(value: Value, quick: Digests['quick']): unknown {
  if (value instanceof Secret)
    return value.ref === null
      ? { literal: value.compareWith((text) => literalDigest(text, { quick })) }
      : { reference: value.ref };
  if (value instanceof WireNumber) return { number: value.toJSON() };
  if (isList(value)) return value.map((item) => formOf(item, quick));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return { members: members.map(([key, member]) => [key, formOf(member, quick)]) };
}
