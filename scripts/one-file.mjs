// Builds the single executable, in an archive with its licences: node scripts/one-file.mjs [FOLDER] (default: the current one). The command
// must be built before (npm run build). The Node that runs this is put into the executable, and has to be 26 or later.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

if (Number.parseInt(process.versions.node, 10) < 26) {
  console.error(`This is Node ${process.versions.node}. Node 26 or later builds an executable.`);
  process.exit(1);
}
const root = join(import.meta.dirname, '..');
const folder = resolve(process.argv[2] ?? '.');
const system = process.platform === 'win32' ? 'windows' : process.platform;
const suffix = process.platform === 'win32' ? '.exe' : '';
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const name = `setpoint-${version}-${system}-${process.arch}`;
const work = mkdtempSync(join(tmpdir(), 'setpoint-one-file-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));

function run(program, args, options = {}) {
  const { status, error, stderr } = spawnSync(program, args, { encoding: 'utf8', ...options });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error ?? stderr}`);
}

/* The assets: each chunk as a function, as Node makes it of a CommonJS module, and each file that a chunk or a command reads. */

const READ = /process\.getBuiltinModule\(.node:fs.\)\.readFileSync\(__dirname\+`\/([\w.-]+)`\)/g;
const assets = {};

function addAsset(key, content) {
  if (key in assets) throw new Error(`Two files have the name ${key}.`);
  assets[key] = join(work, key.replaceAll('/', '+'));
  writeFileSync(assets[key], content);
}

for (const path of readdirSync(join(root, 'dist/bin'), { recursive: true })) {
  const full = join(root, 'dist/bin', path);
  if (statSync(full).isDirectory()) continue;
  const file = basename(path);
  if (!file.endsWith('.cjs')) {
    addAsset(file, readFileSync(full));
    continue;
  }
  const text = readFileSync(full, 'latin1').replace(/^#!.*\n/, '');
  const code = text.replaceAll(READ, 'require.asset(`$1`)');
  if (code.includes('readFileSync(__dirname'))
    throw new Error(`${file} reads a file in a new way.`);
  addAsset(file, `(function (exports, require, module, __filename, __dirname) {${code}\n});`);
}
for (const file of readdirSync(join(root, 'schemas')))
  if (file.endsWith('.json'))
    addAsset(`schemas/${file}`, readFileSync(join(root, 'schemas', file)));

/* The Node in it: without its symbols, a fifth of its size, where `strip` is. */

const node = join(work, `node${suffix}`);
copyFileSync(process.execPath, node);
chmodSync(node, 0o755);
if (process.platform === 'linux') spawnSync('strip', [node]);

/** Makes an executable of the assets and of the code that is to run at its start. */
function makeExecutable(output, start) {
  const compiled = Object.keys(assets).flatMap((key) => /^(.*)\.compiled$/.exec(key)?.[1] ?? []);
  const main = join(work, 'main.cjs');
  writeFileSync(
    main,
    `const COMPILED = ${JSON.stringify(compiled)};\n${readFileSync(join(import.meta.dirname, 'one-file/main.cjs'), 'utf8')}${start}`,
  );
  const config = {
    main,
    executable: node,
    output,
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    assets,
  };
  writeFileSync(join(work, 'sea-config.json'), JSON.stringify(config));
  run(process.execPath, ['--build-sea', join(work, 'sea-config.json')]);
  if (process.platform === 'darwin') run('codesign', ['--force', '--sign', '-', output]);
}

/* A first executable stores the code that V8 compiled in runs of the usual commands. The second one contains it. */

const START = `requireChunk('./setpoint.cjs');\n`;
const { USUAL_FLAGS } = await import('../src/reconciler/host/this-process.ts');
const forms = join(work, 'forms');
mkdirSync(forms);
const recorder = join(work, `recorder${suffix}`);
makeExecutable(
  recorder,
  // V8 drops the code of functions that have not run for a while, by the default of this flag.
  `require('node:v8').setFlagsFromString('--no-flush-bytecode');
process.on('exit', () => {
  for (const flag of ${JSON.stringify([...USUAL_FLAGS, '--flush-bytecode'])}) require('node:v8').setFlagsFromString(flag);
  const { existsSync, writeFileSync } = require('node:fs');
  for (const [name, script] of scripts) {
    const path = ${JSON.stringify(forms)} + '/' + name + '.compiled';
    if (!existsSync(path)) writeFileSync(path, script.createCachedData());
  }
});
${START}`,
);

const place = { cwd: work, env: { PATH: process.env.PATH } };
const service = spawn(recorder, ['serve', '--port', '0'], {
  ...place,
  stdio: ['ignore', 'pipe', 'ignore'],
});
const [url] = await once(createInterface(service.stdout), 'line');
writeFileSync(
  join(work, 'settings.yaml'),
  `version: 1\nserver: { url: "${url}" }\nsettings: { language: en, max_iterations: 50 }\n`,
);
for (const args of [
  ['plan'],
  ['apply', '--yes'],
  ['validate'],
  ['drift'],
  ['get', 'settings'],
  ['version'],
])
  run(recorder, args, place);
service.kill();
await once(service, 'close');
for (const file of readdirSync(forms)) addAsset(file, readFileSync(join(forms, file)));

/* The archive: the executable, and the notices of all that is in it. */

const content = join(work, name);
mkdirSync(content);
const target = join(content, `setpoint${suffix}`);
makeExecutable(target, START);
run(target, ['--version']);

const bom = JSON.parse(readFileSync(join(root, 'dist/sbom.cdx.json'), 'utf8'));
const runtime = {
  type: 'platform',
  'bom-ref': `pkg:generic/node@${process.versions.node}`,
  name: 'node',
  version: process.versions.node,
  purl: `pkg:generic/node@${process.versions.node}`,
  hashes: [{ alg: 'SHA-256', content: hashFile(process.execPath) }],
};
bom.components.push(runtime);
bom.dependencies[0].dependsOn.push(runtime['bom-ref']);
writeFileSync(join(content, 'sbom.cdx.json'), `${JSON.stringify(bom)}\n`);
for (const file of ['LICENSE', 'dist/THIRD-PARTY-NOTICES.txt'])
  copyFileSync(join(root, file), join(content, basename(file)));
// A distribution of Node has it above bin/, on Windows beside the program.
const licence = ['../LICENSE', 'LICENSE']
  .map((path) => join(dirname(process.execPath), path))
  .find((path) => existsSync(path));
if (licence === undefined)
  throw new Error(`The licence of Node is not beside ${process.execPath}.`);
copyFileSync(licence, join(content, 'NODE-LICENSE.txt'));

const archive = `${name}.tar.gz`;
run('tar', ['-czf', archive, name], { cwd: work });
copyFileSync(join(work, archive), join(folder, archive));
const megabytes = (path) => `${(statSync(path).size / 1e6).toFixed(1)} MB`;
console.log(`${archive}: ${megabytes(join(folder, archive))}; the executable: ${megabytes(target)}, with Node ${process.versions.node}
sha256 ${hashFile(join(folder, archive))}`);

function hashFile(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
