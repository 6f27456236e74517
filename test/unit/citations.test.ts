import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (...path: readonly string[]) => readFileSync(join(ROOT, ...path), 'utf8');

type Cases = readonly { readonly name: string }[];

/** Each TypeScript file of a folder with its text. */
function sources(folder: string): (readonly [string, string])[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [`${folder}/${file}`, read(folder, file)] as const);
}

function sections(page: string): string[] {
  return [...read('docs', 'service', page).matchAll(/^#+ (\d+(?:\.\d+)?)/gm)].map(
    ([, number = '']) => number,
  );
}

describe('what comments cite is in the repository', () => {
  const known = {
    specification: sections('specification.md'),
    behaviour: sections('behaviour.md'),
  } as const;

  it('sections of docs/service', () => {
    let cited = 0;
    for (const [file, text] of sources('src')) {
      for (const [, page = '', numbers = ''] of text.matchAll(
        /Source:[^"]*?\b(specification|behaviour) (\d+(?:\.\d+)?)/g,
      )) {
        cited += 1;
        expect(known[page as keyof typeof known], `${file}: ${page} ${numbers}`).toContain(numbers);
      }
    }
    expect(cited).toBeGreaterThan(20);
  });

  it('cases of the contract', () => {
    const names = readdirSync(join(ROOT, 'test', 'contract'))
      .filter((file) => file.endsWith('.json'))
      .flatMap((file) => {
        const recorded = JSON.parse(read('test', 'contract', file)) as Cases | { cases: Cases };
        return ('cases' in recorded ? recorded.cases : recorded).map(({ name }) => name);
      });
    let cited = 0;
    for (const [file, text] of sources('src')) {
      for (const [source] of text.matchAll(/Source:.*?contract "[^\n]*/g)) {
        for (const [, name = ''] of source
          .slice(source.indexOf('contract'))
          .matchAll(/"([^"]+)"/g)) {
          cited += 1;
          expect(names, `${file}: ${name}`).toContain(name);
        }
      }
    }
    expect(cited).toBeGreaterThan(10);
  });

  it('a trap of docs/traps.md for every id in the title of a test, and a test for every trap', () => {
    const traps = [...read('docs', 'traps.md').matchAll(/^\| ([AMT]\d+) \|/gm)].map(([, id]) => id);
    const used = sources('test').flatMap(([, text]) =>
      [...text.matchAll(/['"`]((?:[AMT]\d+(?:, |:))+) /g)].flatMap(([, ids = '']) =>
        [...ids.matchAll(/[AMT]\d+/g)].map(([id]) => id),
      ),
    );
    expect(new Set(used)).toEqual(new Set(traps));
  });
});

it('every file of src/ and test/ that the pages for contributors name exists', () => {
  const decisions = readdirSync(join(ROOT, 'docs', 'decisions'));
  const pages = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'test/README.md'];
  const all = [...pages, ...decisions.map((page) => join('docs', 'decisions', page))];
  const named = all.flatMap((page) =>
    [...read(page).matchAll(/`((?:[a-z0-9-]+\/)+[a-z0-9.-]+\.(?:ts|mjs))`/g)].map(
      ([, path = '']) => path,
    ),
  );
  expect(named.length).toBeGreaterThan(60);
  // A room of src/ is named without its wing.
  const places = ['', 'src', ...readdirSync(join(ROOT, 'src')).map((wing) => join('src', wing))];
  const missing = named.filter(
    (path) => !places.some((place) => existsSync(join(ROOT, place, path))),
  );
  expect(missing).toEqual([]);
});
