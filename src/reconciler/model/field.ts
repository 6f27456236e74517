import { FIELDS } from './fields.gen.ts';
import { formatPath, pathKey, type Path } from './path.ts';

export type FieldName = (typeof FIELDS)[number]['name'];

/** What planning needs of a field, be it one of the specification or a native one. */
interface FieldFacts {
  /** Where it is under `settings`. */
  readonly path: Path;
  readonly nullable: boolean;
  readonly default: boolean | null;
  /** Cannot be read back; posted only when the plan lists it. */
  readonly secret: boolean;
  /** The member of the answer that reports whether a secret is stored. */
  readonly setFlag: string | null;
  /** What the store does with null: it clears, keeps the value it has, or refuses. */
  readonly onNull: 'clears' | 'keeps' | 'refuses';
  /** What clears a field that null does not clear. */
  readonly clearWith: '' | null;
  readonly readable: boolean;
  readonly later: boolean;
}

/** A field of the specification, as the annotations of schemas/settings.schema.json have it. */
export interface Field extends FieldFacts {
  readonly name: FieldName;
  readonly isNative: false;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'object';
  /** Its place in the nesting of later servers; null if they have none for it. */
  readonly native: Path | null;
}

/** A place in the nesting of later servers that no field of the specification has. */
export interface NativeField extends FieldFacts {
  /** Its path as people write it, which plans call it by. */
  readonly name: string;
  readonly isNative: true;
  readonly type: 'any';
}

export type AnyField = Field | NativeField;

const SPECIFIED: readonly Field[] = FIELDS.map((field) => ({
  ...field,
  path: [field.name],
  isNative: false,
  native: field.native === null ? null : field.native.split('.'),
}));

const BY_NAME: ReadonlyMap<string, Field> = new Map(SPECIFIED.map((field) => [field.name, field]));

/** The field of the specification that has a name. */
export function fieldNamed(name: string): Field | undefined {
  return BY_NAME.get(name);
}

/** The fields of the specification in its order. */
export function fields(): readonly Field[] {
  return SPECIFIED;
}

const BY_PLACE: ReadonlyMap<string, Field> = new Map(
  SPECIFIED.flatMap((field) => (field.native === null ? [] : [[pathKey(field.native), field]])),
);

/** The field of the specification that a native path means: there is one name in plans for both. */
export function fieldAtNative(path: Path): Field | undefined {
  return BY_PLACE.get(pathKey(path));
}

export function nativeField(path: Path, secret: boolean): NativeField {
  return {
    name: formatPath(path),
    path,
    isNative: true,
    type: 'any',
    nullable: true,
    default: null,
    secret,
    setFlag: null,
    onNull: 'clears',
    clearWith: null,
    readable: !secret,
    later: false,
  };
}
