import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { VERSION } from '../../reconciler/model/version.ts';

/** The way in which this command was installed, and the step that replaces it by another version. */
export interface Installation {
  /** A word or two: `npm`, `npx`, `pip`, `pipx`, `uv`, `uvx`, `container image`, `one file`, `checkout`. */
  readonly way: string;
  readonly folder: string;
  readonly upgrade: string;
}

/** In the folder of the package: the way, written by what makes a package that is not npm's. */
const MARK = 'installed-by';

/** The way of the single executable, which `scripts/one-file.mjs` builds. */
const ONE_FILE = 'one file';

const UPGRADES: Readonly<Record<string, string>> = {
  npm: 'npm install setpoint@VERSION (with --global, if it was installed so)',
  npx: 'npx setpoint@VERSION',
  pip: 'pip install --upgrade setpoint',
  pipx: 'pipx upgrade setpoint',
  uv: 'uv tool upgrade setpoint',
  uvx: 'uvx setpoint@latest',
  'container image': 'pull the image of the other version, by its digest',
  [ONE_FILE]: 'replace the file by that of the other version, after a look at its hash',
  checkout: 'git pull && npm ci && npm run build',
};

/** Finds out how the command whose files are in `folder`, or below its package, was installed. Reads at most one small file. */
export function findInstallation(folder: string): Installation {
  if (process.getBuiltinModule('node:sea').isSea())
    return describe(ONE_FILE, dirname(process.execPath));
  const root = findPackage(folder);
  const mark = join(root, MARK);
  const marked = existsSync(mark) ? readFileSync(mark, 'utf8').trim() : null;
  const way = marked === 'pip' ? findPythonTool(root) : (marked ?? findNodeTool(root));
  return describe(way, root);
}

function describe(way: string, folder: string): Installation {
  return { way, folder, upgrade: UPGRADES[way] ?? 'see docs/install.md' };
}

/** The text of `setpoint version`: its first line is that of `setpoint --version`. */
export function formatVersion({ way, folder, upgrade }: Installation): string {
  return `setpoint ${VERSION}
Installed: ${way}, in ${folder}, with Node ${process.versions.node}
To upgrade: ${upgrade}
`;
}

function findPackage(folder: string): string {
  let root = folder;
  while (!existsSync(join(root, 'package.json')) && dirname(root) !== root) root = dirname(root);
  return root;
}

function findNodeTool(root: string): string {
  const parts = root.split(sep);
  if (parts.includes('_npx')) return 'npx';
  return parts.includes('node_modules') ? 'npm' : 'checkout';
}

function findPythonTool(root: string): string {
  const parts = root.split(sep);
  if (parts.includes('pipx')) return 'pipx';
  if (!parts.includes('uv')) return 'pip';
  return parts.includes('tools') ? 'uv' : 'uvx';
}
