// The types of the JSON documents, from their schemas: what has a title there is a type of that name here.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCUMENTS = [
  'doctor',
  'explain',
  'init',
  'observed',
  'pull',
  'smoke',
  'validation',
  'watched',
];

/** What the code has types of, by the name that every schema gives it under `$defs`, and the module that has it. */
const NOUNS = {
  change: ['Change<Json>', './plan.ts'],
  error: ['ErrorReport', './error.ts'],
  path: ['Path', './path.ts'],
  proof: ['Proof', './proof.ts'],
  refusal: ['Refusal', './guard.ts'],
  source: ['Source', './path.ts'],
  tool: ['Tool', './plan.ts'],
  unknown: ['Unknown', './plan.ts'],
  warning: ['Warning', './error.ts'],
};
const ANY = ['Json', './value.ts'];
/** Members that the code knows more of than their schema says, by the type that they are of. */
const MEMBERS = {
  'DiagnosticReport.code': ['DiagnosticCode', './diagnostic.ts'],
  'EnvironmentObserved.settings': ANY,
  'EnvironmentWatched.history': ['readonly JournalRecord[]', './watch.ts'],
  'EnvironmentWatched.plan': ['EnvironmentPlan | null', './plan.ts'],
  'EnvironmentWatched.status': ['WatchStatus', './verdict.ts'],
  'EnvironmentWatched.found': ['WatchStatus', './verdict.ts'],
  'ObservedDocument.resources': ['readonly Resource[]', './observed.ts'],
};

const WIDTH = 150;

/** A module with the types of all documents. */
export function documentTypes(root, banner) {
  const read = (name) =>
    JSON.parse(readFileSync(join(root, `schemas/${name}.schema.json`), 'utf8'));
  const schemas = Object.fromEntries(DOCUMENTS.map((name) => [name, read(name)]));
  const types = new Map();
  const imports = new Map();
  for (const [name, schema] of Object.entries(schemas)) {
    const scope = { schemas, schema, types, imports };
    const parts = (schema.oneOf ?? []).map(({ $ref }) => resolved($ref, scope).node);
    if (parts.length === 0) named({ ...schema, title: `${schema.title}Document` }, scope, name);
    for (const part of parts) named(part, scope, name);
  }
  const lines = [...new Set(imports.values())].toSorted(byName).map((from) => {
    const names = [...imports].flatMap(([type, module]) => (module === from ? [type] : []));
    return `import type { ${names.toSorted(byName).join(', ')} } from '${from}';\n`;
  });
  return `${banner}${lines.join('')}\n${[...types.values()].join('\n')}`;
}

/** The name of a type that a node with a title is; it is written when it is met first. */
function named(node, scope, document) {
  const { title } = node;
  const words =
    document === undefined
      ? node.description
      : `${sentence(node.description)} schemas/${document}.schema.json is its schema.`;
  const text = `${comment(words, '')}${declared(node, scope)}`;
  const known = scope.types.get(title);
  if (known !== undefined && known !== text)
    throw new Error(`Two schemas have another ${title}:\n${known}\n${text}`);
  scope.types.delete(title);
  scope.types.set(title, text);
  return title;
}

function declared(node, scope) {
  const { title, ...rest } = node;
  const isMap = node.properties !== undefined && node.type === 'object';
  return isMap
    ? `export interface ${title} ${membersOf(node, scope, '')}\n`
    : `export type ${title} = ${typeOf(rest, scope, '')};\n`;
}

function membersOf({ title, properties, required = [] }, scope, indent) {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, member]) => {
    const mark = required.includes(name) ? '' : '?';
    const known = MEMBERS[`${title}.${name}`];
    const is = known === undefined ? typeOf(member, scope, inner) : noun(known, scope);
    const type = `${inner}readonly ${name}${mark}: ${is};\n`;
    return `${comment(member.description, inner)}${type}`;
  });
  return `{\n${members.join('')}${indent}}`;
}

function typeOf(node, scope, indent) {
  if (node.$ref !== undefined) return referred(node.$ref, scope, indent);
  const choices = node.oneOf ?? node.anyOf;
  if (choices !== undefined) return union(choices.map((one) => typeOf(one, scope, indent)));
  if (node.type === 'null') return 'null';
  if (Array.isArray(node.type))
    return union(node.type.map((type) => typeOf({ ...node, type }, scope, indent)));
  if (node.title !== undefined) return named(node, scope);
  if (node.const !== undefined) return literal(node.const);
  if (node.enum !== undefined) return union(node.enum.map(literal));
  switch (node.type) {
    case 'array': {
      const item = typeOf(node.items, scope, indent);
      return `readonly ${item.includes(' | ') && !item.startsWith('{') ? `(${item})` : item}[]`;
    }
    case 'object': {
      if (node.properties !== undefined) return membersOf(node, scope, indent);
      const values = node.additionalProperties;
      return `Readonly<Record<string, ${typeof values === 'object' ? typeOf(values, scope, indent) : noun(ANY, scope)}>>`;
    }
    case 'integer':
      return 'number';
    case undefined:
      return noun(ANY, scope);
    default:
      return node.type;
  }
}

/** A part of this schema or of another one. */
function referred(ref, scope, indent) {
  const { name, node, schema } = resolved(ref, scope);
  if (Object.hasOwn(NOUNS, name)) return noun(NOUNS[name], scope);
  return typeOf(node, { ...scope, schema }, indent);
}

function resolved(ref, { schemas, schema }) {
  const [, file, name] = /^(?:(\w+)\.schema\.json)?#\/\$defs\/(\w+)$/.exec(ref);
  const owner = file === undefined ? schema : schemas[file];
  return { name, schema: owner, node: owner.$defs[name] };
}

function noun([type, from], { imports }) {
  for (const name of type.match(/[A-Z]\w*/g)) imports.set(name, name === 'Json' ? ANY[1] : from);
  return type;
}

/** Each once, null last. */
function union(types) {
  const all = [
    ...new Set(types.flatMap((type) => (/[{<(]/.test(type) ? [type] : type.split(' | ')))),
  ];
  const known = all.filter((type) => type !== 'null');
  return [...known, ...(known.length < all.length ? ['null'] : [])].join(' | ');
}

function literal(value) {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function comment(text, indent) {
  if (text === undefined) return '';
  const words = sentence(text);
  if (`${indent}/** ${words} */`.length <= WIDTH) return `${indent}/** ${words} */\n`;
  const lines = [''];
  for (const word of words.split(' ')) {
    const line = `${lines.at(-1)} ${word}`.trim();
    if (line.length + indent.length + 3 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}

function sentence(text) {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function byName(one, other) {
  return one < other ? -1 : 1;
}
