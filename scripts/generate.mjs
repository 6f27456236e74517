// Makes what follows from the schemas (types, the field table and the validator), and docs/reference.
// `node scripts/generate.mjs` writes them; `--check` names those that are stale, and exits 1.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import formats from 'ajv-formats';
import { compile } from 'json-schema-to-typescript';
import { rolldown } from 'rolldown';
import { stringify } from 'yaml';
import { documentTypes } from './document-types.mjs';
import { emulatorData } from './emulator-data.mjs';
import { format, formatJson } from './format.mjs';
import { definitionsOf } from './kubernetes-crd.mjs';
import { nativeTables, readSnapshots, withNative } from './native-schema.mjs';
import { referencePages } from './reference/pages.mjs';
import { typeFacts } from './type-facts.mjs';

const root = join(import.meta.dirname, '..');
const SCHEMA_FILE = 'schemas/settings.schema.json';
const CHART = 'examples/kubernetes/chart/setpoint';
const ARGO = 'examples/kubernetes/argo-cd';
const snapshots = readSnapshots(root);
const BANNER =
  '// Generated from schemas/settings.schema.json by `npm run generate`. Do not edit.\n';
const tables = await commandLine();
const { buildProgram, RULES, RESOURCES, COLLECTION_FORMS, OBSERVABLE } = tables;
const written = JSON.parse(readFileSync(join(root, SCHEMA_FILE), 'utf8'));
const schema = withNative(withBlocks(written), snapshots);

/** The schema with each block of the file in an environment too, and each collection among those whose other items may be removed. */
function withBlocks({ properties, $defs, ...rest }) {
  const { environment, collections } = $defs;
  const ofEnvironment = Object.entries(environment.properties);
  const more = Object.entries(properties).filter(([name]) => $defs[name] !== undefined);
  const others = COLLECTION_FORMS.filter(({ block }) => block !== 'active').map(({ block }) => [
    block,
    { $ref: '#/$defs/collection' },
  ]);
  return {
    ...rest,
    properties,
    $defs: {
      ...$defs,
      environment: { ...environment, properties: Object.fromEntries([...ofEnvironment, ...more]) },
      collections: {
        ...collections,
        properties: { ...collections.properties, ...Object.fromEntries(others) },
      },
    },
  };
}

async function settingsTypes() {
  const plain = structuredClone(schema);
  // Which keys go together makes a type that nobody can read; the keys themselves are enough.
  delete plain.$defs.sandbox.oneOf;
  // What a server calls its own members is in the schema and the reference.
  const { properties } = plain.$defs.settings;
  for (const part of ['agent_settings', 'conversation_settings'])
    properties[part] = {
      ...withoutWords(properties[part]),
      description: properties[part].description,
    };
  const types = await compile(plain, 'SettingsFile', {
    additionalProperties: false,
    bannerComment: '',
    customName: (definition) => (definition.$id ? 'SettingsFile' : undefined),
    format: true,
    style: { singleQuote: true, printWidth: 100 },
  });
  return BANNER + withoutTwins(describeBlocks(types));
}

/** Gives each block without words of its own the first sentence of its definition, for editors that show the member alone. */
function describeBlocks(types) {
  const blocks = Object.entries(schema.properties).filter(
    ([, block]) => block.$ref !== undefined && block.description === undefined,
  );
  const [before, file] = types.split(/^(?=export interface SettingsFile )/m);
  const described = blocks.reduce((text, [name, { $ref }]) => {
    const { description } = schema.$defs[$ref.split('/').at(-1)];
    const [sentence] = description.split(/(?<=\.)\s/);
    return text.replace(new RegExp(`^  (?=${name}\\?: )`, 'm'), `  /** ${sentence} */\n  `);
  }, file);
  return before + described;
}

