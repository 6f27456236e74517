import { usageError } from '../../reconciler/model/error.ts';
import type { Json } from '../../reconciler/model/value.ts';

/** A JSON Schema of the arguments of a tool. */
export interface ArgumentsSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ArgumentSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties: false;
}

interface ArgumentSchema {
  readonly type?: 'string' | 'boolean' | 'array' | 'integer';
  readonly items?: { readonly type: 'string' };
  readonly enum?: readonly string[];
  readonly description: string;
}

/** The arguments of a call, checked by the schema of its tool. */
export class Arguments {
  readonly #values: Readonly<Record<string, unknown>>;

  /** Throws usage if they do not fit the schema. No message contains a value: it may be a secret. */
  constructor(values: Readonly<Record<string, unknown>>, schema: ArgumentsSchema) {
    const { properties, required = [] } = schema;
    if (Object.keys(values).some((name) => !Object.hasOwn(properties, name)))
      throw usageError(
        'The tool does not take one of these arguments.',
        `It takes ${Object.keys(properties).join(', ')}.`,
      );
    for (const name of required)
      if (values[name] === undefined) throw usageError(`The argument ${name} is missing.`);
    for (const [name, value] of Object.entries(values)) {
      const wanted = properties[name] as ArgumentSchema;
      if (isTooDeep(value)) throw usageError(`The argument ${name} has too many levels.`);
      if (!isOfType(value, wanted))
        throw usageError(`The argument ${name} is not valid.`, `It is ${describe(wanted)}.`);
    }
    this.#values = values;
  }

  text(name: string): string | undefined {
    return this.#values[name] as string | undefined;
  }

  texts(name: string): readonly string[] | undefined {
    return this.#values[name] as readonly string[] | undefined;
  }

  isTrue(name: string): boolean {
    return this.#values[name] === true;
  }

  json(name: string): Json | undefined {
    return this.#values[name] as Json | undefined;
  }
}

/** More than any settings file has, and few enough for every reader of a value. */
const MOST_LEVELS = 64;

function isTooDeep(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isTooDeep(inner, levels - 1));
}

function isOfType(value: unknown, { type, enum: words }: ArgumentSchema): boolean {
  if (words !== undefined) return typeof value === 'string' && words.includes(value);
  if (type === undefined) return true;
  if (type === 'array')
    return Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (type === 'integer') return Number.isSafeInteger(value);
  return typeof value === type;
}

function describe({ type, enum: words }: ArgumentSchema): string {
  if (words !== undefined) return `one of ${words.join(', ')}`;
  return type === 'array' ? 'a list of strings' : `of the type ${type}`;
}
