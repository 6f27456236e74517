// Makes dist/: the library by tsc, file for file, and the command as a bundle that starts quickly: CommonJS, because
// Node starts that a twelfth sooner than a module.
import { chmodSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
rmSync(dist, { recursive: true, force: true });
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const compiled = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], {
  stdio: 'inherit',
});
if (compiled.status !== 0) process.exit(1);

/** What libraries load and this command never uses: HTTP/2, child processes, undici's parts of a browser's fetch, node:http. */
const UNUSED = /\/undici\/lib\/(dispatcher\/client-h2\.js$|web\/)|^node:child_process$/;
const lean = {
  name: 'lean',
  resolveId(id, importer = '') {
    const from = importer.replaceAll('\\', '/');
    if (id === 'undici')
      return join(root, `scripts/undici-${from.endsWith('/proxy.ts') ? 'proxy' : 'core'}.mjs`);
    const path = id.startsWith('.') ? join(dirname(importer), id).replaceAll('\\', '/') : id;
    const unused = UNUSED.test(path) || (id === 'node:http' && from.includes('/undici/lib/'));
    return unused ? '\0unused' : null;
  },
  load: (id) => (id === '\0unused' ? 'export {}' : null),
};
const format = {
  dir: join(dist, 'bin'),
  format: 'cjs',
  minify: true,
  chunkFileNames: 'chunks/[name]-[hash].cjs',
};

// The entry stands alone, so that help loads nothing else; what runs a command is loaded by it.
const entry = await rolldown({
  input: { setpoint: join(root, 'src/cli/main.ts') },
  platform: 'node',
  external: /run-command/,
});
await entry.write({
  ...format,
  entryFileNames: '[name].cjs',
  dynamicImportInCjs: false,
  paths: () => './chunks/run-command.cjs',
});
const commands = await rolldown({
  input: { 'run-command': join(root, 'src/cli/run-command.ts') },
  platform: 'node',
  plugins: [lean],
  resolve: {
    alias: {
      // The same code as modules, of which a bundler takes what is used; its Node build is all or nothing.
      yaml$: join(root, 'node_modules/yaml/browser/dist/index.js'),
    },
  },
});
await commands.write({
  ...format,
  entryFileNames: 'chunks/[name].cjs',
  // One file for what commands share: a file that is loaded costs more than the code in it.
  codeSplitting: {
    groups: [{ name: 'shared', minShareCount: 2, test: /^(?!.*[\\/]src[\\/](emulator|cli)[\\/])/ }],
  },
});
chmodSync(join(dist, 'bin/setpoint.cjs'), 0o755);
