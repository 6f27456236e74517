import { FIELDS } from './fields.gen.ts';

export type FieldName = (typeof FIELDS)[number]['name'];

/**
 * What is known of one field of the Settings resource; made from the annotations of schemas/settings.schema.json.
 * - `secret`: cannot be read back; posted only when the plan lists it.
 * - `setFlag`: the field of the answer that tells whether a secret is stored.
 * - `onNull`: what the store does with null: it clears, keeps the value it has, or refuses.
 * - `clearWith`: what does clear a field whose store keeps it on null.
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

const FLAGS: ReadonlySet<string> = new Set([
  'provider_tokens_set',
  ...FIELDS.flatMap(({ setFlag }: Field) => setFlag ?? []),
]);

/**
 * Whether a member of an answer is no field but a flag, which is never sent back: one of the dialect, or another boolean
 * whose name ends in `_set`. Any other value under such a name is a field of a later version.
 */
export function isFlag(name: string, value: unknown): boolean {
  return FLAGS.has(name) || (name.endsWith('_set') && typeof value === 'boolean');
}

/** A value that is not a secret but stands for one: a mask that a service or a form once showed. */
export function looksLikeMask(text: string): boolean {
  const core = text.trim();
  return (
    /^[*•●·#.xX-]{3,}$/.test(core) ||
    /^(masked|redacted)$/i.test(core) ||
    /^[([<{]+\s*(masked|redacted|hidden|filtered|secret|sensitive( value)?)\s*[)\]>}]+$/i.test(core)
  );
}

const MASK_CHARACTERS = /[*•●∗＊█]{3,}/u;
const CROSSES = /(?:^|[=:/?&[(<{"'])[xX]{3,}(?:$|[&\])>}"'])/;
const MASKED = /[^\w\s](?:masked|redacted)(?:[^\w\s]|$)/i;
const HIDDEN = /[^\w\s](?:hidden|filtered)[^\w\s]|[?&][^=&]*=(?:hidden|filtered)$/i;
const HIDDEN_IN_CAPITALS = /[=:](?:HIDDEN|FILTERED)$/;
const MASKS = [MASK_CHARACTERS, CROSSES, MASKED, HIDDEN, HIDDEN_IN_CAPITALS];

/**
 * Whether a text that a service answered is a mask or holds one: three or more mask characters, or masked, redacted, hidden or
 * filtered between punctuation, in a value, an argument or a query. Sent back, it would be stored in place of the secret.
 */
export function holdsMaskText(text: string): boolean {
  const plain = text.replaceAll(/%(?:2A|28|29|3C|3E|5B|5D)/gi, decodeURIComponent);
  return looksLikeMask(plain) || MASKS.some((mask) => mask.test(plain));
}

/** Whether a name, an address or a command is a mask as a whole; one of crosses or dots may be a name. */
export function isMaskedName(text: string): boolean {
  return looksLikeMask(text) && !/^[\w.#-]+$/.test(text.trim());
}
