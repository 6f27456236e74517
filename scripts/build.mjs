// Makes dist/: the types of the library by tsc, and the command as a bundle that starts quickly: CommonJS, because Node starts that a
// twelfth sooner than a module. The GitHub Action and the library share what the command is made of.
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { deflateRawSync } from 'node:zlib';
import { basename, dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { findPackages, formatBom, formatNotices } from './third-party.mjs';

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

// The doors of the library: `setpoint`, `setpoint/watch` and `setpoint/emulator` of package.json.
const DOORS = ['index', 'controller/index', 'emulator/index'];

// Of the types, those that lead from one. They are types of CommonJS, which modules can import as well.
const RELATIVE = /['"](\.[^'"]+)\.[jt]s['"]/g;
const named = new Set();
function keep(path) {
  if (named.has(path)) return;
  named.add(path);
  const text = readFileSync(path, 'utf8');
  for (const [, other] of text.matchAll(RELATIVE)) keep(join(dirname(path), `${other}.d.ts`));
  writeFileSync(
    path.replace(/ts$/, 'cts'),
    text.replaceAll(RELATIVE, (all) => `${all.slice(0, -4)}.cjs${all.at(-1)}`),
  );
}

for (const door of DOORS) keep(join(dist, `${door}.d.ts`));
for (const name of readdirSync(dist, { recursive: true }))
  if (name.endsWith('.d.ts')) rmSync(join(dist, name));
for (const door of DOORS)
  writeFileSync(join(dist, `${door}.d.ts`), `export * from './${basename(door)}.cjs';\n`);

// What most runs do without is a file beside the chunks, read when it is asked for: in a chunk, every run would read it.
const asFiles = {
  name: 'as-files',
  load(id) {
    const read = (name, source) => {
      this.emitFile({ type: 'asset', fileName: `bin/chunks/${name}`, source });
      return `process.getBuiltinModule('node:fs').readFileSync(__dirname + '/${name}')`;
    };
    const inflated = (source) => {
      const bytes = deflateRawSync(source, { level: 9 });
      const name = `${createHash('sha256').update(bytes).digest('hex').slice(0, 8)}.deflated`;
      return `process.getBuiltinModule('node:zlib').inflateRawSync(${read(name, bytes)})`;
    };
    if (id.endsWith('/llhttp_simd-wasm.js'))
      return `module.exports = ${read('llhttp.wasm', createRequire(import.meta.url)(id))};`;
    // For processors without SIMD.
    if (id.endsWith('/llhttp-wasm.js'))
      return `module.exports = ${inflated(createRequire(import.meta.url)(id))};`;
    // Of a hundred lists of characters, statuses and methods, undici reads two tables: test/package/undici.test.ts holds it to them.
    if (id.endsWith('/llhttp/constants.js')) {
      const { ERROR, TYPE } = createRequire(import.meta.url)(id);
      return `module.exports = ${JSON.stringify({ ERROR, TYPE })};`;
    }
    if (!/\/(schema|native|data)\.gen\.ts$/.test(id)) return null;
    // Texts of data are a tenth of their size if they are packed.
    const code = readFileSync(id, 'utf8').replaceAll(
      /"(?:[^"\\]|\\.){5000,}"/g,
      (text) => `${inflated(JSON.parse(text))}.toString()`,
    );
    return { code, moduleType: 'ts' };
  },
};

// Commands and operations are written to load what they need; in one file they find it there.
const onLog = (level, log, handle) =>
  log.code === 'INEFFECTIVE_DYNAMIC_IMPORT' ? undefined : handle(level, log);
