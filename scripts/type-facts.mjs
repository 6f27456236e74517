// What model/path-facts.ts knows of the members of each type: of the schemas of servers, of settings.schema.json, and of facts.json.

/** The facts of each type, by the names of its members. A member without any is left out. Throws if a type or a member has no place. */
export function typeFacts(schema, snapshots, { code, types: written }) {
  const typeOf = new Map(
    Object.entries(written).flatMap(([type, { of = [] }]) => of.map((name) => [name, type])),
  );
  const types = new Map(Object.keys(written).map((type) => [type, new Map()]));
  const own = new Map();
  const add = (type, name, facts) => {
    const members = types.get(type) ?? new Map();
    types.set(type, members);
    members.set(name, merged(members.get(name) ?? {}, facts));
  };
  const take = (type, properties, defs) => {
    for (const [name, node] of Object.entries(properties)) {
      const facts = factsOf(node, { defs, typeOf, place: `${type}.${name}` });
      const { type: named } = written[type]?.members[name] ?? {};
      if (facts.inner !== undefined && named === undefined)
        throw new Error(`schemas/servers/facts.json names no type for ${type}.${name}.`);
      if (facts.inner !== undefined && written[named].of === undefined)
        take(named, facts.inner, defs);
      const { inner: _, ...rest } = facts;
      add(type, name, rest);
    }
  };
  /** A map that is written in place is a type of its own, named after its place, unless a fact or a type that is extended names one. */
  const takeOwn = (type, properties, extended = {}) => {
    for (const [name, node] of Object.entries(properties)) {
      const extra = withCode(node['x-setpoint'] ?? {}, code);
      const { inner, ...rest } = factsOf(node, { defs: schema.$defs, typeOf, place: name });
      const facts = merged(rest, extra);
      const isNamed = inner === undefined || (facts.type ?? extended[name]?.type) !== undefined;
      if (isNamed) add(type, name, facts);
      else {
        const own = `${type}_${name}`;
        add(type, name, { ...facts, type: own });
        takeOwn(own, inner);
      }
    }
  };
  for (const { schema: server } of snapshots) {
    take('Settings', server.properties, server.$defs);
    for (const [name, { properties }] of Object.entries(server.$defs))
      if (properties !== undefined) take(named(typeOf, name), properties, server.$defs);
  }
  for (const [type, { members }] of Object.entries(written))
    for (const [name, facts] of Object.entries(members)) add(type, name, withCode(facts, code));
  takeFields(schema, types, add);
  for (const [block, item] of itemTypes(schema)) {
    const { type, properties } = item;
    const { type: base, ...facts } = schema.$defs[block]['x-setpoint'] ?? {};
    add('File', block, { type: base ?? type, many: true, ...withCode(facts, code) });
    if (written[type] !== undefined) continue;
    own.set(type, item);
    takeOwn(type, properties, Object.fromEntries(types.get(item.extended) ?? []));
  }
  for (const [type, { extended }] of own)
    for (const [name, facts] of types.get(extended) ?? [])
      types.get(type).set(name, merged(facts, types.get(type).get(name) ?? {}));
  return Object.fromEntries(
    [...types].map(([type, members]) => [
      type,
      Object.fromEntries([...members].filter(([, facts]) => Object.keys(facts).length > 0)),
    ]),
  );
}

function named(typeOf, name) {
  const type = typeOf.get(name);
  if (type === undefined) throw new Error(`schemas/servers/facts.json has no type for ${name}.`);
  return type;
}

function merged(one, other) {
  const words = [...new Set([...(one.words ?? []), ...(other.words ?? [])])];
  return { ...one, ...other, ...(words.length === 0 ? {} : { words }) };
}

/** The kind of code by its name, and what is different of it. */
function withCode({ runs, each, ...facts }, code) {
  const [kind, more = {}] = [runs].flat();
  return {
    ...facts,
    ...(each === undefined ? {} : { each: withCode(each, code) }),
    ...(runs === undefined
      ? {}
      : { runs: typeof kind === 'string' ? { ...code[kind], ...more } : kind }),
  };
}

function isTextList({ type, items }) {
  return [type].flat().includes('array') && items?.type === 'string';
}

/** True for a list of text; `text` or `flag` for one that takes such a value as well. */
function listFact(variants) {
  const others = variants.filter((variant) => !isTextList(variant));
  if (others.length === variants.length) return {};
  const types = others.flatMap(({ type }) => type);
  return { list: others.length === 0 || (types.includes('boolean') ? 'flag' : 'text') };
}

/** What a schema has of a member by itself. `inner`: the members of a map that is written in place. */
function factsOf(node, context) {
  const { defs, typeOf } = context;
  const variants = variantsOf(node, context);
  return variants.reduce((facts, variant) => {
    if (variant.known !== undefined) return merged(facts, { type: variant.known });
    const { format, type, items, additionalProperties: others, properties } = variant;
    const types = [type].flat();
    const words = [variant.enum ?? variant.const ?? []].flat();
    const texts = words.filter((word) => typeof word === 'string');
    const isNumber = types.includes('number') || types.includes('integer');
    const each = typeof others === 'object' && properties === undefined ? others : items;
    const inEach = each === undefined ? {} : eachOf(factsOf(each, { defs, typeOf }));
    return merged(facts, {
      ...inEach,
      ...listFact(variants),
      ...(format === 'password' ? { secret: true } : {}),
      ...(isNumber ? { number: true } : {}),
      ...(texts.length === 0 ? {} : { words: texts }),
      ...(properties === undefined ? {} : { inner: properties }),
    });
  }, {});
}

/** A map or list of values with these facts. The names of secrets are no secrets. */
function eachOf(facts) {
  return { ...facts, many: true, ...(facts.secret === true ? { names: true } : {}) };
}

function variantsOf(node, context) {
  const { defs, typeOf } = context;
  if (node.$ref !== undefined) {
    const name = node.$ref.slice('#/$defs/'.length);
    if (name === 'reference' || name === 'template') return [];
    const type = typeOf.get(name);
    return type === undefined ? variantsOf(defs[name], context) : [{ known: type }];
  }
  if (node.anyOf !== undefined) return node.anyOf.flatMap((choice) => variantsOf(choice, context));
  return node.type === 'null' ? [] : [node];
}

/** A field of the specification that is no secret may be shown, under its name and in the nesting of servers. */
function takeFields({ $defs }, types, add) {
  for (const [name, property] of Object.entries($defs.settings.properties)) {
    if (property['x-setpoint']?.native === true || property.$ref !== undefined) continue;
    const facts = factsOf(property, { defs: $defs, typeOf: new Map() });
    const { secret = false } = facts;
    add('Settings', name, secret ? facts : { ...facts, shows: 'name' });
    const path = property['x-setpoint'].native?.split('.') ?? [];
    const last = path.pop();
    const type = path.reduce((from, key) => types.get(from)?.get(key)?.type, 'Settings');
    if (last !== undefined) add(type, last, secret ? { secret } : { shows: 'name' });
  }
}

/** The blocks of a file that name items, each with the type of these. */
function itemTypes({ properties, $defs }) {
  return Object.entries(properties).flatMap(([block]) => {
    const { additionalProperties: others } = $defs[block] ?? {};
    const node = typeof others === 'object' ? (others.anyOf?.at(-1) ?? others) : {};
    const item = node.$ref === undefined ? undefined : $defs[node.$ref.slice('#/$defs/'.length)];
    if (item?.properties === undefined) return [];
    const extended = item['x-setpoint']?.type;
    return [[block, { type: item.title, properties: item.properties, extended }]];
  });
}
