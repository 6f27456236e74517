// Makes dist/: the types of the library by tsc, and the command as a bundle that starts quickly: CommonJS, because Node starts that a
// twelfth sooner than a module. The GitHub Action and the library share what the command is made of.
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { deflateRawSync } from 'node:zlib';
import { basename, dirname, join } from 'node:path';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..');
// Made aside and moved at the end: whoever runs the command meanwhile has the one before.
const dist = mkdtempSync(join(root, 'node_modules/.dist-'));
process.on('exit', () => rmSync(dist, { recursive: true, force: true }));
const tsc = join(root, 'node_modules/typescript/bin/tsc');
runNode(tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', dist);

function runNode(...args) {
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

// Of the types, those that lead from the library's door.
const named = new Set();
function keep(path) {
  if (named.has(path)) return;
  named.add(path);
  for (const [, other] of readFileSync(path, 'utf8').matchAll(/['"](\.[^'"]+)\.[jt]s['"]/g))
    keep(join(dirname(path), `${other}.d.ts`));
}
keep(join(dist, 'index.d.ts'));
for (const name of readdirSync(dist, { recursive: true })) {
  const path = join(dist, name);
  if (name.endsWith('.d.ts') && !named.has(path)) rmSync(path);
}

// What few runs need of the daily commands: of these modules, each of which exports functions alone, a chunk is loaded when the
// first of them is called.
const LATER = {
  schema: ['src/reconciler/desired/schema.gen.ts'],
  native: ['src/reconciler/model/native.gen.ts'],
  problems: [
    'src/reconciler/desired/report.ts',
    'src/reconciler/desired/schema-findings.ts',
    'src/reconciler/desired/schema-lookup.ts',
  ],
  faults: ['src/reconciler/service/fault-error.ts', 'src/reconciler/service/status-error.ts'],
  comparisons: ['src/reconciler/plan/snapshot.ts', 'src/reconciler/plan/three-way.ts'],
};
const later = new Map(
  Object.entries(LATER).flatMap(([chunk, paths]) => paths.map((path) => [join(root, path), chunk])),
);
const callLater = {
  name: 'later',
  async resolveId(id, importer, options) {
    if (LATER_ENTRY.test(id)) return id;
    if (id.startsWith('./later-')) return { id, external: true };
    if (importer === undefined || LATER_ENTRY.test(importer) || !id.startsWith('.')) return null;
    const found = await this.resolve(id, importer, { ...options, skipSelf: true });
    const chunk = later.get(found?.id);
    return chunk === undefined || later.get(importer) === chunk ? null : `\0later:${found.id}`;
  },
  load(id) {
    const chunk = LATER_ENTRY.exec(id)?.[1];
    if (chunk === 'schema') return SCHEMA;
    if (chunk !== undefined)
      return LATER[chunk]
        .map((path) => `export * from ${JSON.stringify(join(root, path))};`)
        .join('\n');
    if (!id.startsWith('\0later:')) return null;
    const path = id.slice('\0later:'.length);
    const call = (name) =>
      `export function ${name}(...args) { return require('./later-${later.get(path)}.cjs').${name}(...args); }`;
    return functionsOf(path).map(call).join('\n');
  },
};
// The schema is in the package as a file already.
const SCHEMA = `import { readFileSync } from 'node:fs';
import { join } from 'node:path';
export function schemaText() {
  return readFileSync(join(import.meta.dirname, '../../../schemas/settings.schema.json'), 'utf8');
}`;
const LATER_ENTRY = /^later:(.*)$/;

// Texts of data that few runs need are a tenth of their size if they are packed.
const packed = {
  name: 'packed',
  load(id) {
    if (!/\/(native|data)\.gen\.ts$/.test(id)) return null;
    const code = readFileSync(id, 'utf8').replaceAll(/"(?:[^"\\]|\\.){5000,}"/g, (text) => {
      const bytes = deflateRawSync(JSON.parse(text), { level: 9 });
      return `inflateRawSync(Buffer.from('${bytes.toString('base64')}', 'base64')).toString()`;
    });
    return { code: `import { inflateRawSync } from 'node:zlib';\n${code}`, moduleType: 'ts' };
  },
};

/** The names that a module exports, all of them functions. */
function functionsOf(path) {
  const text = readFileSync(path, 'utf8');
  const names = [...text.matchAll(/^export (?:async )?function (\w+)/gm)].map(([, name]) => name);
  const others = /^export (?!(async )?function |type |interface )/m.test(text);
  if (names.length === 0 || others) throw new Error(`${path} does not export functions alone.`);
  return names;
}

// Commands and operations are written to load what they need; in one file they find it there.
const onLog = (level, log, handle) =>
  log.code === 'INEFFECTIVE_DYNAMIC_IMPORT' ? undefined : handle(level, log);