// Modules of Node that libraries load for what nothing here uses: HTTP/2, of which undici does without if a build of Node has none, the
// largest header of a process, assertions, of which undici uses one function, and child processes of commander. And what the Actions
// toolkit requests identities of a job with. test/package/undici.test.ts holds what is said of undici to the version that is installed.
const STAND_INS = {
  '\0node:http': 'module.exports = {};',
  '\0node:http2': 'module.exports = { constants: {} };',
  '\0node:assert': `module.exports = (value, message) => { if (!value) throw new Error(String(message ?? 'assertion failed')); };`,
  '\0node:child_process': 'module.exports = {};',
  '\0toolkit':
    'export class HttpClient {}; export class BearerCredentialHandler {}; export const exec = null, getExecOutput = null;',
  // Bodies that are forms or iterators, which nothing here sends.
  '\0undici-body': `exports.extractBody = () => { throw new TypeError('A body is a text.'); };`,
};
const lean = {
  name: 'lean',
  resolveId(id, importer = '') {
    const from = importer.replaceAll('\\', '/');
    if (id === 'undici')
      return join(root, `scripts/undici-${from.endsWith('/proxy.ts') ? 'proxy' : 'core'}.mjs`);
    if (id === 'prom-client') return join(root, 'scripts/prom-client-core.mjs');
    if (/^@actions\/(exec|http-client)/.test(id)) return '\0toolkit';
    if (/\/(undici|commander)\/lib\//.test(from) && `\0${id}` in STAND_INS) return `\0${id}`;
    if (!from.includes('/undici/lib/')) return null;
    return id === '../web/fetch/body.js' ? '\0undici-body' : null;
  },
  load: (id) => STAND_INS[id] ?? null,
};
const format = { dir: join(dist, 'bin'), format: 'cjs', minify: true, dynamicImportInCjs: false };

// The entry is a chunk of its own, so that help loads nothing else; what runs a command is loaded by it.
const entry = await rolldown({
  input: { setpoint: join(root, 'src/command/cli/main.ts') },
  platform: 'node',
  external: /run-command/,
});
const { output: entryChunks } = await entry.write({
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
const chunkOf = new Map();
const findDaily = {
  name: 'daily',
  buildEnd() {
    for (const [chunk, names] of Object.entries(DAILY)) {
      const open = names.map((name) => join(root, `src/command/cli/${name}.ts`));
      for (const id of open) {
        const info = this.getModuleInfo(id);
        if (info === null) throw new Error(`${id} is not part of the command.`);
        if (chunkOf.has(id)) continue;
        if (!id.includes('node_modules') && /^export (let|var) /m.test(info.code))
          throw new Error(`${id} exports what may change: see withPlainExports.`);
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
    ...Object.fromEntries(DOORS.map((door) => [door, join(root, `src/${door}.ts`)])),
  },
  platform: 'node',
  plugins: [asFiles, lean, findDaily],
  onLog,
  resolve: {
    alias: {
      // The same code as modules, of which a bundler takes what is used; what Node takes is all or nothing.
      yaml$: join(root, 'node_modules/yaml/browser/dist/index.js'),
      'opentelemetry-api-1.3$': join(root, 'node_modules/opentelemetry-api-1.3/build/esm/index.js'),
    },
  },
});
const { output: commandChunks } = await commands.write({
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

const packages = findPackages(root, [...entryChunks, ...commandChunks]);
writeFileSync(join(dist, 'THIRD-PARTY-NOTICES.txt'), formatNotices(packages));
writeFileSync(
  join(dist, 'sbom.cdx.json'),
  formatBom(packages, JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))),
);

// The library is the same code as the command, as modules.
for (const door of DOORS) {
  const names = Object.keys(createRequire(import.meta.url)(join(dist, `${door}.cjs`)));
  writeFileSync(
    join(dist, `${door}.js`),
    `import library from './${basename(door)}.cjs';\nexport const { ${names.join(', ')} } = library;\n`,
  );
}

const chunks = join(dist, 'bin/chunks');
const [helpers] = readdirSync(chunks).filter((name) => name.startsWith('rolldown-runtime-'));
const helpersCode = readFileSync(join(chunks, helpers), 'utf8').replace(/;?\s*$/, ';');

/** The bundler's own few functions, which are a file to load otherwise. */
function withHelpers(code) {
  return code.replace(
    `require("./${helpers}")`,
    () => `(exports=>{${helpersCode}return exports})({})`,
  );
}

const GETTER =
  /Object\.defineProperty\(exports,"([\w$]+)",\{enumerable:!0,get:function\(\)\{return ?([^{}]*)\}\}\)(?=[,;])/g;

/**
 * A chunk whose exports are plain members. The bundler makes them getters: hundreds of functions more, and V8 copies the list of all for
 * each. A member that is read too early is missing instead of refused, so that none may be: the exports are the end of the chunk, what it
 * requires before it runs is complete by then, and `findDaily` refuses an export that may change.
 */
function withPlainExports(code, name) {
  const end = code.search(GETTER);
  const plain = code
    .slice(end)
    .replaceAll(GETTER, (_, member, value) => `exports.${member}=${value}`);
  const head = code.slice(0, code.indexOf('function '));
  const required = [...head.matchAll(/require\("\.\/(.*?)"\)/g)].map(([, chunk]) => chunk);
  const daily = Object.keys(DAILY);
  const complete = [helpers, ...daily.slice(0, daily.indexOf(name)).map((one) => `${one}.cjs`)];
  if (
    !/^(exports\.[\w$]+=(`[^`]*`|[\w$]+)[,;])+\s*$/.test(plain) ||
    required.some((chunk) => !complete.includes(chunk))
  )
    throw new Error(`The exports of ${name} are not its end, or it requires what is not complete.`);
  return code.slice(0, end) + plain;
}

// A file of ASCII alone is read and compiled sooner: a byte is a character.
for (const name of readdirSync(dist, { recursive: true })) {
  const path = join(dist, name);
  if (!name.endsWith('.cjs')) continue;
  const escape = (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const code = readFileSync(path, 'utf8');
  const chunk = basename(name, '.cjs');
  const text = chunk in DAILY ? withHelpers(withPlainExports(code, chunk)) : code;
  writeFileSync(path, text.replaceAll(/[^\0-\x7f]/g, escape));
}

// The command keeps compiled forms by this name, so that a build never takes those of another.
const digest = createHash('sha256');
// src/command/cli/run-cli.ts reads each to a buffer of four times this length.
const LARGEST_CHUNK = 1024 * 1024;
for (const name of readdirSync(chunks)) {
  const { size } = statSync(join(chunks, name));
  if (size > LARGEST_CHUNK) throw new Error(`${name} is too large to be loaded: ${size} bytes.`);
}
for (const name of Object.keys(DAILY)) digest.update(readFileSync(join(chunks, `${name}.cjs`)));
const main = join(dist, 'bin/setpoint.cjs');
const mainCode = readFileSync(main, 'utf8');
if (!mainCode.includes('%BUILD%')) throw new Error('The command does not ask for its build.');
writeFileSync(main, mainCode.replace('%BUILD%', digest.digest('hex').slice(0, 16)));

chmodSync(join(dist, 'bin/setpoint.cjs'), 0o755);
chmodSync(dist, 0o755);
rmSync(join(root, 'dist'), { recursive: true, force: true });
renameSync(dist, join(root, 'dist'));
