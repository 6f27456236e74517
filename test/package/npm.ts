import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Npm {
  readonly cwd: string;
  /** Cache, prefix and configuration are kept in here, and none of this machine's are read. */
  readonly home: string;
  /** Where packages come from; without it npm reaches nothing. */
  readonly registry?: string;
}

const onWindows = process.platform === 'win32';

/** What npm, or npx, prints. Rejects with its output if it fails. */
export async function npm(
  program: 'npm' | 'npx',
  args: readonly string[],
  { cwd, home, registry = 'http://127.0.0.1:9' }: Npm,
): Promise<string> {
  const { PATH = '', SystemRoot = '' } = process.env;
  const { stdout } = await promisify(execFile)(program, [...args], {
    cwd,
    shell: onWindows,
    maxBuffer: 16 * 1024 * 1024,
    env: {
      PATH,
      ...(onWindows ? { SystemRoot, APPDATA: home, TEMP: home } : {}),
      HOME: home,
      npm_config_cache: join(home, 'cache'),
      npm_config_prefix: join(home, 'prefix'),
      npm_config_userconfig: join(home, 'user.npmrc'),
      npm_config_globalconfig: join(home, 'global.npmrc'),
      npm_config_registry: registry,
      npm_config_update_notifier: 'false',
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_ignore_scripts: 'true',
    },
  });
  return stdout;
}

/** What `npm pack --json` reports of a package. */
interface Packed {
  readonly name: string;
  readonly version: string;
  readonly filename: string;
  readonly integrity: string;
  /** In bytes. */
  readonly unpackedSize: number;
  readonly files: readonly PackedFile[];
}

export interface PackedFile {
  readonly path: string;
  readonly mode: number;
}

/** Packs folders into `home`, without running their scripts. */
export async function pack(folders: readonly string[], options: Npm): Promise<readonly Packed[]> {
  const args = ['pack', ...folders, '--json', '--pack-destination', options.home];
  return JSON.parse(await npm('npm', args, options)) as readonly Packed[];
}
