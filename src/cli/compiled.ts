import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import type * as RunCommand from './run-command.ts';

/** V8 takes a compiled form only from its own version, so that its name has it: one for another V8 is not even read. */
const FORM = `${process.versions.v8}-${process.platform}-${process.arch}.cjs.compiled`;

type Commands = typeof RunCommand;

/** What runs a command line. The built command has it as a chunk, the sources as a module. */
export async function loadCommands(): Promise<Commands> {
  const compiled = compiledChunk(join(import.meta.dirname, 'chunks'), 'commands.cjs');
  return compiled === null ? import('./run-command.ts') : (compiled as Commands);
}

/**
 * What a chunk of the command exports, loaded from the compiled form that the build put beside it, so that V8 need not compile it
 * on every run; the chunks that it requires are loaded in the same way. Null if there is no form for this V8. A later `require` of
 * the file gets the same module. Only the built command has chunks: it is CommonJS, so that it has a `require`.
 */
function compiledChunk(folder: string, name: string): object | null {
  const path = join(folder, name);
  const known = require.cache[path];
  if (known !== undefined) return known.exports as object;
  const form = path.replace(/cjs$/, FORM);
  return existsSync(form) ? run(folder, path, readFileSync(form)) : null;
}

function run(folder: string, path: string, cachedData: Buffer): object {
  const code = readFileSync(path, 'latin1');
  const text = `(function (exports, require, module, __filename, __dirname) {${code}\n});`;
  const script = new Script(text, { filename: path, cachedData });
  const exports = {};
  const module = { exports, id: path, filename: path, loaded: true, children: [], paths: [] };
  Object.assign(require.cache, { [path]: module });
  const requireFor = (id: string): unknown => {
    if (!id.startsWith('./')) return require(id);
    return compiledChunk(folder, id.slice(2)) ?? require(join(folder, id));
  };
  const body = script.runInThisContext() as (...args: readonly unknown[]) => void;
  body.call(exports, exports, requireFor, module, path, folder);
  return module.exports;
}
