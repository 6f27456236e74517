import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const dist = join(root, 'dist');
const notices = readFileSync(join(dist, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
const bom = JSON.parse(readFileSync(join(dist, 'sbom.cdx.json'), 'utf8')) as {
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly purl: string;
    readonly licenses: readonly { readonly license: { readonly id: string } }[];
    readonly hashes: readonly { readonly content: string }[];
  }[];
};
const code = filesIn(dist, /\.(cjs|js)$/)
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

function filesIn(folder: string, name: RegExp): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => name.test(path) && !/(^|[\\/])node_modules[\\/]/.test(path))
    .map((path) => join(folder, path));
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** Where Node finds a package that another one imports: in the nearest node_modules above it. */
function installedFor(folder: string, name: string): string | null {
  const here = join(folder, 'node_modules', name);
  if (existsSync(here)) return here;
  return folder === dirname(folder) ? null : installedFor(dirname(folder), name);
}

/** The folders of the packages that the sources import, and of what those depend on, directly or not. */
function reachableFolders(): ReadonlySet<string> {
  const found = new Set<string>();
  const imports = filesIn(join(root, 'src'), /\.ts$/).flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/(?:from|import\() ?'((?:@[\w.-]+\/)?\w[\w.-]*)/g)].map(
      ([, name = '']) => name,
    ),
  );
  const open = [...new Set(imports)].map((name) => installedFor(root, name));
  for (const folder of open) {
    if (folder === null || found.has(folder)) continue;
    found.add(folder);
    for (const name of Object.keys(manifestOf(folder).dependencies ?? {}))
      open.push(installedFor(folder, name));
  }
  return found;
}

/** Sentences in the code of a package, as a minifier leaves them: names such as Object.prototype.toString are in several by chance. */
function literalsOf(folder: string): ReadonlySet<string> {
  const texts = filesIn(folder, /\.(c|m)?js$/).map((path) => readFileSync(path, 'utf8'));
  const found = texts.join('\n').matchAll(/(['"`])([\w ,.:;()/-]{24,})\1/g);
  return new Set(
    [...found].map(([, , text = '']) => text).filter((text) => text.split(' ').length > 2),
  );
}

it('lists each package of which code is in the bundle', () => {
  const listed = new Set(bom.components.map(({ name }) => name));
  const literals = [...reachableFolders()].map((folder) => ({ folder, own: literalsOf(folder) }));
  const counts = new Map<string, number>();
  for (const { own } of literals)
    for (const text of own) counts.set(text, (counts.get(text) ?? 0) + 1);
  const contained = literals.filter(({ own }) =>
    [...own].some((text) => counts.get(text) === 1 && code.includes(text)),
  );
  const names = contained.map(({ folder }) => manifestOf(folder).name);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !listed.has(name))).toEqual([]);
});

it('has the notice of each, and its whole licence', () => {
  expect(bom.components.length).toBeGreaterThan(20);
  const words = notices.replaceAll(/\s+/g, ' ');
  for (const { name, version, licenses } of bom.components) {
    expect(words).toContain(`${name} ${version} (${licenses[0]?.license.id})`);
    const folders = [...reachableFolders()].filter((folder) => {
      const manifest = manifestOf(folder);
      return manifest.name === name && manifest.version === version;
    });
    expect(folders, name).not.toEqual([]);
    const [folder = ''] = folders;
    const licence = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file)) ?? '';
    const lines = readFileSync(join(folder, licence), 'utf8')
      .split('\n')
      .map((line) => line.trim().replaceAll(/\s+/g, ' '))
      .filter((line) => line !== '' && !/^(The )?(MIT|ISC) License|\[yyyy\]/i.test(line));
    expect(lines.filter((line) => !words.includes(line))).toEqual([]);
  }
});

it('names each once, with the hash of what was installed', () => {
  const purls = bom.components.map(({ purl }) => purl);
  expect(new Set(purls).size).toBe(purls.length);
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
  for (const { hashes } of bom.components) {
    const content = hashes[0]?.content ?? '';
    expect(lock).toContain(`sha512-${Buffer.from(content, 'hex').toString('base64')}`);
  }
});

it('requires no package: all code that runs is in the bundle', () => {
  const used = [
    ...code.matchAll(/(?<![\w.`"'])(?:require|import)\((["'`])((?!node:|\.)[^"'`]+)\1\)/g),
  ];
  const builtin = new Set(process.getBuiltinModule('node:module').builtinModules);
  // ajv writes these into the text of validators; the bundled ones are compiled already.
  const names = used.map(([, , name = '']) => name).filter((name) => !name.startsWith('ajv'));
  expect(names.filter((name) => !builtin.has(name))).toEqual([]);
});
