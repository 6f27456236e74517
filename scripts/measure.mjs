// What the source weighs, and how many of its files a run goes through: `node scripts/measure.mjs` prints both as JSON. The sources are
// transpiled one by one beside node_modules and run under V8's coverage; a file counts if a function of it was called.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');
const all = readdirSync(join(root, 'src'), { recursive: true }).filter((name) =>
  name.endsWith('.ts'),
);
const texts = new Map(all.map((name) => [name, readFileSync(join(root, 'src', name), 'utf8')]));
const handWritten = [...texts].filter(([name]) => !name.endsWith('.gen.ts'));
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
writeFileSync(
  join(folder, 'settings.yaml'),
  'version: 1\nserver: { url: "embedded:" }\nsettings: { language: en, agent: A, llm_model: m, max_iterations: 5 }\n',
);

console.log(
  JSON.stringify(
    {
      files: all.length,
      'hand-written lines': sum(handWritten.map(([, text]) => text.split('\n').length)),
      'files that name sandboxes': handWritten.filter(([, text]) => /sandbox/i.test(text)).length,
      'comparisons of a resource with a name': sum(
        handWritten.map(([, text]) => [...text.matchAll(/resource'?\]? [!=]== '\w+'/g)].length),
      ),
      'names with three definitions or more': reusedNames(),
      'files of a plan': filesOf('plan'),
      'files of an apply': filesOf('apply', '--yes'),
    },
    null,
    2,
  ),
);

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

/** The files of src/ of which a command calls a function, without the embedded service's own. */
function filesOf(...args) {
  const coverage = join(folder, 'coverage', args[0]);
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(folder, 'src/command/cli/main.js'), ...args],
    {
      cwd: folder,
      env: { ...process.env, NODE_V8_COVERAGE: coverage },
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  const called = new Set();
  for (const name of readdirSync(coverage)) {
    const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8'));
    for (const { url, functions } of result) {
      const [, file] = url.split(`${folder}/src/`);
      const isCalled = functions.some(
        ({ functionName, ranges }) => functionName !== '' && ranges[0].count > 0,
      );
      if (file !== undefined && !file.startsWith('emulator/') && isCalled) called.add(file);
    }
  }
  return called.size;
}
