// The CustomResourceDefinitions of SettingsTarget, SettingsPolicy and SettingsApproval, made from the schema of settings.yaml: its blocks as a structural
// schema, inside the frames of scripts/kubernetes-frame.mjs. What a structural schema cannot say is left to the reader (src/reconciler/kubernetes).
import { approvalFrame, frame, NO_REFERENCE, policyFrame } from './kubernetes-frame.mjs';

/** Blocks that a spec has in a form of its own, or not at all; all others have their members as in settings.yaml. */
const APART = new Set(['labels', 'server', 'guards', 'watch', 'kubernetes', 'unmanaged']);

/** Lists whose entries have an identity, by the title of the schema of an entry. */
const KEYS = { SseServer: 'url', ShttpServer: 'url', StdioServer: 'name', Move: 'from' };

/** The definitions as data: of SettingsTarget, SettingsPolicy and SettingsApproval. */
export function definitionsOf(schema) {
  const { guards, watch } = schema.$defs;
  const interval = structural(watch, schema.$defs).properties.interval;
  return [
    settingsTargetCrd(schema),
    policyFrame({ guards: camelCased(structural(guards, schema.$defs)), interval }),
    approvalFrame(),
  ];
}

function settingsTargetCrd(schema) {
  const block = (name) =>
    structural({ $ref: `#/$defs/${name}`, ...described(schema, name) }, schema.$defs);
  const { guards, watch } = schema.$defs;
  const names = Object.keys(schema.$defs.environment.properties).filter((name) => !APART.has(name));
  const data = Object.fromEntries(names.map((name) => [name, block(name)]));
  for (const member of Object.values(data.settings.properties))
    if (member.type === 'string' && member.enum === undefined) member.pattern ??= NO_REFERENCE;
  return frame({
    data,
    guards: camelCased(structural(guards, schema.$defs)),
    watch: camelCased(structural(watch, schema.$defs)),
    server: structural(schema.$defs.server, schema.$defs),
  });
}

function described(schema, name) {
  const { description } = schema.properties[name];
  return description === undefined ? {} : { description };
}

/** A schema of settings.yaml as the API server takes it; undefined for a password, which no SettingsTarget holds. */
function structural(node, defs) {
  const { description, ...own } = one(node, defs);
  if (own.format === 'password' && own.properties === undefined) return undefined;
  const about = description === undefined ? {} : { description: shortened(description) };
  if (own.type === undefined) return { ...about, 'x-kubernetes-preserve-unknown-fields': true };
  const type = [own.type].flat().filter((name) => name !== 'null');
  if (type.includes('object')) return { ...about, type: 'object', ...members(own, defs) };
  if (type[0] === 'array') return { ...about, type: 'array', ...entries(own, defs) };
  return { ...about, type: type[0], ...limits(own) };
}

/** A choice of forms as the one that a SettingsTarget has: a list rather than a line, a map rather than an address alone. */
function one(node, defs) {
  if (node.$ref !== undefined) {
    const { $ref, ...beside } = node;
    return one({ ...defs[$ref.slice('#/$defs/'.length)], ...beside }, defs);
  }
  if (node.anyOf === undefined) return node;
  const { anyOf, ...beside } = node;
  const choices = anyOf
    .filter(({ $ref }) => $ref !== '#/$defs/template' && $ref !== '#/$defs/reference')
    .map((choice) => one(choice, defs))
    .filter(({ type }) => type !== 'null');
  const isText = ({ type }) => [type].flat().every((name) => ['string', 'null'].includes(name));
  const others = choices.length === 1 ? choices : choices.filter((choice) => !isText(choice));
  const [only] = others;
  // A scope or an override may be text or something else, and neither form is the other in other words.
  const isChoice =
    choices.length > 1 && !['object', 'array'].some((name) => isFormOf(others, name, node));
  return isChoice ? { description: beside.description } : { ...only, ...beside };
}

/** Whether text is only a shorter spelling of a list or a map at this place. */
function isFormOf([only], name, { title, default: byDefault }) {
  const isShort = title !== undefined || byDefault !== null;
  return isShort && [only?.type].flat().includes(name);
}

function members(node, defs) {
  const { properties = {}, additionalProperties: others, oneOf } = node;
  const named = Object.entries(properties).flatMap(([name, property]) => {
    const member = name === 'secrets_store' ? undefined : structural(property, defs);
    return member === undefined ? [] : [[name, member]];
  });
  const isOpen = others === true || others === undefined;
  if (named.length > 0 || others === false)
    return {
      ...(isOpen ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
      properties: Object.fromEntries(named),
      ...(oneOf === undefined ? {} : { oneOf }),
    };
  if (isOpen) return { 'x-kubernetes-preserve-unknown-fields': true };
  const value = structural(others, defs);
  return value === undefined ? {} : { additionalProperties: value };
}

function entries(node, defs) {
  const { items = {}, maxItems } = node;
  const entry = one(items, defs);
  const key = KEYS[entry.title];
  const limit = maxItems === undefined ? {} : { maxItems };
  const made = structural(items, defs);
  if (key === undefined) return { ...limit, items: made };
  return {
    ...limit,
    items: { ...made, required: [key] },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': [key],
  };
}

function limits(node) {
  const { minLength, maxLength, minimum, maximum, pattern } = node;
  const { exclusiveMinimum, exclusiveMaximum } = node;
  const values = node.const === undefined ? node.enum : [node.const];
  const all = {
    enum: values?.filter((value) => value !== null),
    pattern: pattern === undefined || /\(\?[=!<]/.test(pattern) ? undefined : pattern,
    minLength,
    maxLength,
    minimum: minimum ?? exclusiveMinimum,
    ...(exclusiveMinimum === undefined ? {} : { exclusiveMinimum: true }),
    maximum: maximum ?? exclusiveMaximum,
    ...(exclusiveMaximum === undefined ? {} : { exclusiveMaximum: true }),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** The first sentence, without what only the file has: references and null. */
function shortened(text) {
  const [first] = /^.*?[.:;](?=\s|$)/s.exec(text) ?? [text];
  return first.replace(/[:;]$/, '.');
}

/** A block of how setpoint works, with its members spelled as Kubernetes spells them. */
function camelCased({ properties, ...rest }) {
  const named = Object.entries(properties).map(([name, property]) => [camelCase(name), property]);
  return { ...rest, properties: Object.fromEntries(named) };
}

function camelCase(name) {
  return name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());
}
