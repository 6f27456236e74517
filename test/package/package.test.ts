import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itEach } from '../fixture/long.ts';
import { npm, pack, type PackedFile } from './npm.ts';

const root = join(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly exports: unknown;
  readonly bin: unknown;
  readonly dependencies: object;
};

const home = mkdtempSync(join(tmpdir(), 'setpoint-package-'));
let tarball: string;
let unpackedSize: number;
let files: readonly PackedFile[];

beforeAll(async () => {
  const [packed] = await pack([root], { cwd: root, home });
  if (packed === undefined) throw new Error('npm pack has packed nothing');
  ({ unpackedSize, files } = packed);
  tarball = join(home, packed.filename);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

function folder(name: string, texts: Readonly<Record<string, string>>): string {
  const path = join(home, name);
  mkdirSync(path);
  for (const [file, text] of Object.entries(texts)) writeFileSync(join(path, file), text);
  return path;
}

describe('what is packed', () => {
  it('is what users need, and nothing of how it is made', () => {
    const tops = new Set(files.map(({ path }) => path.split('/')[0]));
    const texts = ['LICENSE', 'README.md', 'SECURITY.md'];
    const used = ['action.yml', 'dist', 'package.json', 'schemas'];
    expect(tops).toEqual(new Set([...texts, ...used]));
    const ours =
      /\.(map|tsbuildinfo|tgz)$|\.test\.|(^|\/)(test|bench|scripts|node_modules)\/|[^d]\.ts$/;
    expect(files.map(({ path }) => path).filter((path) => ours.test(path))).toEqual([]);
  });

  it('needs no other package', () => {
    expect(manifest.dependencies).toEqual({});
  });

  it('takes at most 3.5 MB', () => {
    expect(unpackedSize).toBeLessThanOrEqual(3_500_000);
  });

  it('holds every file that package.json names', () => {
    const named = [...textsIn(manifest.exports), ...textsIn(manifest.bin)];
    expect(named).not.toEqual([]);
    for (const name of named) {
      const [before = '', after = ''] = name.replace(/^\.\//, '').split('*');
      const found = files.filter(({ path }) =>
        name.includes('*') ? path.startsWith(before) && path.endsWith(after) : path === before,
      );
      expect(found, name).not.toEqual([]);
    }
  });

  it.skipIf(process.platform === 'win32')('has a command that may be executed', () => {
    const [command] = textsIn(manifest.bin);
    const found = files.find(({ path }) => `./${path}` === command);
    expect((found?.mode ?? 0) & 0o111).toBe(0o111);
  });
});

describe('installed, with nothing else,', () => {
  it('npx runs plan in an empty folder', async () => {
    const settings = 'version: 1\nserver: { url: "embedded:" }\nsettings: { language: fr }\n';
    const cwd = folder('empty', { 'settings.yaml': settings });
    const args = ['--yes', `--package=${tarball}`, 'setpoint', 'plan'];
    const stdout = await npm('npx', args, { cwd, home });
    expect(stdout).toContain('+ language: "fr"');
    expect(stdout).toContain('Plan: 1 to set.');
  });

  itEach([true, false], (skipLibCheck) => skipLibCheck)(
    'the library runs by each of its doors, and its types are found by a compiler that resolves as Node does (skipLibCheck: %s)',
    async (skipLibCheck) => {
      const cwd = folder(`consumer-${skipLibCheck}`, {
        'package.json': JSON.stringify({ name: 'consumer', private: true, type: 'module' }),
        'tsconfig.json': JSON.stringify({
          compilerOptions: {
            module: 'nodenext',
            moduleResolution: 'nodenext',
            target: 'es2023',
            lib: ['es2023'],
            strict: true,
            skipLibCheck,
            typeRoots: [join(root, 'node_modules/@types')],
            types: ['node'],
          },
          files: ['consumer.ts', 'required.cts'],
        }),
        'watch.mjs': exampleOf('watch.mjs'),
        'required.cts': `import setpoint = require('setpoint');
import { openController } from 'setpoint/watch';
import { startEmulator } from 'setpoint/emulator';
const documents: Promise<setpoint.PlanDocument> = setpoint.plan({ text: 'version: 1\\n', env: {} });
documents.catch((error: unknown) => {
  console.log(String(error instanceof setpoint.InvalidSettings && error.constructor.name), typeof openController, typeof startEmulator);
});
`,
        'consumer.ts': `import { plan } from 'setpoint';
import { type Emulator, type EmulatorOptions, startEmulator } from 'setpoint/emulator';
import { openController, type Controller, type WatchState } from 'setpoint/watch';
export const open = (request: { file: string; env: {} }): Controller => openController({ request, data: 'data' });
export const first = (controller: Controller): WatchState | undefined => controller.states()[0];
export const serve = (options: EmulatorOptions): Promise<Emulator> => startEmulator(options);
const service = await startEmulator();
const text = \`version: 1\\nserver: { url: "\${service.url}" }\\nsettings: { language: fr }\\n\`;
const document = await plan({ text, env: {} });
const statuses: readonly ('in-sync' | 'differs' | 'error')[] = document.environments.map(({ status }) => status);
// @ts-expect-error: there is no such member
void document.environmentz;
// @ts-expect-error: a name of a file is a text
void (() => plan({ file: 1, env: {} }));
console.log(statuses.join(), import.meta.resolve('setpoint/schemas/plan.schema.json'));
await service.close();
for (const dialect of ['app-server', 'agent-server'] as const) await (await startEmulator({ dialect })).close();
`,
      });
      await npm('npm', ['install', tarball], { cwd, home });
      const run = promisify(execFile);
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      const compiled = await run(process.execPath, [tsc, '-p', cwd]).catch(
        (error: unknown) => error,
      );
      expect(compiled).toMatchObject({ stdout: '' });
      const { stdout } = await run(process.execPath, ['consumer.js'], { cwd });
      expect(stdout).toMatch(/^differs file:.*plan\.schema\.json\n$/);
      const required = await run(process.execPath, ['required.cjs'], { cwd });
      expect(required.stdout).toBe('InvalidSettings function function\n');
      const watched = await run(process.execPath, ['watch.mjs'], { cwd });
      expect(watched.stdout).toBe("default drift [ 'language', 'max_iterations' ]\n");
    },
  );
});

/** The example of that name in the guide of the library. */
function exampleOf(name: string): string {
  const guide = readFileSync(join(root, 'docs/guides/library.md'), 'utf8');
  const [, code = ''] = guide.split(`// ${name}\n`);
  return code.slice(0, code.indexOf('```'));
}

/** Every text in a value of package.json, however deep. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
