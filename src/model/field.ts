import { FIELDS } from './fields.gen.ts';

export type FieldName = (typeof FIELDS)[number]['name'];

/**
 * What is known of one field of the Settings resource; made from the annotations of schemas/settings.schema.json.
 * - `secret`: cannot be read back; posted only when the plan lists it.
 * - `setFlag`: the member of the answer that reports whether a secret is stored.
 * - `onNull`: what the store does with null: it clears, keeps the value it has, or refuses.
 * - `clearWith`: what clears a field that null does not clear.
 */
export interface Field {
  readonly name: FieldName;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'object';
  readonly nullable: boolean;
  readonly default: boolean | null;
  readonly secret: boolean;
  readonly setFlag: string | null;
  readonly onNull: 'clears' | 'keeps' | 'refuses';
  readonly clearWith: '' | null;
  readonly readable: boolean;
  readonly later: boolean;
}

const BY_NAME: ReadonlyMap<string, Field> = new Map(
  FIELDS.map((field: Field) => [field.name, field]),
);

export function fieldNamed(name: string): Field | undefined {
  return BY_NAME.get(name);
}

/** The fields in the order of the specification. */
export function fields(): readonly Field[] {
  return FIELDS;
}
