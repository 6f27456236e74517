// Builds the wheel: node scripts/wheel.mjs [FOLDER] (default: the current one). The command must be built before (npm run build).
// PYTHON names the Python with pip that runs the build.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const target = resolve(process.argv[2] ?? '.');
const work = mkdtempSync(join(tmpdir(), 'setpoint-wheel-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));

/** The files that the command reads: those of the image, too. */
const FILES = [
  'package.json',
  'LICENSE',
  'dist/bin',
  'dist/THIRD-PARTY-NOTICES.txt',
  'dist/sbom.cdx.json',
  'schemas',
];

cpSync(join(root, 'scripts/python'), work, { recursive: true });
for (const name of ['README.md', 'LICENSE']) cpSync(join(root, name), join(work, name));
for (const name of FILES) {
  const place = join(work, 'setpoint/command', name);
  mkdirSync(dirname(place), { recursive: true });
  cpSync(join(root, name), place, {
    recursive: true,
    filter: (path) => path !== join(root, 'schemas/servers'),
  });
}
writeFileSync(join(work, 'setpoint/command/installed-by'), 'pip\n');

const args = ['-m', 'pip', 'wheel', '--no-deps', '--disable-pip-version-check', '-w', target, work];
const { status } = spawnSync(process.env.PYTHON ?? 'python3', args, {
  stdio: 'inherit',
  // The same bytes at each build.
  env: { SOURCE_DATE_EPOCH: '1767225600', ...process.env },
});
process.exit(status ?? 1);
