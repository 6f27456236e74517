import type * as RunCommand from './run-command.ts';
import { VERSION } from '../../reconciler/model/version.ts';
import { HELP } from './help.gen.ts';
import { findInstallation, formatVersion } from './installation.ts';
import { writeText, type Io } from './io.ts';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { Script } from 'node:vm';
import { USUAL_FLAGS } from '../../reconciler/host/this-process.ts';

/** Runs one command line (without node and script); resolves to its exit code. Nothing of the process is touched but `io`. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const text = await findFixedText(argv);
  if (text !== undefined) {
    await writeText(io.stdout, text);
    return argv.length === 0 ? USAGE : 0;
  }
  if (argv.join(' ') === 'help -o json') {
    const { helpDocument } = await import('./help-document.ts');
    await writeText(io.stdout, `${JSON.stringify(helpDocument(), null, 2)}\n`);
    return 0;
  }
  // A shell waits for this at each Tab: the commands are not loaded for it.
  if (argv[0] === 'completion' && argv[1] === '--complete') {
    const { complete } = await import('./completion/complete.ts');
    return complete(argv.slice(2), io, loadCommands);
  }
  const { runCommand } = await loadCommands();
  return runCommand(argv, io);
}

/** The exit code of a command line without a command. */
const USAGE = 3;

/** Returns the output of a command line that asks only for help or the version, without loading a command. */
async function findFixedText([first = '--help', second, ...rest]: readonly string[]): Promise<
  string | undefined
> {
  if (rest.length > 0) return undefined;
  if (second === undefined) {
    if (isHelp(first) || first === 'help') return HELP;
    if (first === 'version') return formatVersion(findInstallation(import.meta.dirname));
    return ['--version', '-V'].includes(first) ? `setpoint ${VERSION}\n` : undefined;
  }
  const name = first === 'help' ? second : first;
  if (first !== 'help' && !isHelp(second)) return undefined;
  const { COMMAND_HELP } = await import('./command-help.gen.ts');
  return Object.hasOwn(COMMAND_HELP, name) ? COMMAND_HELP[name] : undefined;
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h';
}

/** The chunks whose form compiled by V8 is stored. */
const DAILY: readonly string[] = ['commands.cjs', 'plan.cjs', 'apply.cjs'];
/** The chunks of this build: V8 itself compares a form with its text by the length alone. Filled in by scripts/build.mjs. */
const BUILD = '%BUILD%';
/** V8 accepts a compiled form only from its own version, so its name has it: one for another V8 is not even read. */
const FORM = `${process.versions.v8}-${process.platform}-${process.arch}.cjs.compiled`;
const DAYS_UNUSED = 30;
/** The code that Node puts before a CommonJS module. */
const BEFORE = '(function (exports, require, module, __filename, __dirname) {';
const AFTER = '\n});';

/** The scripts that V8 has compiled in this run, by the name of the form. */
const compiledNow = new Map<string, Script>();

/** Loads the module that runs a command line. The built command has it as a chunk, the sources as a module. */
export async function loadCommands(): Promise<typeof RunCommand> {
  const chunks = join(import.meta.dirname, 'chunks');
  return existsSync(chunks)
    ? (loadCompiledChunk(chunks, 'commands.cjs') as typeof RunCommand)
    : import('./run-command.ts');
}

/**
 * The exports of a chunk of the command, loaded from the compiled form that an earlier run has stored, so that V8 need not compile it on
 * every run. The chunks that it requires are loaded in the same way. A later `require` of the file gets the same module. The built command
 * is CommonJS, so it has a `require`.
 */
function loadCompiledChunk(folder: string, name: string): object {
  const path = join(folder, name);
  const known = require.cache[path];
  if (known !== undefined) return known.exports as object;
  const formName = name.replace(/cjs$/, FORM);
  const text = functionText(path);
  const cachedData = readCompiledForm(formName, process.env);
  const script = new Script(text, {
    filename: path,
    ...(cachedData === null ? {} : { cachedData }),
  });
  if (script.cachedDataRejected !== false) compiledNow.set(formName, script);
  return runChunk(script, folder, path);
}

/**
 * Chunks and their forms are read to here, one after another: memory that is new costs more than what is done with it, and of this only
 * the pages that are written to. The build refuses a chunk of more than a fourth of it; a form that was larger V8 would refuse.
 */
const SPACE = Buffer.allocUnsafeSlow(4 * 1024 * 1024);

/** A chunk as a function. Made of its bytes: V8 would copy a text that is joined of parts. */
function functionText(path: string): string {
  const start = SPACE.write(BEFORE, 'latin1');
  const end = start + readIntoSpace(path, start);
  // Its bytes are characters: see scripts/build.mjs.
  return SPACE.toString('latin1', 0, end + SPACE.write(AFTER, end, 'latin1'));
}

