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
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
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

// Commands and operations are written to load what they need; in one file they find it there.
const onLog = (level, log, handle) =>
  log.code === 'INEFFECTIVE_DYNAMIC_IMPORT' ? undefined : handle(level, log);
// What libraries load and this command does not need on its way: HTTP/2, child processes, node:http, undici's parts of a browser's
// fetch; node:assert, of which undici uses one function; and what the Actions toolkit requests identities of a job with.
const UNUSED = /\/undici\/lib\/(dispatcher\/client-h2\.js$|web\/)/;
const STAND_INS = {
  '\0unused': 'export {}',
  '\0toolkit':
    'export class HttpClient {}; export class BearerCredentialHandler {}; export const exec = null, getExecOutput = null;',
  '\0assert': `module.exports = (value, message) => { if (!value) throw new Error(String(message ?? 'assertion failed')); };`,
};
const lean = {
  name: 'lean',
  resolveId(id, importer = '') {
    const from = importer.replaceAll('\\', '/');
    if (id === 'undici')
      return join(root, `scripts/undici-${from.endsWith('/proxy.ts') ? 'proxy' : 'core'}.mjs`);
    // For processors of another age: read from the package if it is needed.
    if (id.endsWith('/llhttp-wasm.js'))
      return { id: 'undici/lib/llhttp/llhttp-wasm.js', external: true };
    if (/^@actions\/(exec|http-client)/.test(id)) return '\0toolkit';
    const undici = from.includes('/undici/lib/');
    if (undici && id === 'node:assert') return '\0assert';
    const path = id.startsWith('.') ? join(dirname(importer), id).replaceAll('\\', '/') : id;
    const ofCommander = from.includes('/commander/') && id === 'node:child_process';
    return UNUSED.test(path) || ofCommander || (undici && id === 'node:http') ? '\0unused' : null;
  },
  load: (id) => STAND_INS[id] ?? null,
};
const format = { dir: join(dist, 'bin'), format: 'cjs', minify: true, dynamicImportInCjs: false };

// The entry is a chunk of its own, so that help loads nothing else; what runs a command is loaded by it.
const entry = await rolldown({
  input: { setpoint: join(root, 'src/cli/main.ts') },
  platform: 'node',
  external: /run-command/,
});
await entry.write({
  ...format,
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name].cjs',
  paths: (id) => (id.includes('run-command') ? './chunks/run-command.cjs' : id),
});
// The commands of every day are one chunk: a file that is loaded costs more than the code in it. It holds what they import
// statically, from the way in to each of them. What they import with import(), and what only other commands need, is loaded
// when it is needed.
const DAILY = ['validate', 'plan', 'apply', 'drift', 'get', 'version'];
const daily = new Set();
const findDaily = {
  name: 'daily',
  buildEnd() {
    const open = ['run-command', ...DAILY.map((name) => `commands/${name}`)].map((name) =>
      join(root, `src/cli/${name}.ts`),
    );
    for (const id of open) {
      const info = this.getModuleInfo(id);
      if (info === null) throw new Error(`${id} is not part of the command.`);
      if (daily.has(id)) continue;
      daily.add(id);
      open.push(...info.importedIds.filter((imported) => this.getModuleInfo(imported) !== null));
    }
  },
};
const commands = await rolldown({
  input: {
    'bin/chunks/run-command': join(root, 'src/cli/run-command.ts'),
    'action/index': join(root, 'src/action/main.ts'),
    library: join(root, 'src/index.ts'),
  },
  platform: 'node',
  plugins: [lean, findDaily],
  onLog,
  resolve: {
    alias: {
      // The same code as modules, of which a bundler takes what is used; its Node build is all or nothing.
      yaml$: join(root, 'node_modules/yaml/browser/dist/index.js'),
    },
  },
});
await commands.write({
  ...format,
  dir: dist,
  entryFileNames: '[name].cjs',
  chunkFileNames: ({ name }) => `bin/chunks/${name === 'commands' ? name : '[name]-[hash]'}.cjs`,
  codeSplitting: {
    groups: [{ name: 'commands', test: (id) => daily.has(id) }],
  },
});

// The library is the same code as the command, as a module.
const names = Object.keys(createRequire(import.meta.url)(join(dist, 'library.cjs')));
writeFileSync(
  join(dist, 'index.js'),
  `import library from './library.cjs';\nexport const { ${names.join(', ')} } = library;\n`,
);

// A file of ASCII alone is read and compiled sooner: a byte is a character.
for (const name of readdirSync(dist, { recursive: true })) {
  const path = join(dist, name);
  if (!name.endsWith('.cjs')) continue;
  const escape = (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/[^\0-\x7f]/g, escape));
}

runNode(join(root, 'scripts/compile-commands.mjs'), join(dist, 'bin/chunks'));
chmodSync(join(dist, 'bin/setpoint.cjs'), 0o755);
chmodSync(dist, 0o755);
rmSync(join(root, 'dist'), { recursive: true, force: true });
renameSync(dist, join(root, 'dist'));
