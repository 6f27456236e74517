import { existsSync, readFileSync } from 'node:fs';
import Module from 'node:module';
import { dirname } from 'node:path';
import { Script } from 'node:vm';
import { inflateRawSync } from 'node:zlib';

/**
 * Loads a CommonJS file from the compiled form that the build put beside it, as PATH.compiled, so that V8 need not compile half
 * a megabyte on every run. V8 takes a form only if its own version made it from the same text; otherwise, and without such a
 * file, it compiles the text. A later `require` of the file gets the same module.
 */
export function loadCompiled(path: string): void {
  if (!existsSync(`${path}.compiled`)) return;
  const module = new Module(path);
  module.filename = path;
  const code = readFileSync(path, 'latin1');
  const text = `(function (exports, require, module, __filename, __dirname) {${code}\n});`;
  const script = new Script(text, { filename: path, cachedData: compiledForm(path) });
  const require = Module.createRequire(path);
  require.cache[path] = module;
  const run: unknown = script.runInThisContext();
  if (typeof run !== 'function') return;
  run.call(module.exports, module.exports, require, module, path, dirname(path));
  module.loaded = true;
}

function compiledForm(path: string): Buffer | undefined {
  try {
    return inflateRawSync(readFileSync(`${path}.compiled`));
  } catch {
    return undefined;
  }
}