// What libraries load and this command does not need on its way: HTTP/2, child processes, node:http, undici's parts of a browser's
// fetch; node:assert, of which undici uses one function; and what the Actions toolkit requests identities of a job with.
const UNUSED = /\/undici\/lib\/(dispatcher\/client-h2\.js$|web\/)/;
// What undici makes tables of whenever it is loaded, which takes longer than a request finds in them: names of headers, which it
// makes lower case otherwise, and the numbers of its parser, of which its client reads two lists.
const TABLES = /\/undici\/lib\/(core|llhttp)\/constants(\.js)?$/;
const { TYPE, ERROR } = createRequire(import.meta.url)('undici/lib/llhttp/constants.js');
const STAND_INS = {
  '\0unused': 'module.exports = {}',
  '\0parser': `import { readFileSync } from 'node:fs';
import { join } from 'node:path';
export default readFileSync(join(import.meta.dirname, 'llhttp.wasm'));`,
  '\0toolkit':
    'export class HttpClient {}; export class BearerCredentialHandler {}; export const exec = null, getExecOutput = null;',
  '\0core':
    'module.exports = { wellknownHeaderNames: [], headerNameLowerCasedRecord: Object.create(null), getHeaderNameAsBuffer: Buffer.from };',
  '\0llhttp': `module.exports = ${JSON.stringify({ TYPE, ERROR })};`,
  '\0assert': `module.exports = (value, message) => { if (!value) throw new Error(String(message ?? 'assertion failed')); };`,
};
const lean = {
  name: 'lean',
  resolveId(id, importer = '') {
    const from = importer.replaceAll('\\', '/');
    if (id === 'undici')
      return join(root, `scripts/undici-${from.endsWith('/proxy.ts') ? 'proxy' : 'core'}.mjs`);
    if (id === 'prom-client') return join(root, 'scripts/prom-client-core.mjs');
    // As a module of its own: of a CommonJS one the bundler would copy each byte as a member.
    if (id.endsWith('/llhttp_simd-wasm.js') && from.endsWith('/quick-end.ts')) return '\0parser';
    // For processors of another age: read from the package if it is needed.
    if (id.endsWith('/llhttp-wasm.js'))
      return { id: 'undici/lib/llhttp/llhttp-wasm.js', external: true };
    if (/^@actions\/(exec|http-client)/.test(id)) return '\0toolkit';
    const undici = from.includes('/undici/lib/');
    if (undici && id === 'node:assert') return '\0assert';
    const path = id.startsWith('.') ? join(dirname(importer), id).replaceAll('\\', '/') : id;
    const table = TABLES.exec(path)?.[1];
    if (table !== undefined) return `\0${table}`;
    const ofCommander = from.includes('/commander/') && id === 'node:child_process';
    return UNUSED.test(path) || ofCommander || (undici && id === 'node:http') ? '\0unused' : null;
  },
  load: (id) => STAND_INS[id] ?? (id.endsWith('/llhttp_simd-wasm.js') ? WASM : null),
};
// undici's parser as a file of its own: as text in a chunk it would be read and decoded by commands that send nothing.
const WASM = `module.exports = require('node:fs').readFileSync(require('node:path').join(__dirname, 'llhttp.wasm'));`;
const format = { dir: join(dist, 'bin'), format: 'cjs', minify: true, dynamicImportInCjs: false };

