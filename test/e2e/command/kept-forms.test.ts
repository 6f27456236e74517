import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderWith } from '../../fixture/command.ts';
import { itEach } from '../../fixture/long.ts';

/** Prints of each chunk how V8 took its compiled form. */
const PRELOAD = `const vm = require('node:vm');
vm.Script = class extends vm.Script {
  constructor(text, options) {
    super(text, options);
    const [name] = /\\w+\\.cjs$/.exec(options.filename);
    process.stderr.write(name + (this.cachedDataRejected === false ? ' kept\\n' : ' compiled\\n'));
  }
};`;

/** More environments than a run plans without collecting memory, and none that is sent a request. */
const MANY = JSON.stringify({
  version: 1,
  server: { url: 'https://agents.example.com', api_key: '${env:MISSING}' },
  settings: { language: 'en' },
  environments: Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`e${index}`, {}])),
});

/** The built command, and a home for it. */
function install() {
  const folder = folderWith({
    'settings.yaml': 'version: 1\nserver: { url: "embedded:" }\nsettings: { language: en }\n',
    'many.yaml': MANY,
    'preload.cjs': PRELOAD,
  });
  onTestFinished(() => folder.remove());
  const bin = join(folder.path, 'bin');
  cpSync(join(import.meta.dirname, '../../../dist/bin'), bin, { recursive: true });
  const home = join(folder.path, 'home');
  mkdirSync(home, { mode: 0o700 });
  return {
    home,
    cache: join(home, '.cache'),
    run: (command: string, env: Record<string, string> = {}, status = 0): string[] => {
      const args = ['--require', './preload.cjs', join(bin, 'setpoint.cjs'), ...command.split(' ')];
      const options = { cwd: folder.path, env: { HOME: home, ...env }, encoding: 'utf8' } as const;
      const { status: ended, stderr } = spawnSync(process.execPath, args, options);
      expect(ended, stderr).toBe(status);
      return stderr.split('\n').filter((line) => /\.cjs (kept|compiled)$/.test(line));
    },
  };
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    lstatSync(join(folder, name)).isFile(),
  );
}

const COMPILED = ['commands.cjs compiled', 'plan.cjs compiled'];

it.skipIf(process.platform === 'win32')(
  'what V8 had to compile is kept for this user alone',
  () => {
    const { cache, run } = install();
    expect(run('plan')).toEqual(COMPILED);
    const files = filesIn(cache);
    expect(files).toHaveLength(2);
    for (const file of files) {
      expect(lstatSync(join(cache, file)).mode & 0o777).toBe(0o600);
      expect(lstatSync(join(cache, file, '..')).mode & 0o777).toBe(0o700);
    }
    expect(run('plan')).toEqual(['commands.cjs kept', 'plan.cjs kept']);
    const kept = join(cache, files.find((file) => file.includes('commands.')) ?? '');
    const whole = readFileSync(kept);
    for (const broken of ['no compiled form', whole.subarray(0, 1000), whole.fill(7, 0, 64)]) {
      writeFileSync(kept, broken);
      expect(run('plan')).toEqual(['commands.cjs compiled', 'plan.cjs kept']);
      expect(run('plan')).toEqual(['commands.cjs kept', 'plan.cjs kept']);
    }
  },
);

it.skipIf(process.platform === 'win32')('what a run over many environments keeps is taken', () => {
  const { run } = install();
  expect(run('plan -f many.yaml', {}, 3)).toEqual(COMPILED);
  expect(run('plan')).toEqual(['commands.cjs kept', 'plan.cjs kept']);
});

it('V8 optimises no WebAssembly of a command, however many answers it reads', () => {
  const environments = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`e${at}`, {}]));
  const folder = folderWith({
    'settings.yaml': JSON.stringify({
      version: 1,
      server: { url: 'embedded:' },
      settings: { language: 'en' },
      environments,
    }),
    'trace.cjs': `require('node:v8').setFlagsFromString('--trace-wasm-compilation-times');`,
  });
  onTestFinished(() => folder.remove());
  const command = join(import.meta.dirname, '../../../dist/bin/setpoint.cjs');
  const { stdout } = spawnSync(
    process.execPath,
    ['--require', './trace.cjs', command, 'plan', '-q'],
    { cwd: folder.path, encoding: 'utf8' },
  );
  const lines = stdout.split('\n');
  expect(lines.filter((line) => line.includes('using Liftoff'))).not.toEqual([]);
  expect(lines.filter((line) => line.includes('using TurboFan'))).toEqual([]);
});

describe.skipIf(process.platform === 'win32')('the compiled form', () => {
  itEach(
    [
      ['NODE_DISABLE_COMPILE_CACHE is set', { NODE_DISABLE_COMPILE_CACHE: '1' }],
      ['it is a job of a pipeline', { CI: 'true' }],
      ['there is no home', { HOME: '' }],
      ['the home is a relative path', { HOME: 'home' }],
    ] as const,
    ([what]) => what.startsWith('it is'),
  )('nothing is kept if %s', (_, env) => {
    const { home, run } = install();
    expect(run('plan', env)).toEqual(COMPILED);
    expect(readdirSync(home)).toEqual([]);
  });

  itEach(
    [
      ['its own folder', (cache: string) => join(cache, 'setpoint')],
      ['the folder of the caches', (cache: string) => cache],
      ['the home', (cache: string) => join(cache, '..')],
    ] as const,
    ([what]) => what === 'the home',
  )('nothing is read or kept if somebody else may write to %s', (_, folder) => {
    const { cache, run } = install();
    run('plan');
    chmodSync(folder(cache), 0o777);
    expect(run('plan')).toEqual(COMPILED);
    rmSync(join(cache, 'setpoint'), { recursive: true });
    if (folder(cache) === join(cache, 'setpoint')) return;
    expect(run('plan')).toEqual(COMPILED);
    expect(readdirSync(cache)).toEqual([]);
  });
});

it.skipIf(process.platform === 'win32')(
  'a cache behind a link counts as where the link leads',
  () => {
    const { home, cache, run } = install();
    const shared = join(home, '..', 'shared');
    mkdirSync(shared, { mode: 0o777 });
    chmodSync(shared, 0o777);
    symlinkSync(shared, cache);
    expect(run('plan')).toEqual(COMPILED);
    expect(readdirSync(shared)).toEqual([]);
  },
);

it.skipIf(process.platform === 'win32')('a cache that cannot be written is done without', () => {
  const { home, run } = install();
  writeFileSync(join(home, '.cache'), 'a file');
  expect(run('plan')).toEqual(COMPILED);
  expect(run('plan')).toEqual(COMPILED);
});
