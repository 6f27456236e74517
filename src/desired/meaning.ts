import type { Meaning, ReferenceForm, StoreReport } from '../model/explain.ts';
import { fieldNamed } from '../model/field.ts';
import type { FieldPath } from './field-path.ts';
import { placeOf, type Place } from './reference-place.ts';
import { expectationAt, type Expectation } from './schema-lookup.ts';

/** What the schema says of a place, and, for a field of the settings, what the store does with it. */
export function meaningOf({ schemaPath }: FieldPath): Meaning {
  const expected = expectationAt(schemaPath);
  const { types, values, minimum, maximum, secret, fallback } = expected;
  const store = storeReport(schemaPath);
  const standard = fallback === undefined && store !== null ? null : fallback;
  return {
    description: descriptionAt(schemaPath, expected),
    types: types.filter((type) => type !== 'null'),
    values,
    minimum,
    maximum,
    nullable: types.includes('null'),
    secret,
    reference: formAt(schemaPath, expected),
    ...(standard === undefined ? {} : { default: standard }),
    store,
  };
}

/** An mcp entry has no words of its own: those of its list say what it is. */
function descriptionAt(schemaPath: readonly string[], { description }: Expectation): string {
  const isEntry = schemaPath.length === 4 && schemaPath[1] === 'mcp_config';
  return isEntry ? expectationAt(schemaPath.slice(0, -1)).description : description;
}

const FORMS: Readonly<Record<Place, ReferenceForm>> = {
  secret: 'whole',
  typed: 'whole',
  text: 'inside',
  pairs: 'inside',
  words: 'inside',
  plain: 'none',
};

/** References stand where single values do; a map or list takes them in what it holds. */
function formAt(schemaPath: readonly string[], { types, secret }: Expectation): ReferenceForm {
  if (secret) return 'whole';
  const single = types.some((type) => type !== 'object' && type !== 'array' && type !== 'null');
  return single ? FORMS[placeOf(schemaPath)] : 'none';
}

function storeReport([block, name = '', ...rest]: readonly string[]): StoreReport | null {
  const field = block === 'settings' && rest.length === 0 ? fieldNamed(name) : undefined;
  if (field === undefined) return null;
  return {
    on_null: field.onNull,
    clear_with: field.clearWith,
    readable: field.readable,
    set_flag: field.setFlag,
    later: field.later,
  };
}
