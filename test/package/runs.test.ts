import { readdirSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import suite from '../../vitest.config.ts';
import container from '../../vitest.container.config.ts';
import install from '../../vitest.install.config.ts';
import real from '../../vitest.real.config.ts';

const root = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>;
};
const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .map((file) => `test/${file.replaceAll('\\', '/')}`)
  .filter((file) => file.endsWith('.test.ts'));

it('each file of tests is in one run: of the suite, of containers, of installing, or of real servers', () => {
  const runs = [suite, container, install, real].map(({ test }) => {
    const [include = [], exclude = []] = [test?.include, test?.exclude];
    const fits = (globs: readonly string[], file: string): boolean =>
      globs.some((glob) => matchesGlob(file, glob));
    return files.filter((file) => fits(include, file) && !fits(exclude, file));
  });
  expect(runs.flat().toSorted()).toEqual(files.toSorted());
});

it('each test of the suite is in `npm test` or, with the tag long, in `npm run test:long`', () => {
  expect(suite.test?.tags?.map(({ name }) => name)).toEqual(['long']);
  expect([scripts['test'], scripts['test:long']]).toEqual([
    'npm run build && vitest run --tags-filter=!long',
    'npm run build && vitest run --tags-filter=long',
  ]);
  const ci = readFileSync(join(root, '.ci/run'), 'utf8');
  expect(ci).toMatch(/^npm ci && npm test\nnpm run test:long$/m);
});

it('each test from end to end is in the folder of a theme, which has a command of its own', () => {
  const flat = files.filter((file) => /^test\/e2e\/[^/]*$/.test(file));
  const themes = new Set(files.flatMap((file) => /^test\/e2e\/([^/]+)\//.exec(file)?.[1] ?? []));
  expect([flat, themes.size]).toEqual([[], 10]);
  for (const theme of themes)
    expect(scripts[`test:${theme}`]).toBe(
      `npm run build && vitest run test/e2e/${theme} --tags-filter=!long`,
    );
});