// The entry is a chunk of its own, so that help loads nothing else; what runs a command is loaded by it.
const entry = await rolldown({
  input: { setpoint: join(root, 'src/command/cli/main.ts') },
  platform: 'node',
  external: /run-command/,
});
await entry.write({
  ...format,
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name].cjs',
  paths: (id) => (id.includes('run-command') ? './chunks/run-command.cjs' : id),
});
// The commands of every day are three chunks, because a file that is loaded costs more than the code in it: what every command and
// validate need, what plan, drift and get need besides, and what apply needs besides. Each holds what its commands import
// statically. What they import with import(), and what only other commands need, is loaded when it is needed.
const DAILY = {
  commands: ['run-command', 'commands/validate'],
  plan: ['commands/plan', 'commands/drift', 'commands/get'],
  apply: ['commands/apply'],
};
const chunkOf = new Map([['\0parser', 'plan']]);
const findDaily = {
  name: 'daily',
  buildEnd() {
    for (const [chunk, names] of Object.entries(DAILY)) {
      const open = names.map((name) => join(root, `src/command/cli/${name}.ts`));
      for (const id of open) {
        const info = this.getModuleInfo(id);
        if (info === null) throw new Error(`${id} is not part of the command.`);
        if (chunkOf.has(id)) continue;
        chunkOf.set(id, chunk);
        open.push(...info.importedIds.filter((imported) => this.getModuleInfo(imported) !== null));
      }
    }
  },
};
const commands = await rolldown({
  input: {
    'bin/chunks/run-command': join(root, 'src/command/cli/run-command.ts'),
    'action/index': join(root, 'src/command/action/main.ts'),
    library: join(root, 'src/index.ts'),
    ...Object.fromEntries(
      Object.keys(LATER).map((chunk) => [`bin/chunks/later-${chunk}`, `later:${chunk}`]),
    ),
  },
  platform: 'node',
  plugins: [callLater, packed, lean, findDaily],
  onLog,
  resolve: {
    alias: {
      // The same code as modules, of which a bundler takes what is used; what Node takes is all or nothing.
      yaml$: join(root, 'node_modules/yaml/browser/dist/index.js'),
      'opentelemetry-api-1.3$': join(root, 'node_modules/opentelemetry-api-1.3/build/esm/index.js'),
    },
  },
});
await commands.write({
  ...format,
  dir: dist,
  entryFileNames: '[name].cjs',
  // Named as they are in the sources, so that the command finds what it calls first.
  minifyInternalExports: false,
  chunkFileNames: ({ name }) => `bin/chunks/${name in DAILY ? name : '[name]-[hash]'}.cjs`,
  codeSplitting: {
    groups: Object.keys(DAILY).map((name) => ({ name, test: (id) => chunkOf.get(id) === name })),
  },
});

const wasm = createRequire(import.meta.url)('undici/lib/llhttp/llhttp_simd-wasm.js');
writeFileSync(join(dist, 'bin/chunks/llhttp.wasm'), wasm);

// The library is the same code as the command, as a module.
const names = Object.keys(createRequire(import.meta.url)(join(dist, 'library.cjs')));
writeFileSync(
  join(dist, 'index.js'),
  `import library from './library.cjs';\nexport const { ${names.join(', ')} } = library;\n`,
);

const chunks = join(dist, 'bin/chunks');
const [helpers] = readdirSync(chunks).filter((name) => name.startsWith('rolldown-runtime-'));
const helpersCode = readFileSync(join(chunks, helpers), 'utf8').replace(/;?\s*$/, ';');

/** What a chunk exports as plain members: a getter for each is a function more to load. Nothing is exported that changes later. */
function withPlainExports(code) {
  return code.replaceAll(
    /Object\.defineProperty\(exports,("\w+"),\{enumerable:!0,get:function\(\)\{return ([\w$]+)\}\}\)/g,
    'exports[$1]=$2',
  );
}

/** The bundler's own few functions, which are a file to load otherwise. */
function withHelpers(code) {
  return code.replace(
    `require("./${helpers}")`,
    () => `(exports=>{${helpersCode}return exports})({})`,
  );
}

/**
 * A chunk whose value is a function of what Node hands to a module, so that the command compiles the file as it is: a copy of its text
 * with that function around it takes memory that V8 collects before the command ends. If Node loads it, it calls itself.
 */
function asFunction(code) {
  return `(chunk=>{if(typeof module=="object")chunk(exports,require,module,__filename,__dirname);return chunk})(function(exports,require,module,__filename,__dirname){${code}\n});`;
}

// A file of ASCII alone is read and compiled sooner: a byte is a character.
for (const name of readdirSync(dist, { recursive: true })) {
  const path = join(dist, name);
  if (!name.endsWith('.cjs')) continue;
  const escape = (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const code = withPlainExports(readFileSync(path, 'utf8'));
  const isDaily = basename(name, '.cjs') in DAILY;
  const text = isDaily ? asFunction(withHelpers(code)) : code;
  writeFileSync(path, text.replaceAll(/[^\0-\x7f]/g, escape));
}

// The command keeps compiled forms by this name, so that a build never takes those of another.
const digest = createHash('sha256');
for (const name of Object.keys(DAILY)) digest.update(readFileSync(join(chunks, `${name}.cjs`)));
const main = join(dist, 'bin/setpoint.cjs');
const mainCode = readFileSync(main, 'utf8');
if (!mainCode.includes('%BUILD%')) throw new Error('The command does not ask for its build.');
writeFileSync(main, mainCode.replace('%BUILD%', digest.digest('hex').slice(0, 16)));

runNode(join(root, 'scripts/compile-commands.mjs'), chunks, ...Object.keys(DAILY));
chmodSync(join(dist, 'bin/setpoint.cjs'), 0o755);
chmodSync(dist, 0o755);
rmSync(join(root, 'dist'), { recursive: true, force: true });
renameSync(dist, join(root, 'dist'));