/** Types without those that are written again under the same name with a number. */
function withoutTwins(types) {
  // Each with the comment before it.
  const declarations = types.split(/^(?=\/\*\*)|(?<!\*\/\n)^(?=export )/m);
  const named = (text) => /^export (?:type|interface) (\w+)/m.exec(text)?.[1] ?? '';
  const byName = new Map(declarations.map((text) => [named(text), text]));
  const twins = [...byName].filter(([name, text]) => {
    const first = name.replace(/\d+$/, '');
    return first !== name && byName.get(first) === text.replace(` ${name} `, ` ${first} `);
  });
  const left = declarations.filter((text) => !twins.some(([name]) => name === named(text)));
  return twins.reduce(
    (all, [name]) => all.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), name.replace(/\d+$/, '')),
    left.join(''),
  );
}

function fieldTable() {
  const properties = Object.entries(schema.$defs.settings.properties).filter(
    ([, property]) => property['x-setpoint']?.native !== true,
  );
  const rows = properties.map(([name, property]) => {
    const field = property.$ref ? schema.$defs[property.$ref.slice('#/$defs/'.length)] : property;
    const plain = field.anyOf?.find((choice) => choice.type) ?? field;
    const types = [plain.type].flat();
    const secret = field.format === 'password';
    const store = field['x-setpoint'];
    return {
      name,
      type: secret ? 'string' : types.find((type) => type !== 'null'),
      nullable: secret || types.includes('null'),
      default: field.default ?? null,
      secret,
      setFlag: store.set_flag ?? null,
      onNull: store.on_null ?? 'clears',
      clearWith: store.clear_with ?? null,
      readable: store.readable ?? true,
      later: store.later ?? false,
      native: store.native ?? null,
    };
  });
  const lines = rows.map((row) => `  ${JSON.stringify(row)},`).join('\n');
  return `${BANNER}/** The fields of the Settings resource in the order of the specification, with what the store does with each. */
export const FIELDS = [\n${lines}\n] as const;\n`;
}

/**
 * The schemas of documents, with the rules of guards, the resources and the collections that the code has. A collection whose items have no schema
 * yet is a list of names. Each rule must be under `guards:` of settings.yaml, too.
 */
function documentSchemas() {
  const missing = RULES.find(
    (rule) => !(rule.replaceAll('-', '_') in schema.$defs.guards.properties),
  );
  if (missing !== undefined) throw new Error(`${SCHEMA_FILE} has no guard ${missing}.`);
  const pathOf = (name) => `schemas/${name}.schema.json`;
  const names = ['plan', 'outcome', 'explain', 'observed'];
  const [plan, outcome, explain, observed] = names.map((name) =>
    JSON.parse(readFileSync(join(root, pathOf(name)), 'utf8')),
  );
  for (const { $defs } of [plan, outcome]) {
    const { refusal, environment } = $defs;
    refusal.properties.rule.enum = [...RULES, 'frozen'];
    if (environment.properties.allowed !== undefined)
      environment.properties.allowed.items.enum = RULES;
  }
  const changes = [plan, outcome, explain].map(({ $defs }) => $defs.change);
  for (const { properties } of [...changes, outcome.$defs.remainder])
    properties.resource.enum = RESOURCES.map(({ name }) => name);
  const blocks = COLLECTION_FORMS.map(({ block }) => block);
  explain.$defs.explanation.properties.part.enum = ['settings', ...blocks, 'sandboxes', 'file'];
  observed.properties.resources.items.enum = OBSERVABLE;
  const { properties } = observed.properties.environments.items;
  for (const { block, noun } of COLLECTION_FORMS)
    properties[block] ??= {
      description: `The ${noun} by name, secrets masked; absent if they were not requested, null if the service has none of this kind.`,
      type: ['array', 'null'],
      items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    };
  return Object.fromEntries(
    [plan, outcome, explain, observed].map((document, index) => {
      const path = pathOf(names[index]);
      return [path, formatJson(path, document)];
    }),
  );
}

/** The schema without what only people read: the validator carries parts of its schema inside. */
function withoutWords(node) {
  if (Array.isArray(node)) return node.map(withoutWords);
  if (typeof node !== 'object' || node === null) return node;
  const words = ['title', 'description', 'examples', 'default', 'x-setpoint'];
  const entries = Object.entries(node).filter(
    ([key, value]) => !words.includes(key) || isSchemaMap(key, value),
  );
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutWords(value)]));
}

