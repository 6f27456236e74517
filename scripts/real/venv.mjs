import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Prints what the release's own lock pins, as requirements. Packages of a repository are no release of a registry. */
const LOCKED = `
import sysconfig, tomllib
with open(sysconfig.get_path('purelib') + '/openhands/poetry.lock', 'rb') as file:
    packages = tomllib.load(file)['package']
print('\\n'.join(f"{p['name']}=={p['version']}" for p in packages if p.get('source', {}).get('type') != 'git'))
`;

/** What takes the place of a locked version, by release: 0.8.0 lacks a module that 0.62.0 imports when it starts. */
const IN_PLACE = { '0.62.0': ['browser-use==0.9.5'] };

/** The servers that carry no lock, with the packages of each that have its release. */
const PINNED = {
  'openhands-agent-server': { packages: ['agent-server', 'sdk', 'tools', 'workspace'] },
  'openhands-automation': { packages: ['automation'] },
};

/** Where environments are kept: SETPOINT_REAL_CACHE, or a folder of the user's cache. */
export function cacheFolder(env = process.env) {
  return (
    env.SETPOINT_REAL_CACHE ||
    join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'setpoint', 'real')
  );
}

/**
 * The virtual environment of a release, built if the cache does not hold it complete. Resolves to its folder. An environment is
 * complete if the file beside it names the recipe that built it.
 */
export function provideVenv({ server, release }, { python, cache }) {
  const folder = join(cache, `${server}-${release}`);
  const mark = `${folder}.complete`;
  const pins = pinsOf(server, release);
  const recipe = createHash('sha256')
    .update(JSON.stringify([LOCKED, IN_PLACE[release] ?? [], pins && readFileSync(pins, 'utf8')]))
    .digest('hex');
  if (existsSync(folder) && existsSync(mark) && readFileSync(mark, 'utf8') === recipe)
    return folder;

  rmSync(mark, { force: true });
  mkdirSync(cache, { recursive: true });
  const uv = installer(cache, python);
  run(uv, ['venv', '--quiet', '--clear', '--python', python, folder]);
  const install = (...args) =>
    run(uv, ['pip', 'install', '--quiet', '--python', join(folder, 'bin/python'), ...args]);
  if (pins === null) installLocked(install, folder, release);
  else installPinned(install, pins, PINNED[server].packages, release);
  writeFileSync(mark, recipe);
  return folder;
}

/** uv, in an environment of its own: with it an environment takes seconds where pip takes minutes. */
function installer(cache, python) {
  const folder = join(cache, 'uv');
  const uv = join(folder, 'bin/uv');
  if (existsSync(uv)) return uv;
  run(python, ['-m', 'venv', '--clear', folder]);
  run(join(folder, 'bin/python'), ['-m', 'pip', 'install', '--quiet', 'uv']);
  return uv;
}

/** The application server, with the packages of the lock file that it carries: newer ones break the older releases. */
function installLocked(install, folder, release) {
  const wanted = `openhands-ai==${release}`;
  install('--no-deps', wanted);
  const locked = `${folder}.lock.txt`;
  writeFileSync(locked, run(join(folder, 'bin/python'), ['-c', LOCKED]));
  install('--constraint', locked, wanted);
  for (const other of IN_PLACE[release] ?? []) install(other);
}

/** A server that carries no lock. Nothing is built but func-timeout, which has no wheel. */
function installPinned(install, pins, packages, release) {
  const wheels = ['--only-binary', ':all:', '--no-binary', 'func-timeout'];
  install(
    ...wheels,
    '--constraint',
    pins,
    ...packages.map((name) => `openhands-${name}==${release}`),
  );
}

/** The pins beside this file; null for a server that carries its own. */
function pinsOf(server, release) {
  if (PINNED[server] === undefined) return null;
  return join(import.meta.dirname, `${server.replace('openhands-', '')}-${release}.txt`);
}

function run(command, args) {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
