import type { Json, JsonObject } from '../json/json.ts';
import { checkObject } from '../validation/object-rule.ts';
import { settingsFields } from './settings-fields.ts';
import { bad, type Location, type Verdict } from '../validation/verdict.ts';

/**
 * The body of a store as normalised values of every field, or all that is wrong with it, in the order of the fields.
 * Source: specification 4.2; contract "a list as body", "unknown top-level field", "a refused store changes nothing".
 */
export function validateSettings(body: Json): Verdict<JsonObject> {
  const at: Location = ['body'];
  if (body === null) return bad('missing', at, 'Field required', null);
  return checkObject(settingsFields, 'ignored', body, at);
}