/** Reads a file to a place in SPACE, and gives its length. */
function readIntoSpace(path: string, at: number): number {
  const file = openSync(path, 'r');
  let [length, more] = [0, 0];
  try {
    do {
      more = readSync(file, SPACE, { offset: at + length });
      length += more;
    } while (more > 0);
    return length;
  } finally {
    closeSync(file);
  }
}

function runChunk(script: Script, folder: string, path: string): object {
  // An object without a prototype is a table to V8. Of another it would copy the list of members for each of the first hundred.
  const exports = Object.create(null) as object;
  const module = { exports, id: path, filename: path, loaded: true, children: [], paths: [] };
  Object.assign(require.cache, { [path]: module });
  const requireFor = (id: string): unknown => {
    if (!id.startsWith('./')) return require(id);
    const name = id.slice('./'.length);
    return DAILY.includes(name) ? loadCompiledChunk(folder, name) : require(join(folder, name));
  };
  const body = script.runInThisContext() as (...args: readonly unknown[]) => void;
  body.call(exports, exports, requireFor, module, path, folder);
  return module.exports;
}

/**
 * The folder of this user's caches; null if nothing may be stored: NODE_DISABLE_COMPILE_CACHE is set, or the system does not report the
 * owner of a folder.
 */
function cacheHome(env: NodeJS.ProcessEnv): string | null {
  if (process.getuid === undefined || (env['NODE_DISABLE_COMPILE_CACHE'] ?? '') !== '') return null;
  const { XDG_CACHE_HOME = '', HOME = '' } = env;
  if (isAbsolute(XDG_CACHE_HOME)) return XDG_CACHE_HOME;
  if (!isAbsolute(HOME)) return null;
  return process.platform === 'darwin' ? join(HOME, 'Library/Caches') : join(HOME, '.cache');
}

/**
 * Reports whether a folder belongs to this user, and no other user can replace its content. Code is read from it: a folder that another
 * user of the machine may have prepared is never used.
 */
function isPrivateFolder(folder: string): boolean {
  const user = process.getuid?.();
  const start = realpathSync.native(folder);
  if (lstatSync(start).uid !== user) return false;
  for (let path = start; ; path = dirname(path)) {
    const { uid, mode } = lstatSync(path);
    const othersWrite = (mode & 0o022) !== 0;
    const onlyTheirOwn = (mode & 0o1000) !== 0 && path !== start;
    if ((uid !== user && uid !== 0) || (othersWrite && !onlyTheirOwn)) return false;
    if (dirname(path) === path) return true;
  }
}

/** The compiled form that an earlier run has stored; null without one. */
function readCompiledForm(name: string, env: NodeJS.ProcessEnv): Buffer | null {
  try {
    formsFolder ??= findFormsFolder(cacheHome(env));
    return formsFolder === '' ? null : SPACE.subarray(0, readIntoSpace(join(formsFolder, name), 0));
  } catch {
    return null; // There is none yet.
  }
}

/** The folder of this build's forms, looked at once in a run; empty if nothing may be read from it. */
let formsFolder: string | null = null;

function findFormsFolder(home: string | null): string {
  const folder = join(home ?? '', 'setpoint', BUILD);
  return home !== null && isPrivateFolder(folder) ? folder : '';
}

/** Keeps for later runs what had to be compiled in this one. A cache that cannot be written is done without. */
export function keepCompiled(env: NodeJS.ProcessEnv): void {
  const home = cacheHome(env);
  // The home of a job in a pipeline is gone before the next run.
  if (compiledNow.size === 0 || home === null || (env['CI'] ?? '') !== '') return;
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  for (const flag of USUAL_FLAGS) setFlagsFromString(flag);
  try {
    const all = join(home, 'setpoint');
    const folder = join(all, BUILD);
    if (!isPrivateFolder(existing(home))) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isPrivateFolder(folder)) return;
    for (const [name, script] of compiledNow) {
      const aside = join(folder, `${name}.${process.pid}`);
      writeFileSync(aside, script.createCachedData(), { mode: 0o600 });
      renameSync(aside, join(folder, name));
    }
    removeOld(all);
  } catch {
    // Read-only, full, or no home: the next run compiles again.
  }
}

function existing(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return existing(dirname(folder));
  }
}

/** Removes the forms of builds that have stored none for long. */
function removeOld(all: string): void {
  for (const build of readdirSync(all)) {
    const path = join(all, build);
    const days = (Date.now() - lstatSync(path).mtimeMs) / 86_400_000;
    if (build !== BUILD && days > DAYS_UNUSED) rmSync(path, { recursive: true, force: true });
  }
}
