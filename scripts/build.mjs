// Makes dist/: the library by tsc, file for file, and the command as a bundle that starts quickly: CommonJS, because
// Node starts that a twelfth sooner than a module.
import { chmodSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
rmSync(dist, { recursive: true, force: true });
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const compiled = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(1);

/** Modules that are loaded for nothing here: HTTP/2, which is not spoken, and child processes, which are not started. */
const unused = {
  name: 'unused',
  resolveId: (id) => (id.endsWith('/client-h2.js') || id === 'node:child_process' ? '\0unused' : null),
  load: (id) => (id === '\0unused' ? 'export {}' : null),
};
const bundle = await rolldown({
  plugins: [unused],
  input: { setpoint: join(root, 'src/cli/main.ts') },
  platform: 'node',
  resolve: { alias: { undici$: join(root, 'scripts/undici-core.mjs') } },
});
await bundle.write({
  dir: join(dist, 'bin'),
  format: 'cjs',
  minify: true,
  entryFileNames: '[name].cjs',
  chunkFileNames: 'chunks/[name]-[hash].cjs',
});
chmodSync(join(dist, 'bin/setpoint.cjs'), 0o755);
