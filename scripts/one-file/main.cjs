// The start of the single executable: Node runs it instead of a file. It loads the chunks of the command from the assets that
// scripts/one-file.mjs has put into the executable, each with the form that V8 compiled when the executable was built.
const { getRawAsset } = require('node:sea');
const { Script } = require('node:vm');

const modules = new Map();
const scripts = new Map();

function readAsset(name) {
  return Buffer.from(getRawAsset(name));
}

function requireChunk(id) {
  if (!id.endsWith('.cjs')) return require(id);
  const name = id.slice(id.lastIndexOf('/') + 1);
  const known = modules.get(name);
  if (known !== undefined) return known.exports;
  const cachedData = COMPILED.includes(name) ? readAsset(`${name}.compiled`) : undefined;
  const script = new Script(readAsset(name).latin1Slice(), { filename: name, cachedData });
  scripts.set(name, script);
  // An object without a prototype is a table to V8: see src/command/cli/run-cli.ts.
  const module = { exports: Object.create(null) };
  modules.set(name, module);
  script.runInThisContext().call(module.exports, module.exports, requireChunk, module, name, '');
  return module.exports;
}
requireChunk.asset = readAsset;
