/**
 * A JSON value as the real server holds it: a number written without a fraction or an exponent is a bigint of any size,
 * every other number is a number. The two stay apart on the way in, in the store and on the way out.
 */
export type Json = null | boolean | string | bigint | number | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

export function isJsonObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isJsonList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** The member of that name, or undefined where the object has none of its own. */
export function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
