import { isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';

/** A custom secret; its value is a token of the service's vault. */
export interface StoredSecret {
  readonly name: string;
  readonly token: string;
  readonly description: string | null;
}

export function writeStoredSecret({ name, token, description }: StoredSecret): JsonObject {
  return { name, value: token, description };
}

/** The secret in a store's text, or undefined if the value is not one. */
export function readStoredSecret(value: Json): StoredSecret | undefined {
  if (!isJsonObject(value)) return undefined;
  const name = memberOf(value, 'name');
  const token = memberOf(value, 'value');
  const description = memberOf(value, 'description');
  if (typeof name !== 'string' || typeof token !== 'string') return undefined;
  if (description !== null && typeof description !== 'string') return undefined;
  return { name, token, description };
}