/** A property that happens to be called like an annotation. */
function isSchemaMap(key, value) {
  return (
    typeof value === 'object' && !Array.isArray(value) && key !== 'x-setpoint' && key !== 'default'
  );
}

/** Native parts are judged by desired/native.ts: as code they would be most of the validator. */
function withoutNative(node) {
  if (Array.isArray(node)) return node.map(withoutNative);
  if (typeof node !== 'object' || node === null) return node;
  if (node['x-setpoint']?.native === true || node.$ref === '#/$defs/mcp_server') return {};
  const entries = Object.entries(node).filter(
    ([key]) => key !== 'mcp_server' && key !== 'mcp_auth',
  );
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutNative(value)]));
}

async function validator() {
  const ajv = new Ajv2020({
    allErrors: true,
    allowUnionTypes: true,
    strict: true,
    strictRequired: false,
    messages: false,
    inlineRefs: false,
    code: { source: true, esm: true, optimize: 2 },
  });
  // The schema has no keyword that needs these, and the code is loaded by every command that reads a file.
  Object.assign(ajv.opts, { unevaluated: false, dynamicRef: false });
  formats.default(ajv, ['password']);
  const code = withShortErrors(
    standalone.default(ajv, ajv.compile(withoutWords(withoutNative(schema)))),
  );
  const folder = mkdtempSync(join(root, 'node_modules/.generate-'));
  try {
    // The standalone code requires ajv's small runtime helpers; bundling makes it one plain module.
    writeFileSync(join(folder, 'validator.mjs'), code);
    const bundle = await rolldown({ input: join(folder, 'validator.mjs'), platform: 'node' });
    const { output } = await bundle.generate({
      format: 'esm',
      minify: { compress: true, mangle: false },
    });
    const text = output[0].code.replace(/^\/\/#(end)?region.*\n/gm, '');
    return `// @ts-nocheck\n${BANNER}${text}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * ajv's code with what desired/check-file.ts reads of an error and no more. Errors of inner schemas are gathered by copying all that
 * came before, which takes the square of them: here they are added.
 */
function withShortErrors(code) {
  const ERROR =
    /const (err\d+) = \{instancePath(?::(.*?))?,schemaPath:"(.*?)",keyword:"(.*?)",params:(.*?)\};\s*if\(vErrors === null\)\{\s*vErrors = \[\1\];\s*\}\s*else \{\s*vErrors.push\(\1\);\s*\}\s*errors\+\+;/g;
  const short = code
    .replaceAll(ERROR, (_, _name, path = 'instancePath', place, keyword, params) => {
      const [, key = 'null'] =
        /^\{(?:additionalProperty|missingProperty|propertyName): (.*)\}$/.exec(params) ?? [];
      const error = `${path}, ${JSON.stringify(keyword)}, ${key}, ${place.includes('/oneOf')}`;
      return `vErrors = refused(vErrors, ${error}); errors++;`;
    })
    .replaceAll(
      /vErrors === null \? (validate\d+)\.errors : vErrors\.concat\(\1\.errors\)/g,
      'gathered(vErrors, $1.errors)',
    )
    .replaceAll(/\bschema\d+((?:\.\w+|\[\d+\])*\.properties), key/g, (place) =>
      keysAt(code, place),
    );
  if (/\berr\d+\b|\bschema\d+\./.test(short)) throw new Error('The code of ajv has another form.');
  return `${short}
function refused(all, instancePath, keyword, key, ofChoice) {
  const error = { instancePath, keyword, key, ofChoice };
  if (all === null) return [error];
  all.push(error);
  return all;
}
function gathered(all, more) {
  if (all === null) return [...more];
  all.push(...more);
  return all;
}
`;
}

/** The properties of a schema, in place of the schema: only whether a key is among them is asked. */
function keysAt(code, use) {
  const [, name, path] = /^(schema\d+)(.*), key$/.exec(use);
  const [, text] = new RegExp(`const ${name} = (\\{.*?\\});(?=const |function |export )`, 's').exec(
    code,
  );
  const properties = path.match(/\w+/g).reduce((node, key) => node[key], JSON.parse(text));
  const keys = Object.keys(properties).map((key) => [key, 1]);
  return `${JSON.stringify(Object.fromEntries(keys))}, key`;
}

function schemaModule() {
  return `${BANNER}/** The schema itself as JSON text, for messages. It is loaded when this is called. */\nexport function schemaText(): string {\n  return ${JSON.stringify(JSON.stringify(schema, (key, value) => (key === 'x-setpoint' ? undefined : value)))};\n}\n`;
}

/** The command line as commander has it, and the tables of errors, guards, resources and collections: the one place where this reads from src. */
async function commandLine() {
  const folder = mkdtempSync(join(root, 'node_modules/.generate-'));
  try {
    const input = {
      program: join(root, 'src/command/cli/run-command.ts'),
      error: join(root, 'src/reconciler/model/error.ts'),
      diagnostic: join(root, 'src/reconciler/model/diagnostic.ts'),
      guard: join(root, 'src/reconciler/model/guard.ts'),
      metrics: join(root, 'src/reconciler/model/metrics.ts'),
      forms: join(root, 'src/reconciler/model/collection-forms.ts'),
      observed: join(root, 'src/reconciler/model/observed.ts'),
      resources: join(root, 'src/reconciler/resources/resources.ts'),
    };
    const bundle = await rolldown({ input, platform: 'node' });
    await bundle.write({
      dir: folder,
      format: 'esm',
      entryFileNames: '[name].mjs',
      chunkFileNames: '[name]-[hash].mjs',
    });
    const load = (name) => import(pathToFileURL(join(folder, `${name}.mjs`)).href);
    const [{ buildProgram }, ...tables] = await Promise.all(Object.keys(input).map(load));
    return { buildProgram, ...Object.assign({}, ...tables) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The help of setpoint and of each command, so that asking for it loads nothing. */
function help() {
  let text = '';
  const program = buildProgram((part) => (text += part));
  const helpOf = (command) => {
    text = '';
    command.outputHelp();
    return JSON.stringify(text);
  };
  const commands = program.commands.map(
    (command) => `  ${JSON.stringify(command.name())}: ${helpOf(command)},\n`,
  );
  const banner = BANNER.replace('schemas/settings.schema.json', 'src/command/cli/run-command.ts');
  return {
    'src/command/cli/help.gen.ts': `${banner}/** What \`setpoint --help\` prints. */\nexport const HELP = ${helpOf(program)};\n`,
    'src/command/cli/command-help.gen.ts': `${banner}/** What \`setpoint COMMAND --help\` prints. */\nexport const COMMAND_HELP: Readonly<Record<string, string>> = {\n${commands.join('')}};\n`,
  };
}

function nativeModule() {
  const flat = Object.entries(schema.$defs.settings.properties).flatMap(([name, property]) =>
    property['x-setpoint']?.native === true ? [] : [name],
  );
  const text = JSON.stringify(JSON.stringify(nativeTables(snapshots, flat)));
  return `${BANNER.replace(SCHEMA_FILE, 'schemas/servers')}/** What each dialect has of the native parts, as JSON text. It is loaded when this is called. */\nexport function nativeText(): string {\n  return ${text};\n}\n`;
}

/** The facts of each type: see model/path-facts.ts. */
function typesModule() {
  const facts = JSON.parse(readFileSync(join(root, 'schemas/servers/facts.json'), 'utf8'));
  const lines = Object.entries(typeFacts(schema, snapshots, facts)).map(
    ([type, members]) => `  ${type}: ${JSON.stringify(members)},\n`,
  );
  return `${BANNER}import type { TypeFacts } from './type-facts.ts';\n\n/** What is known of the members of each type, by their names. */\nexport const TYPES: Readonly<Record<string, TypeFacts>> = {\n${lines.join('')}};\n`;
}

/** The definitions of SettingsTarget, SettingsPolicy and SettingsApproval, as people apply them, and as text for `setpoint render`. It is loaded when this is called. */
function definitions() {
  const file = 'examples/kubernetes/crd.yml';
  const banner = BANNER.replace('// ', '# ');
  const crds = definitionsOf(schema);
  const documents = crds.map((one) =>
    stringify(one, { lineWidth: 0, aliasDuplicateObjects: false }),
  );
  const text = format(file, banner + documents.join('---\n'));
  return {
    [file]: text,
    [`${CHART}/files/crd.yaml`]: text,
    'src/reconciler/kubernetes/crd.gen.ts': `${BANNER}/** The CustomResourceDefinitions of SettingsTarget, SettingsPolicy and SettingsApproval as JSON text. It is loaded when this is called. */\nexport function crdText(): string {\n  return ${JSON.stringify(JSON.stringify(crds))};\n}\n`,
  };
}

/** What the Helm chart and Argo CD need as one file, of the files that are tested: a chart reads nothing outside its folder. */
function forCharts() {
  const from = (path) => readFileSync(join(root, path), 'utf8');
  const banner = (source) => BANNER.replace(SCHEMA_FILE, source).replace('// ', '# ');
  const rules = 'examples/prometheus/rules.yml';
  const customization = `${ARGO}/setpoint.dev/SettingsTarget`;
  const actions = {
    'discovery.lua': from(`${customization}/actions/discovery.lua`),
    definitions: [
      { name: 'refresh', 'action.lua': from(`${customization}/actions/refresh/action.lua`) },
    ],
  };
  const argo = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'argocd-cm', namespace: 'argocd' },
    data: {
      'resource.customizations.health.setpoint.dev_SettingsTarget': from(
        `${customization}/health.lua`,
      ),
      'resource.customizations.actions.setpoint.dev_SettingsTarget': stringify(actions, {
        lineWidth: 0,
      }),
    },
  };
  return {
    [`${CHART}/files/rules.yaml`]: banner(rules) + from(rules),
    [`${ARGO}/argocd-cm.yml`]: banner(customization) + stringify(argo, { lineWidth: 0 }),
  };
}

// The types of documents follow from what is written here.
settle(documentSchemas());
settle({
  ...definitions(),
  ...forCharts(),
  [SCHEMA_FILE]: formatJson(SCHEMA_FILE, schema),
  'src/reconciler/model/native.gen.ts': nativeModule(),
  'src/reconciler/model/types.gen.ts': typesModule(),
  'src/reconciler/model/settings.gen.ts': await settingsTypes(),
  'src/reconciler/model/fields.gen.ts': fieldTable(),
  'src/reconciler/model/documents.gen.ts': documentTypes(
    root,
    BANNER.replace(SCHEMA_FILE, 'schemas'),
  ),
  'src/reconciler/desired/schema.gen.ts': schemaModule(),
  ...help(),
  'src/reconciler/desired/schema-validator.gen.ts': await validator(),
  ...emulatorData(root),
  'src/controller/page/runbooks.gen.ts': runbooks(),
});
// The pages read what is written by now.
settle(
  referencePages(
    root,
    schema,
    buildProgram(() => {}),
    tables,
  ),
);

/** The runbooks of the alerts as a module, so that the page has them where nothing else can be reached. */
function runbooks() {
  const folder = 'docs/runbooks';
  const texts = readdirSync(join(root, folder))
    .toSorted()
    .map((name) => [name.replace(/\.md$/, ''), readFileSync(join(root, folder, name), 'utf8')]);
  const lines = texts.map(([name, text]) => `  ${name}: ${JSON.stringify(text)},`);
  return `${BANNER.replace(SCHEMA_FILE, folder)}/** What to do about each alert, by its name. */
export const RUNBOOKS: Readonly<Record<string, string>> = {\n${lines.join('\n')}\n};\n`;
}

/** Writes those of the files that are stale or, with `--check`, names them. */
function settle(files) {
  const stale = Object.entries(files).filter(
    ([path, text]) =>
      !existsSync(join(root, path)) || readFileSync(join(root, path), 'utf8') !== text,
  );
  if (process.argv.includes('--check')) {
    for (const [path] of stale) console.error(`${path} is stale: run npm run generate`);
    if (stale.length > 0) process.exitCode = 1;
  } else {
    for (const [path, text] of stale) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  }
}
