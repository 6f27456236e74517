import { basename, dirname } from 'node:path';

/**
 * Whether a file has changes that are not committed, as git says; false where there is no git or no work tree. git runs
 * without a shell and without hooks of the repository's own, and sees of the environment PATH and HOME alone.
 */
export async function hasUncommittedChanges(
  path: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const { execFile } = await import('node:child_process');
  const scrubbed: Record<string, string> = {};
  for (const name of ['PATH', 'HOME'] as const) {
    const value = env[name];
    if (value !== undefined) scrubbed[name] = value;
  }
  const args = ['-c', 'core.fsmonitor=false', '--no-optional-locks', 'status', '--porcelain'];
  return new Promise((resolve) => {
    execFile(
      'git',
      [...args, '--', basename(path)],
      { cwd: dirname(path), env: scrubbed, timeout: 10_000, windowsHide: true },
      (error, stdout) => resolve(error === null && stdout.trim() !== ''),
    );
  });
}
