import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { Script } from 'node:vm';
import { USUAL_FLAGS } from '../../reconciler/host/quick-end.ts';

/** The chunks of this build: V8 itself compares a form with its text by the length alone. Filled in by scripts/build.mjs. */
const BUILD = '%BUILD%';
const DAYS_UNUSED = 30;

/**
 * Where this user's caches are; null if nothing may be kept: NODE_DISABLE_COMPILE_CACHE is set, or the system does not say whose a
 * folder is.
 */
function cacheHome(env: NodeJS.ProcessEnv): string | null {
  if (process.getuid === undefined || (env['NODE_DISABLE_COMPILE_CACHE'] ?? '') !== '') return null;
  const { XDG_CACHE_HOME = '', HOME = '' } = env;
  if (isAbsolute(XDG_CACHE_HOME)) return XDG_CACHE_HOME;
  if (!isAbsolute(HOME)) return null;
  return process.platform === 'darwin' ? join(HOME, 'Library/Caches') : join(HOME, '.cache');
}

/**
 * Whether a folder is this user's, and nobody else can put something else in its place. What is read from it is code: a folder that
 * another user of the machine may have prepared is never used.
 */
function isOwn(folder: string): boolean {
  const user = process.getuid?.();
  const start = realpathSync(folder);
  if (lstatSync(start).uid !== user) return false;
  for (let path = start; ; path = dirname(path)) {
    const { uid, mode } = lstatSync(path);
    const othersWrite = (mode & 0o022) !== 0;
    const onlyTheirOwn = (mode & 0o1000) !== 0 && path !== start;
    if ((uid !== user && uid !== 0) || (othersWrite && !onlyTheirOwn)) return false;
    if (dirname(path) === path) return true;
  }
}

/** The compiled form that an earlier run has kept; null without one. */
export function keptForm(name: string, env: NodeJS.ProcessEnv): Buffer | null {
  const home = cacheHome(env);
  if (home === null) return null;
  try {
    const folder = join(home, 'setpoint', BUILD);
    return isOwn(folder) ? readFileSync(join(folder, name)) : null;
  } catch {
    return null; // There is none yet.
  }
}

/** Keeps compiled forms for later runs, by name. A cache that cannot be written is done without. */
export async function keepForms(
  scripts: ReadonlyMap<string, Script>,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const home = cacheHome(env);
  // The home of a job in a pipeline is gone before the next run.
  if (scripts.size === 0 || home === null || (env['CI'] ?? '') !== '') return;
  const { setFlagsFromString } = await import('node:v8');
  for (const flag of USUAL_FLAGS) setFlagsFromString(flag);
  try {
    const all = join(home, 'setpoint');
    const folder = join(all, BUILD);
    if (!isOwn(existing(home))) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isOwn(folder)) return;
    for (const [name, script] of scripts) {
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

/** Removes the forms of builds that have kept none for long. */
function removeOld(all: string): void {
  for (const build of readdirSync(all)) {
    const path = join(all, build);
    const days = (Date.now() - lstatSync(path).mtimeMs) / 86_400_000;
    if (build !== BUILD && days > DAYS_UNUSED) rmSync(path, { recursive: true, force: true });
  }
}
