// What the source weighs, and how many of its files a run goes through: `node scripts/measure.mjs` prints both as JSON. The sources are
// transpiled one by one beside node_modules and run under V8's coverage; a file counts if a function of it was called. A heal is that of
// `setpoint watch`: it reads the embedded service as declared, somebody changes it, and the controller puts it back, once.
// `--files plan` (or apply, or heal) prints the files instead.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');
const all = readdirSync(join(root, 'src'), { recursive: true }).filter((name) =>
  name.endsWith('.ts'),
);
const texts = new Map(all.map((name) => [name, readFileSync(join(root, 'src', name), 'utf8')]));
const handWritten = [...texts].filter(([name]) => !name.endsWith('.gen.ts'));
/** The files that are about sandboxes themselves, and the names of settings that have the word in them. */
const OWN = /sandboxes|^emulator\/v1\//;
const FIELD = /\b(?:default_)?sandbox_\w+/gi;
const folder = mkdtempSync(join(root, 'node_modules/.measure-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

for (const [name, text] of texts) {
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { target: 'es2023', module: 'esnext', verbatimModuleSyntax: true },
  });
  const path = join(folder, 'src', name.replace(/\.ts$/, '.js'));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, outputText.replaceAll(/(['"])(\.{1,2}\/[^'"]+)\.ts\1/g, '$1$2.js$1'));
}
writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
mkdirSync(join(folder, 'schemas'));
writeSettings('settings.yaml', 'en');

const MAIN = join(folder, 'src/command/cli/main.js');
const RUNS = {
  plan: () => run('plan', ['plan']),
  apply: () => run('apply', ['apply', '--yes']),
  heal,
};

const [flag, named] = process.argv.slice(2);
if (flag === '--files') {
  for (const file of [...(await RUNS[named]())].toSorted(byName)) console.log(file);
} else {
  console.log(
    JSON.stringify(
      {
        files: all.length,
        'hand-written lines': linesOf(handWritten),
        wings: wings(),
        'files that name sandboxes': handWritten.filter(([, text]) => /sandbox/i.test(text)).length,
        'files that name them outside their own, settings fields aside': handWritten.filter(
          ([name, text]) => !OWN.test(name) && /sandbox/i.test(text.replaceAll(FIELD, '')),
        ).length,
        'comparisons of a resource with a name': sum(
          handWritten.map(([, text]) => [...text.matchAll(/resource'?\]? [!=]== '\w+'/g)].length),
        ),
        'names with three definitions or more': reusedNames(),
        'files of a plan': RUNS.plan().size,
        'files of an apply': RUNS.apply().size,
        'files of a heal': (await RUNS.heal()).size,
      },
      null,
      2,
    ),
  );
}

function writeSettings(name, language, more = '') {
  const text = `version: 1
server: { url: "embedded:" }
settings: { language: ${language}, agent: A, llm_model: m, max_iterations: 5 }
${more}`;
  writeFileSync(join(folder, name), text);
}

function byName(one, other) {
  return one < other ? -1 : 1;
}

function sum(numbers) {
  return numbers.reduce((total, one) => total + one, 0);
}

/** Names that functions, types and constants of three files or more have. */
function reusedNames() {
  const files = new Map();
  for (const [name, text] of handWritten) {
    const declared = text.matchAll(
      /^(?:export )?(?:async )?(?:function\*?|interface|type|class) (\w+)/gm,
    );
    for (const [, one] of declared) files.set(one, (files.get(one) ?? new Set()).add(name));
  }
  return [...files.values()].filter((named) => named.size >= 3).length;
}

function linesOf(files) {
  return sum(files.map(([, text]) => text.split('\n').length));
}

/** Files and hand-written lines of each folder of src/. */
function wings() {
  const names = new Set(all.filter((name) => name.includes('/')).map((name) => name.split('/')[0]));
  return Object.fromEntries(
    [...names].toSorted(byName).map((wing) => {
      const isIn = (name) => name.startsWith(`${wing}/`);
      const files = all.filter(isIn).length;
      return [wing, { files, lines: linesOf(handWritten.filter(([name]) => isIn(name))) }];
    }),
  );
}

/** The files of src/ of which a command calls a function, without the embedded service's own. */
function run(name, args) {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    ...optionsFor(name),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return calledIn(name);
}

/** The same of a controller that heals once. Time passes 20 times as fast for it. */
async function heal() {
  writeSettings('watched.yaml', 'en', 'watch: { mode: heal, interval: 10s }\n');
  writeSettings('changed.yaml', 'de');
  run('before', ['apply', '--yes', '-f', 'watched.yaml']);
  const quick = ['-r', join(root, 'test/fixture/quick-time.cjs')];
  const args = ['watch', '-f', 'watched.yaml', '-o', 'json'];
  const child = spawn(process.execPath, [...quick, MAIN, ...args], {
    ...optionsFor('heal', { SETPOINT_TEST_TIMES: '20', SETPOINT_TEST_SINCE: String(Date.now()) }),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const ended = new Promise((resolve) => child.on('close', resolve));
  let isWritten = false;
  for await (const line of createInterface(child.stdout)) {
    const { kind, status } = JSON.parse(line);
    isWritten ||= kind === 'write';
    if (kind !== 'state' || status !== 'in-sync') continue;
    if (isWritten) child.kill('SIGTERM');
    else run('between', ['apply', '--yes', '-f', 'changed.yaml']);
  }
  const exit = await ended;
  if (!isWritten) throw new Error(`watch ended with ${exit} and healed nothing: ${stderr}`);
  return calledIn('heal');
}

/** Where a process runs, and where it keeps its coverage. */
function optionsFor(name, more = {}) {
  const env = { ...process.env, ...more, NODE_V8_COVERAGE: join(folder, 'coverage', name) };
  return { cwd: folder, env };
}

function calledIn(name) {
  const coverage = join(folder, 'coverage', name);
  const called = new Set();
  for (const file of readdirSync(coverage)) {
    const { result } = JSON.parse(readFileSync(join(coverage, file), 'utf8'));
    for (const { url, functions } of result) {
      const [, source] = url.split(`${folder}/src/`);
      const isCalled = functions.some(
        ({ functionName, ranges }) => functionName !== '' && ranges[0].count > 0,
      );
      if (source !== undefined && !source.startsWith('emulator/') && isCalled)
        called.add(source.replace(/\.js$/, '.ts'));
    }
  }
  return called;
}
