import type { Meaning, StoreReport } from '../model/explain.ts';
import { TYPE_NOUNS } from '../model/type-nouns.ts';
import { visible } from './visible.ts';

/** What a place means, takes and does when it is left out or null, a line each. */
export function meaningText(meaning: Meaning): string[] {
  const { description, store } = meaning;
  return [
    ...(description === '' ? [] : [`  ${visible(description)}`, '']),
    `  type     ${typeText(meaning)}`,
    ...(meaning.default === undefined ? [] : [`  default  ${defaultText(meaning.default)}`]),
    ...(store === null ? [] : [`  null     ${nullText(store)}`]),
    ...(store === null || store.readable ? [] : [`  reading  ${readingText(store)}`]),
  ];
}

function typeText(meaning: Meaning): string {
  const { types, values, nullable, secret, reference } = meaning;
  const orNull = nullable ? ', or null' : '';
  if (secret) return `a secret: one reference, \${env:NAME} or \${file:PATH}${orNull}`;
  const nouns = types.map((type) => (TYPE_NOUNS[type] ?? type) + limits(type, meaning));
  return `${either(values.length > 0 ? values : nouns)}${orNull}${FORMS[reference]}`;
}

const FORMS: Readonly<Record<Meaning['reference'], string>> = {
  whole: ', or one reference in its place',
  inside: '; references may be inside',
  none: '',
};

function limits(type: string, { minimum, maximum }: Meaning): string {
  if (type !== 'integer' || minimum === null) return '';
  return maximum === null ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`;
}

function either(choices: readonly string[]): string {
  return choices.length < 2
    ? (choices[0] ?? 'anything')
    : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

function defaultText(value: NonNullable<Meaning['default']> | null): string {
  return value === null ? 'null (not set)' : visible(JSON.stringify(value));
}

function nullText({ on_null, clear_with }: StoreReport): string {
  switch (on_null) {
    case 'clears':
      return 'clears it';
    case 'refuses':
      return 'is refused by the service';
    case 'keeps':
      return clear_with === null
        ? 'not possible: the service keeps the value it has'
        : 'clears it: empty text is sent, because on null the service keeps what it has';
  }
}

function readingText({ set_flag }: StoreReport): string {
  return set_flag === null
    ? 'the service does not show it'
    : `the service does not show it; ${set_flag} says whether one is stored`;
}
