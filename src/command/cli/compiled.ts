import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { keepForms, keptForm } from './form-cache.ts';
import type * as RunCommand from './run-command.ts';

/** V8 takes a compiled form only from its own version, so that its name has it: one for another V8 is not even read. */
const FORM = `${process.versions.v8}-${process.platform}-${process.arch}.cjs.compiled`;
/** The chunks that have one. */
const DAILY: readonly string[] = ['commands.cjs', 'plan.cjs', 'apply.cjs'];

type Commands = typeof RunCommand;

/** What V8 has compiled in this run, by the name of the form. */
const compiledNow = new Map<string, Script>();

/** What runs a command line. The built command has it as a chunk, the sources as a module. */
export async function loadCommands(): Promise<Commands> {
  const chunks = join(import.meta.dirname, 'chunks');
  return existsSync(chunks)
    ? (compiledChunk(chunks, 'commands.cjs') as Commands)
    : import('./run-command.ts');
}

/** Keeps for later runs what had to be compiled in this one. */
export function keepCompiled(): Promise<void> {
  return keepForms(compiledNow, process.env);
}

/**
 * What a chunk of the command exports, loaded from its compiled form, so that V8 need not compile it on every run: the one that the
 * build put beside it or, if that is for another V8, the one that an earlier run has kept. The chunks that it requires are loaded
 * in the same way. A later `require` of the file gets the same module. The built command is CommonJS, so that it has a `require`.
 */
function compiledChunk(folder: string, name: string): object {
  const path = join(folder, name);
  const known = require.cache[path];
  if (known !== undefined) return known.exports as object;
  const form = path.replace(/cjs$/, FORM);
  const formName = name.replace(/cjs$/, FORM);
  const cachedData = existsSync(form) ? readFileSync(form) : keptForm(formName, process.env);
  // Its bytes are characters: see scripts/build.mjs.
  const script = new Script(readFileSync(path, 'latin1'), {
    filename: path,
    ...(cachedData === null ? {} : { cachedData }),
  });
  if (script.cachedDataRejected !== false) compiledNow.set(formName, script);
  return run(script, folder, path);
}

function run(script: Script, folder: string, path: string): object {
  const exports = {};
  const module = { exports, id: path, filename: path, loaded: true, children: [], paths: [] };
  Object.assign(require.cache, { [path]: module });
  const requireFor = (id: string): unknown => {
    if (!id.startsWith('./')) return require(id);
    const name = id.slice('./'.length);
    return DAILY.includes(name) ? compiledChunk(folder, name) : require(join(folder, name));
  };
  const body = script.runInThisContext() as (...args: readonly unknown[]) => void;
  body.call(exports, exports, requireFor, module, path, folder);
  return module.exports;
}
