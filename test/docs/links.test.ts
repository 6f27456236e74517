import { existsSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { PAGES, ROOT, textOfPage } from './pages.ts';

const PAGES_WITH_LINKS = [
  ...PAGES,
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'examples/README.md',
];

interface Node {
  readonly type: string;
  readonly url?: string;
  readonly value?: string;
  readonly children?: readonly Node[];
}

function nodesIn(node: Node): readonly Node[] {
  return [node, ...(node.children ?? []).flatMap(nodesIn)];
}

function words(node: Node): string {
  return node.value ?? (node.children ?? []).map(words).join('');
}

const nodes = new Map<string, readonly Node[]>();

/** The nodes of a page, parsed once. */
function nodesOf(page: string): readonly Node[] {
  const known = nodes.get(page) ?? nodesIn(fromMarkdown(textOfPage(page)));
  nodes.set(page, known);
  return known;
}

/** The anchors that GitHub makes of headings. */
function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const heading of nodesOf(page).filter(({ type }) => type === 'heading')) {
    const plain = words(heading)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replaceAll(' ', '-');
    let anchor = plain;
    for (let again = 1; anchors.has(anchor); again += 1) anchor = `${plain}-${again}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Links in tables are text to a parser of plain Markdown. */
function linksOf(page: string): readonly string[] {
  const text = textOfPage(page);
  const parsed = nodesOf(page).flatMap(({ type, url }) =>
    type === 'link' && url !== undefined ? [url] : [],
  );
  const inTables = [...text.matchAll(/^\|.*$/gm)].flatMap(([row]) =>
    [...row.matchAll(/\]\(([^)\s]+)\)/g)].map(([, url = '']) => url),
  );
  return [...new Set([...parsed, ...inTables])];
}

describe('the links of the documentation', () => {
  it.each(PAGES_WITH_LINKS)('of %s lead to files and headings that exist', (page) => {
    const broken = linksOf(page)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [path = '', anchor] = link.split('#');
        const target =
          path === '' ? page : relative(ROOT, normalize(join(ROOT, dirname(page), path)));
        if (target.startsWith('..') || !existsSync(join(ROOT, target))) return true;
        if (anchor === undefined) return false;
        return statSync(join(ROOT, target)).isDirectory() || !anchorsOf(target).has(anchor);
      });
    expect(broken).toEqual([]);
  });

  it('every page can be reached from the README', () => {
    const reached = new Set(['README.md']);
    for (const page of reached)
      for (const link of linksOf(page)) {
        const target = relative(
          ROOT,
          normalize(join(ROOT, dirname(page), link.split('#')[0] ?? '')),
        );
        if (PAGES.includes(target)) reached.add(target);
      }
    expect(PAGES.filter((page) => !reached.has(page))).toEqual([]);
  });
});
