import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { linesOf, WIDTH, wrapText } from './wrap.mjs';

/**
 * Counts names of functions and comments of src/ that are not plain (scripts/plain-words.json): a function is a verb with its object, a comment
 * begins with a verb or with the noun of the thing. Counts odd words and long lines of pages. Exits with 1 above a limit, and prints each one
 * then, or with --all.
 */

const root = new URL('..', import.meta.url).pathname;
const words = JSON.parse(readFileSync(join(root, 'scripts/plain-words.json'), 'utf8'));
const participle = new RegExp(`^(?:[a-z]+ed|${words.participles.join('|')})$`);
const ending = new RegExp(`(?:${words.endings.join('|')})$`);
const opening = new RegExp(`^(?:${words.openings.join('|')})\\b`);
const odd = patternsOf(words.odd);
const oddInPages = patternsOf(words.oddInPages);

function patternsOf(list) {
  return Object.entries(list).map(([word, plain]) => [
    new RegExp(`\\b(?:${word})\\b`, 'i'),
    word,
    plain,
  ]);
}

const problems = {
  participles: [],
  endings: [],
  openings: [],
  odd: [],
  shared: [],
  oddInPages: [],
  longLines: [],
};
let functions = 0;
const places = new Map();
const files = readdirSync(join(root, 'src'), { recursive: true })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.gen.ts'))
  .toSorted((one, other) => one.localeCompare(other));
for (const file of files) {
  const text = readFileSync(join(root, 'src', file), 'utf8');
  const report = (kind, index, message) => {
    const line = text.slice(0, index).split('\n').length;
    problems[kind].push(`src/${file}:${line}: ${message}`);
  };
  for (const { 1: name, index } of text.matchAll(/^(?:export )?(?:async )?function\*? (\w+)/gm)) {
    const [first = ''] = name.match(/[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/g) ?? [];
    functions += 1;
    places.set(name, [...(places.get(name) ?? []), `src/${file}`]);
    if (participle.test(first) && !words.verbs.includes(first))
      report(
        'participles',
        index,
        `${name} begins with a participle: name it by a verb and its object.`,
      );
    if (ending.test(name))
      report('endings', index, `${name} ends in a preposition: name its object.`);
  }
  for (const { 1: comment, index } of text.matchAll(/\/\*\*\s*(.*?)\*\//gs)) {
    const start = comment.trim();
    if (opening.test(start))
      report('openings', index, `“${start.slice(0, 40)}…”: begin with a verb, or with the noun.`);
    for (const [pattern, word, plain] of odd)
      if (pattern.test(start)) report('odd', index, `“${word}”: write ${plain}.`);
  }
}
for (const [name, at] of places)
  if (new Set(at).size > 1)
    problems.shared.push(
      `${at.join(', ')}: ${name} stands in several files: say what is specific.`,
    );

const generated = join('docs', 'reference');
const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'test/README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file))
    .filter((file) => !file.startsWith(generated)),
].toSorted();
for (const page of pages) {
  const lines = linesOf(readFileSync(join(root, page), 'utf8'));
  for (const [at, { line, kind }] of lines.entries()) {
    const isLong = kind === 'prose' && line.length > WIDTH && wrapText(line).includes('\n');
    if (isLong)
      problems.longLines.push(
        `${page}:${at + 1}: ${line.length} characters: node scripts/wrap.mjs ${page}`,
      );
    if (kind === 'code') continue;
    const prose = line.replace(/`[^`]*`/g, '');
    for (const [pattern, word, plain] of oddInPages)
      if (pattern.test(prose))
        problems.oddInPages.push(`${page}:${at + 1}: “${word}”: write ${plain}.`);
  }
}

const figures = {
  participles: (100 * problems.participles.length) / functions,
  endings: (100 * problems.endings.length) / functions,
  openings: problems.openings.length,
  odd: problems.odd.length,
  shared: problems.shared.length,
  oddInPages: problems.oddInPages.length,
  longLines: problems.longLines.length,
};
for (const [kind, figure] of Object.entries(figures)) {
  const limit = words.limits[kind];
  const isTooMany = figure > limit;
  if (isTooMany || process.argv.includes('--all'))
    for (const problem of problems[kind]) console.log(problem);
  if (!isTooMany) continue;
  console.log(`${kind}: ${Math.round(10 * figure) / 10}; the limit is ${limit}.`);
  process.exitCode = 1;
}
