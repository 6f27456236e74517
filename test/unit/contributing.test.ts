import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { ERRORS } from '../../src/reconciler/model/error.ts';

/* The statements of CONTRIBUTING.md and test/README.md about the tree. */

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const filesIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
    `${folder}/${path}`.replaceAll('\\', '/'),
  );
const files = ['src', 'test', 'scripts', 'bench'].flatMap(filesIn);

it('the limit of lines that CONTRIBUTING.md names is the one that is tested', () => {
  const named = /none above (\d+); a test holds/.exec(read('CONTRIBUTING.md'))?.[1];
  const tested = /has more than (\d+) lines/.exec(read('test/unit/walls.test.ts'))?.[1];
  expect(named).toMatch(/^\d+$/);
  expect(named).toBe(tested);
});

it('each file that test/README.md names exists', () => {
  const named = [...read('test/README.md').matchAll(/`([\w./-]+\.(?:ts|mjs|cjs))`/g)].map(
    ([, path = '']) => path,
  );
  expect(named.length).toBeGreaterThan(10);
  const known = new Set([...files, ...readdirSync(root)]);
  const isThere = (path: string): boolean =>
    known.has(path) || files.some((file) => file.endsWith(`/${path}`));
  expect(named.filter((path) => !isThere(path))).toEqual([]);
});

it('test/README.md says what belongs into each folder of test/e2e', () => {
  const themes = new Set(files.flatMap((file) => /^test\/e2e\/([^/]+)\//.exec(file)?.[1] ?? []));
  const [line = ''] = /^7\. [^]*?^8\. /m.exec(read('test/README.md')) ?? [];
  expect(themes.size).toBeGreaterThan(5);
  expect([...themes].filter((theme) => !line.includes(`\`${theme}\``))).toEqual([]);
});

it('each code of an error or a warning is in a test, by its name', () => {
  const source = read('src/reconciler/model/error.ts');
  const [, warnings = ''] = /const WARNINGS = \{([^]*?)\} as const/.exec(source) ?? [];
  const codes = [
    ...Object.keys(ERRORS),
    ...[...warnings.matchAll(/^ {2}'?([\w-]+)'?: '/gm)].map(([, code = '']) => code),
  ];
  expect(codes.length).toBeGreaterThan(60);
  const tests = files
    .filter((file) => /^test\/.*\.(ts|txt|json|md|html)$/.test(file))
    .filter((file) => basename(file) !== 'contributing.test.ts')
    .map(read)
    .join('\n');
  const isNamed = (code: string): boolean => new RegExp(`(?<![\\w-])${code}(?![\\w-])`).test(tests);
  expect(codes.filter((code) => !isNamed(code))).toEqual([]);
});

it('each script that they name is in package.json', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const pages = read('CONTRIBUTING.md') + read('test/README.md');
  const named = [...pages.matchAll(/npm run ([a-z][a-z:-]*)/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

it('the limits of functions that CONTRIBUTING.md names are those of oxlint', () => {
  const { rules } = JSON.parse(read('.oxlintrc.json')) as {
    rules: Record<string, [string, { max: number }]>;
  };
  const limits = ['max-lines-per-function', 'max-params'].map((rule) => rules[rule]?.[1].max);
  expect(limits).toEqual([60, 5]);
  expect(read('CONTRIBUTING.md')).toContain('60 lines and five parameters');
});
