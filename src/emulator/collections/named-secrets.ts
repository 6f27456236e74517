import { type Answer, createJsonAnswer } from '../http/answer.ts';
import { type JsonObject, readOwnMember } from '../json.ts';
import type { StoreContents } from '../store/store-document.ts';
import type { StoreUpdate } from '../store/store.ts';
import type { StoredSecret } from '../store/store-document.ts';
import { checkObject, type Member, type Rule } from '../rules.ts';
import { nullable, textRule } from '../rules.ts';
import type { AskedByPath } from './collection.ts';

export function secretNamed({ secrets }: StoreContents, name: string): StoredSecret | undefined {
  return secrets?.find((one) => one.name === name);
}

/** With a secret in the place of the one of its name, or at the end. */
export function withSecret(before: StoreContents, secret: StoredSecret): StoreContents {
  const secrets = before.secrets ?? [];
  const isThere = secretNamed(before, secret.name) !== undefined;
  return {
    ...before,
    secrets: isThere
      ? secrets.map((one) => (one.name === secret.name ? secret : one))
      : [...secrets, secret],
  };
}

export function withoutSecret(before: StoreContents, name: string): StoreContents {
  return { ...before, secrets: (before.secrets ?? []).filter((one) => one.name !== name) };
}

/** An answer that leaves the store unchanged. */
export function keepStore(before: StoreContents, answer: Answer): StoreUpdate<Answer> {
  return { contents: before, answer };
}

/** As settings-v0 and app-server list one. */
export function createSecretListing({ name, description }: StoredSecret): JsonObject {
  return { name, description: description ?? '' };
}

/** Returns the rule for a body. Unknown members are ignored. */
export function createSecretBodyRule(name: Rule, value: 'with value' | 'without value'): Rule {
  const members: readonly Member[] = [
    { name: 'name', rule: name },
    { name: 'description', rule: nullable(textRule), absent: null },
    ...(value === 'with value' ? [{ name: 'value', rule: textRule }] : []),
  ];
  return (body, at) => checkObject(members, 'ignored', body, at);
}

/** The members of a checked body. */
export function parseSentSecret(body: JsonObject) {
  const description = readOwnMember(body, 'description');
  return {
    name: bodyText(body, 'name'),
    value: bodyText(body, 'value'),
    description: typeof description === 'string' ? description : null,
  };
}

function bodyText(body: JsonObject, name: string): string {
  const value = readOwnMember(body, name);
  return typeof value === 'string' ? value : '';
}

/** The refusals of settings-v0 and app-server, each in its own words. */
export interface Refusals {
  readonly missing: (sentence: string) => Answer;
  readonly taken: (sentence: string) => Answer;
}

export const created = createJsonAnswer(201, { message: 'Secret created successfully' });
export const updated = createJsonAnswer(200, { message: 'Secret updated successfully' });
const deleted = createJsonAnswer(200, { message: 'Secret deleted successfully' });

/**
 * PUT of settings-v0 and app-server: another name, another description, the same value; it moves to the end. A description
 * that is left out is emptied. Source: contract "secrets: renamed by PUT, the value goes along", "secrets: renamed onto another".
 */
export function changeSecret(
  before: StoreContents,
  { id, body }: AskedByPath,
  refusals: Refusals,
): StoreUpdate<Answer> {
  const found = secretNamed(before, id);
  if (found === undefined) return keepStore(before, refusals.missing(noSuchSecret(id)));
  const { name, description } = parseSentSecret(body);
  if (name !== id && secretNamed(before, name) !== undefined)
    return keepStore(before, refusals.taken(describeNameConflict(name)));
  const changed = { name, token: found.token, description: description ?? '' };
  return { contents: withSecret(withoutSecret(before, id), changed), answer: updated };
}

/**
 * DELETE of settings-v0 and app-server, which is well while no secret was ever stored.
 * Source: contract "secrets: put and delete on an empty store".
 */
export function deleteSecret(
  before: StoreContents,
  { id }: AskedByPath,
  refusals: Refusals,
): StoreUpdate<Answer> {
  if (before.secrets === undefined) return keepStore(before, deleted);
  if (secretNamed(before, id) === undefined)
    return keepStore(before, refusals.missing(noSuchSecret(id)));
  return { contents: withoutSecret(before, id), answer: deleted };
}

export function describeNameConflict(name: string): string {
  return `Secret ${name} already exists`;
}

function noSuchSecret(name: string): string {
  return `Secret with ID ${name} not found`;
}
