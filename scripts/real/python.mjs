import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const SUITABLE = 'import sys, venv; print(sys.version_info[:2] in ((3, 12), (3, 13)))';

/** A Python that the servers run on: that of PYTHON, then of pyenv, then on PATH. Null if there is none. */
export function findPython(env = process.env) {
  if (env.PYTHON) return isSuitable(env.PYTHON) ? env.PYTHON : null;
  return [...ofPyenv(env), 'python3.12', 'python3.13', 'python3'].find(isSuitable) ?? null;
}

function ofPyenv(env) {
  const versions = join(env.PYENV_ROOT || join(homedir(), '.pyenv'), 'versions');
  if (!existsSync(versions)) return [];
  return readdirSync(versions)
    .filter((name) => /^3\.1[23]\./.test(name))
    .map((name) => join(versions, name, 'bin/python'));
}

function isSuitable(python) {
  try {
    const answer = execFileSync(python, ['-c', SUITABLE], { encoding: 'utf8', stdio: 'pipe' });
    return answer.trim() === 'True';
  } catch {
    return false;
  }
}
