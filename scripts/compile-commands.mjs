// Writes V8's compiled form of each chunk that is loaded every day: of the very text that src/command/cli/compiled.ts makes of the file, and as
// V8 has it after a run, so that what a command calls is compiled too. Usage: node compile-commands.mjs DIST/bin/chunks NAME...
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Module from 'node:module';
import { basename, join } from 'node:path';
import { Writable } from 'node:stream';
import v8 from 'node:v8';
import { Script } from 'node:vm';

const [chunks, ...names] = process.argv.slice(2);
// V8 takes a compiled form only if its flags are as they were when it was made, and a run changes one after it has loaded this.
v8.setFlagsFromString = () => {};

const scripts = new Map();
const require = Module.createRequire(join(chunks, 'commands.cjs'));
// In place of Node's own loading, so that each chunk is a script of which V8 can be asked for the compiled form.
require.extensions['.cjs'] = (module, path) => {
  if (!names.includes(basename(path, '.cjs'))) return require.extensions['.js'](module, path);
  const script = new Script(readFileSync(path, 'latin1'), { filename: path });
  scripts.set(path, script);
  const requireFor = Module.createRequire(path);
  script.runInThisContext().call(module.exports, module.exports, requireFor, module, path, chunks);
};

const folder = mkdtempSync(join(chunks, 'run-'));
process.on('exit', () => {
  process.chdir(chunks);
  rmSync(folder, { recursive: true, force: true });
});
process.chdir(folder);
// As people write it: what they use is compiled, and what few use is not.
writeFileSync(
  'settings.yaml',
  `# A service.
version: 1
server: { url: "embedded:" }
settings:
  language: en # the first
  max_iterations: 50
  llm_model: some/model
  llm_base_url: https://models.example.com
  llm_api_key: \${env:LLM_API_KEY}
  enable_default_condenser: true
  git_user_email: 'agent@example.com'
`,
);
const { runCommand } = require(join(chunks, 'commands.cjs'));
const io = {
  env: { LLM_API_KEY: 'key' },
  stdin: process.stdin,
  stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
  stderr: process.stderr,
  signal: new AbortController().signal,
  abandon: new AbortController().signal,
};
// Not packed: unpacking takes longer than V8 takes to read it.
const V8 = `${process.versions.v8}-${process.platform}-${process.arch}`;
const keep = (name) => {
  const form = join(chunks, `${name}.${V8}.cjs.compiled`);
  writeFileSync(form, scripts.get(join(chunks, `${name}.cjs`)).createCachedData());
};
const runs = async (...commands) => {
  for (const argv of commands) {
    const exitCode = await runCommand(argv, io);
    if (exitCode !== 0) throw new Error(`setpoint ${argv.join(' ')} ended with ${exitCode}`);
  }
};
// What only an apply calls of the chunks that a plan needs, too, is compiled by the apply.
await runs(['validate'], ['plan']);
names.filter((name) => name !== 'apply').forEach(keep);
await runs(['apply', '--yes'], ['drift']);
names.filter((name) => name === 'apply').forEach(keep);
process.exit();
