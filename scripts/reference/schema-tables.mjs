import { code, prose, sentence, table } from './markdown.mjs';

/** The members of a map: name, type, default and what they mean. */
export function membersTable(node, schema) {
  const rows = Object.entries(node.properties).map(([name, property]) => {
    const member = resolved(property, schema);
    const required = node.required?.includes(name) ? ' (required)' : '';
    const described = prose(sentence(member.description ?? ''));
    return [`${code(name)}${required}`, typeWords(member, schema), defaultWord(member), described];
  });
  return table(['member', 'type', 'default', 'meaning'], rows);
}

export function resolved(property, schema) {
  if (property.$ref === undefined) return property;
  const { $ref, ...own } = property;
  return { ...schema.$defs[$ref.slice('#/$defs/'.length)], ...own };
}

export function defaultWord(property) {
  return property.default === undefined || property.default === null
    ? ''
    : code(JSON.stringify(property.default));
}

export function isSecret({ format }) {
  return format === 'password';
}

const WORDS = {
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  object: 'map',
  array: 'list',
};

/** The type in words. What a null does has a column of its own. */
export function typeWords(property, schema) {
  if (isSecret(property)) return 'one reference';
  if (property.const !== undefined) return code(JSON.stringify(property.const));
  if (property.enum !== undefined) return property.enum.map((value) => code(value)).join(' or ');
  const named = (property.anyOf ?? []).some((choice) => choice.enum !== undefined);
  const choices = (property.anyOf ?? [property])
    .filter(({ $ref }) => !named || $ref !== '#/$defs/template')
    .map((choice) => resolved(choice, schema));
  const words = choices.flatMap((choice) =>
    choice.enum === undefined
      ? typesOf(choice).map((type) => wordOf(type, choice))
      : choice.enum.filter((value) => value !== null).map((value) => code(value)),
  );
  const takes = (property.anyOf ?? []).some(({ $ref }) => $ref === '#/$defs/reference');
  const listed = [
    ...new Set(words.filter((word) => word !== 'null' && !(takes && word === 'text'))),
  ];
  return `${listed.join(' or ')}${takes ? '; takes a reference' : ''}`;
}

function typesOf({ type = 'string', anyOf, enum: values, format }) {
  if (anyOf !== undefined) return anyOf.flatMap(typesOf);
  return format === 'password' && values === undefined ? ['string'] : [type].flat();
}

function wordOf(type, { minimum, maximum }) {
  const limits =
    minimum !== undefined && maximum !== undefined
      ? ` from ${minimum} to ${maximum}`
      : minimum !== undefined
        ? ` of at least ${minimum}`
        : '';
  return `${WORDS[type] ?? (type === 'string' ? 'text' : type)}${type === 'null' ? '' : limits}`;
}
