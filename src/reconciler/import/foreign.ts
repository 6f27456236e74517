import { readableName } from '../desired/pipeline-variables.ts';

/** A text that names variables, as a settings file writes it: `https://${env:HOST}/mcp`. */
export class Template {
  readonly text: string;
  /** What of the text that it was made of is not in it; null if all is. */
  readonly lost: string | null;

  constructor(text: string, lost: string | null = null) {
    this.text = text;
    this.lost = lost;
  }
}

/** A text that a variable has: if a file must not hold it, it refers to that variable. */
export class Variable {
  readonly name: string;
  readonly text: string;

  constructor(name: string, text: string) {
    this.name = name;
    this.text = text;
  }
}

export type ForeignText = string | Template | Variable;
export type ForeignScalar = null | boolean | number | ForeignText;

/** A value of a file that is not setpoint's. */
export type Foreign = ForeignScalar | readonly Foreign[] | ForeignRecord;

/** Without a prototype, so that `__proto__` is a key like any other. */
export interface ForeignRecord {
  readonly [key: string]: Foreign;
}

export function isForeignRecord(value: Foreign | undefined): value is ForeignRecord {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !isForeignText(value)
  );
}

export function isForeignList(value: Foreign | undefined): value is readonly Foreign[] {
  return Array.isArray(value);
}

/** A reference to the variable of a name, or of one that a settings file can read. */
export function createVariableTemplate(name: string): Template {
  return new Template(`\${env:${readableName(name)}}`);
}

/** Reports whether a value is text, with references or without. */
export function isForeignText(value: Foreign | undefined): value is ForeignText {
  return typeof value === 'string' || value instanceof Template || value instanceof Variable;
}

export function readForeignText(value: ForeignText): string {
  return typeof value === 'string' ? value : value.text;
}

export function foreignRecord(entries: Iterable<readonly [string, Foreign]>): ForeignRecord {
  const record: Record<string, Foreign> = Object.fromEntries(entries);
  Object.setPrototypeOf(record, null);
  return record;
}

/** The name that a record has; null if it has none. */
export function readObjectName(value: Foreign): string | null {
  const name = isForeignRecord(value) ? value['name'] : undefined;
  return typeof name === 'string' && name !== '' ? name : null;
}

/** Reports whether there is nothing to take: templates of such files list everything, empty. */
export function isNothing(value: Foreign | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (value instanceof Variable) return value.text === '';
  if (isForeignList(value)) return value.length === 0;
  return isForeignRecord(value) && Object.keys(value).length === 0;
}

/** Every text of a value, with the keys that lead to it. */
export function* listForeignTexts(
  value: Foreign,
  path: readonly string[] = [],
): Generator<readonly [path: readonly string[], text: string]> {
  if (typeof value === 'string') yield [path, value];
  else if (typeof value === 'number') yield [path, String(value)];
  else if (value instanceof Variable) yield [path, value.text];
  else if (value instanceof Template) yield [path, value.text];
  else if (isForeignList(value)) for (const one of value) yield* textsOfItem(one, path);
  else if (isForeignRecord(value))
    for (const [key, one] of Object.entries(value)) yield* listForeignTexts(one, [...path, key]);
}

/** Those of an item of a list: what is `NAME=value`, or has a name and a value, is the value of that name. */
function* textsOfItem(
  item: Foreign,
  path: readonly string[],
): Generator<readonly [path: readonly string[], text: string]> {
  const [, name, text] =
    typeof item === 'string' ? (/^([A-Za-z_]\w*)=(.*)$/s.exec(item) ?? []) : [];
  if (name !== undefined && text !== undefined) yield [[...path, name], text];
  else {
    const own = readObjectName(item);
    // The name of a variable is no value of it.
    const { name: _, ...rest } = isForeignRecord(item) ? item : {};
    if (own === null) yield* listForeignTexts(item, path);
    else yield* listForeignTexts(foreignRecord(Object.entries(rest)), [...path, own]);
  }
}
