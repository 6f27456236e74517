import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

import { startEmulator } from '../../../src/emulator/start.ts';
import { folderWith, setpoint } from '../../fixture/command.ts';

/** Prints which files of the package, of its dependencies and of Node a process has loaded, when it ends. */
const PRELOAD = `process.on('exit', () => {
  const files = Object.keys(require.cache).filter((file) => /[\\\\/](dist[\\\\/]bin|node_modules)[\\\\/]/.test(file));
  require('node:fs').writeSync(2, '\\nLOADED ' + JSON.stringify(files) + '\\nNODE ' + process.moduleLoadList.join() + '\\n');
});`;

it.each([
  [['validate'], ['commands', 'setpoint']],
  [['plan'], ['commands', 'plan', 'setpoint']],
  [['drift'], ['commands', 'plan', 'setpoint']],
  [
    ['get', 'settings'],
    ['commands', 'plan', 'setpoint'],
  ],
  [
    ['apply', '--yes'],
    ['apply', 'commands', 'plan', 'setpoint'],
  ],
])('setpoint %s loads the chunks of its kind alone', async (args, expected) => {
  const server = await startEmulator({});
  const folder = folderWith({
    'settings.yaml': `version: 1\nserver: { url: ${server.url} }\nsettings: { language: en }\n`,
    'preload.cjs': PRELOAD,
  });
  try {
    const NODE_OPTIONS = `--require=${JSON.stringify(join(folder.path, 'preload.cjs'))}`;
    // Without what a first run loads to keep what V8 has compiled.
    const env = { NODE_OPTIONS, NODE_DISABLE_COMPILE_CACHE: '1' };
    const ended = await setpoint(args, { cwd: folder.path, env });
    expect(ended.code, ended.stderr).toBe(args[0] === 'drift' ? 2 : 0);
    expect(loadedIn(ended.stderr).toSorted()).toEqual(expected);
    // What takes longer to load than it takes to do without. validate sends nothing, and nothing is read from stdin.
    const spared = args[0] === 'validate' ? `${SPARED}|net|stream` : SPARED;
    expect(ended.stderr).not.toMatch(new RegExp(`NativeModule (${spared})\\b`));
    expect(ended.stderr).toMatch(/^NODE .*NativeModule vm/m);
  } finally {
    folder.remove();
    await server.close();
  }
});

it.each([
  [['--help'], ['setpoint']],
  [['version'], ['setpoint']],
  [
    ['plan', '--help'],
    ['command-help.gen', 'setpoint'],
  ],
])('setpoint %s loads no command', async (args, expected) => {
  const folder = folderWith({ 'preload.cjs': PRELOAD });
  try {
    const NODE_OPTIONS = `--require=${JSON.stringify(join(folder.path, 'preload.cjs'))}`;
    const ended = await setpoint(args, { cwd: folder.path, env: { NODE_OPTIONS } });
    expect(ended.code, ended.stderr).toBe(0);
    expect(loadedIn(ended.stderr).toSorted()).toEqual(expected);
  } finally {
    folder.remove();
  }
});

const SPARED = 'http|perf_hooks|fs/promises|zlib|tls|crypto|tty|internal/fs/streams';

/** The names of the loaded files, without their hashes. */
function loadedIn(stderr: string): string[] {
  const [, loaded = '[]'] = /LOADED (.*)/.exec(stderr) ?? [];
  return (JSON.parse(loaded) as string[]).map(
    (file) => /([\w.-]+?)(-[\w-]{8})?\.cjs$/.exec(file)?.[1] ?? file,
  );
}

it('what plan, apply and validate load has no code of the controller, of GitHub, of Kubernetes or of the embedded service', () => {
  const root = join(import.meta.dirname, '../../../src');
  const loaded = ['run-command', 'commands/validate', 'commands/plan', 'commands/apply'].map(
    (name) => join(root, `command/cli/${name}.ts`),
  );
  for (const path of loaded)
    for (const [, other = ''] of readFileSync(path, 'utf8').matchAll(STATIC_IMPORT)) {
      const imported = join(dirname(path), other);
      if (!loaded.includes(imported)) loaded.push(imported);
    }
  const names = loaded.map((path) => relative(root, path).replaceAll('\\', '/'));
  expect(names.length).toBeGreaterThan(100);
  expect(
    names.filter((name) =>
      /^(controller|emulator|command\/github|reconciler\/kubernetes)\//.test(name),
    ),
  ).toEqual([]);
});

/** What a module loads before it runs; types are not there when it does. */
const STATIC_IMPORT = /^(?:import|export) (?!type )(?:[^;'"]* from )?'(\.{1,2}\/[^']+)';/gm;
