// Makes what follows from schemas/settings.schema.json: the types, the field table and the validator.
// `node scripts/generate.mjs` writes them; `--check` says which are stale, and exits 1.
import { readFileSync, writeFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import formats from 'ajv-formats';
import { compile } from 'json-schema-to-typescript';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..');
const schema = JSON.parse(readFileSync(join(root, 'schemas/settings.schema.json'), 'utf8'));
const BANNER = '// Generated from schemas/settings.schema.json by `npm run generate`. Do not edit.\n';

async function settingsTypes() {
  const types = await compile(structuredClone(schema), 'SettingsFile', {
    additionalProperties: false,
    bannerComment: '',
    customName: (definition) => (definition.$id ? 'SettingsFile' : undefined),
    format: true,
    style: { singleQuote: true, printWidth: 100 },
  });
  return BANNER + types;
}

function fieldTable() {
  const { properties } = schema.$defs.settings;
  const rows = Object.entries(properties).map(([name, property]) => {
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
    };
  });
  const lines = rows.map((row) => `  ${JSON.stringify(row)},`).join('\n');
  return `${BANNER}/** The fields of the Settings resource in the order of the specification, with what the store does with each. */
export const FIELDS = [\n${lines}\n] as const;\n`;
}

async function validator() {
  const ajv = new Ajv2020({
    allErrors: true,
    allowUnionTypes: true,
    strict: true,
    code: { source: true, esm: true, optimize: 2 },
  });
  ajv.addVocabulary(['x-setpoint']);
  formats.default(ajv, ['password']);
  const code = standalone.default(ajv, ajv.compile(schema));
  const folder = mkdtempSync(join(root, 'node_modules/.generate-'));
  try {
    // The standalone code requires ajv's small runtime helpers; bundling makes it one plain module.
    writeFileSync(join(folder, 'validator.mjs'), code);
    const bundle = await rolldown({ input: join(folder, 'validator.mjs'), platform: 'node' });
    const { output } = await bundle.generate({ format: 'esm', minify: { compress: true, mangle: false } });
    const text = output[0].code.replace(/^\/\/#(end)?region.*\n/gm, '');
    return `// @ts-nocheck\n${BANNER}${text}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function schemaModule() {
  return `${BANNER}/** The schema itself, for messages. */\nexport const SCHEMA: unknown = ${JSON.stringify(schema)};\n`;
}

const files = {
  'src/model/settings.gen.ts': await settingsTypes(),
  'src/model/fields.gen.ts': fieldTable(),
  'src/desired/schema.gen.ts': schemaModule(),
  'src/desired/schema-validator.gen.ts': await validator(),
};
const stale = Object.entries(files).filter(
  ([path, text]) => !existsSync(join(root, path)) || readFileSync(join(root, path), 'utf8') !== text,
);
if (process.argv.includes('--check')) {
  for (const [path] of stale) console.error(`${path} is stale: run npm run generate`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const [path, text] of stale) writeFileSync(join(root, path), text);
}
