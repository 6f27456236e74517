import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/* The interfaces of which ARCHITECTURE.md says that several files implement them. */

const SRC = join(import.meta.dirname, '../../src');
const PAGE = readFileSync(join(SRC, '../ARCHITECTURE.md'), 'utf8');
const [, section = ''] = PAGE.split('## What is implemented more than once\n');
const ROWS = [
  ...(section.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` \| `([\w/.-]+)` \|/gm),
].map(([, name = '', file = '']) => [name, file] as const);

function findInterface(name: string, file: string) {
  const path = readdirSync(SRC)
    .map((wing) => join(SRC, wing, file))
    .find((one) => existsSync(one));
  const text = readFileSync(path ?? file, 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const node = source.statements.find(
    (one): one is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(one) && one.name.text === name,
  );
  if (node === undefined) throw new Error(`${file} has no interface ${name}`);
  const [doc] = ts.getJSDocCommentsAndTags(node);
  return { node, doc: doc?.getText().replaceAll(/\n \* ?/g, '\n') ?? '' };
}

it('are listed', () => expect(ROWS.length).toBeGreaterThan(10));

describe.each(ROWS)('%s of %s', (name, file) => {
  const { node, doc } = findInterface(name, file);
  const steps = [...doc.matchAll(/^(\d+)\. (Must|May) ((?:.|\n(?! *\d+\. |\n))*)/gm)];
  const wordsOf = (kind: string): string =>
    steps.flatMap(([, , which, text = '']) => (which === kind ? [text] : [])).join('\n');

  it('has numbered lines of what must be done, then of what may, and an example', () => {
    expect(steps.map(([, number]) => Number(number))).toEqual(steps.map((_, at) => at + 1));
    const kinds = steps.map(([, , kind]) => kind);
    expect(kinds).toEqual(kinds.toSorted((one = '', other = '') => other.localeCompare(one)));
    expect(kinds).toContain('Must');
    expect(doc).toMatch(/\n@example\n\S/);
  });

  it('names each required member in a must, and each optional one in a may', () => {
    const missing = node.members.flatMap((member) => {
      const own = member.name?.getText() ?? '';
      const kind = member.questionToken === undefined ? 'Must' : 'May';
      return wordsOf(kind).includes(`\`${own}\``) ? [] : [`${kind}: ${own}`];
    });
    expect(missing).toEqual([]);
  });
});
