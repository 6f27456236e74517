// Writes V8's compiled form of what every command loads: of the very text that src/cli/compiled.ts makes of the file, and as V8 has
// it after a run, so that what a plan and an apply call is compiled too. Usage: node compile-commands.mjs DIST/bin/chunks
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Module from 'node:module';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import v8 from 'node:v8';
import { Script } from 'node:vm';
import { deflateRawSync } from 'node:zlib';

const chunks = process.argv[2];
const path = join(chunks, 'commands.cjs');
const code = readFileSync(path, 'latin1');
const script = new Script(
  `(function (exports, require, module, __filename, __dirname) {${code}\n});`,
  { filename: 'commands.cjs' },
);
// V8 takes a compiled form only if its flags are as they were when it was made, and a run changes one after it has loaded this.
v8.setFlagsFromString = () => {};

const module = new Module(path);
const require = Module.createRequire(path);
require.cache[path] = module;
script.runInThisContext().call(module.exports, module.exports, require, module, path, chunks);

const folder = mkdtempSync(join(chunks, 'run-'));
process.on('exit', () => {
  process.chdir(chunks);
  rmSync(folder, { recursive: true, force: true });
});
process.chdir(folder);
writeFileSync(
  'settings.yaml',
  'version: 1\nserver: { url: "embedded:" }\nsettings: { language: en, max_iterations: 50 }\n',
);
const { runCommand } = require(join(chunks, 'run-command.cjs'));
const io = {
  env: {},
  stdin: process.stdin,
  stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
  stderr: process.stderr,
  signal: new AbortController().signal,
  abandon: new AbortController().signal,
};
for (const argv of [['plan'], ['apply', '--yes']]) {
  const exitCode = await runCommand(argv, io);
  if (exitCode !== 0) throw new Error(`setpoint ${argv.join(' ')} ended with ${exitCode}`);
}
// Deflated: brotli is a fifth smaller, and takes three times as long to unpack at every start.
writeFileSync(`${path}.compiled`, deflateRawSync(script.createCachedData(), { level: 9 }));
process.exit();
