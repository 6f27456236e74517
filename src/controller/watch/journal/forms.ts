/** Whether a value is what is read of it. A later version may have written a word or a form that this one does not know. */
export type Form = (value: unknown) => boolean;

export const text: Form = (value) => typeof value === 'string';
export const flag: Form = (value) => typeof value === 'boolean';
export const count: Form = (value) => Number.isFinite(value);
export const time: Form = (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
export const there: Form = (value) => value !== undefined;
export function list(form: Form): Form {
  return (value) => Array.isArray(value) && value.every(form);
}
export function orNull(form: Form): Form {
  return (value) => value === null || form(value);
}
export function mapOf(form: Form): Form {
  return (value) => members({})(value) && Object.values(value as object).every(form);
}
export function orAbsent(form: Form): Form {
  return (value) => value === undefined || form(value);
}
export const members =
  (forms: Readonly<Record<string, Form>>): Form =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(forms).every(([name, form]) => form((value as Record<string, unknown>)[name]));
export function oneOf(words: readonly string[]): Form {
  return (value) => words.includes(value as string);
}
/** Of a closed list of words: each must be named. */
export const word = <W extends string>(words: Readonly<Record<W, 1>>): Form =>
  oneOf(Object.keys(words));
