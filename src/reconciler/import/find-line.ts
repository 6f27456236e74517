import { isMap, isPair, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml';
import type { Path } from '../model/path.ts';
import { type Form, withoutComments } from './parse-file.ts';

/** Finds the line of what keys lead to in a text that could be parsed: that of as many of them as it has; null if it has none. */
export function createLineFinder(form: Form, text: string): (at: Path) => number | null {
  switch (form) {
    case 'variables':
      return findDeepestLine(lineByLine(text, VARIABLE, () => null));
    case 'toml':
      return findDeepestLine(lineByLine(text, MEMBER, parseSectionHeader));
    case 'json':
      return findDeepestLine(nodeLines(withoutComments(text)));
    case 'yaml':
      return findDeepestLine(nodeLines(text));
  }
}

/** Lines by the keys that lead to them. */
type Lines = ReadonlyMap<string, number>;

function findDeepestLine(lines: Lines): (at: Path) => number | null {
  return (at) => {
    for (let length = at.length; length > 0; length -= 1) {
      const line = lines.get(JSON.stringify(at.slice(0, length)));
      if (line !== undefined) return line;
    }
    return null;
  };
}

const VARIABLE = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/;
const MEMBER = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=/;

/** The keys of a section, if a line begins one. */
function parseSectionHeader(line: string): Path | null {
  const [, keys] = /^\s*\[\[?([^[\]]+)\]\]?\s*(?:#.*)?$/.exec(line) ?? [];
  return keys === undefined ? null : parseKeyPath(keys);
}

function parseKeyPath(text: string): Path {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|[\w-]+/g)].map(
    ([bare, quoted, single]) => quoted ?? single ?? bare,
  );
}

function lineByLine(text: string, member: RegExp, sectionOf: (line: string) => Path | null): Lines {
  const lines = new Map<string, number>();
  let section: Path = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const begun = sectionOf(line);
    if (begun !== null) section = begun;
    const [, keys] = member.exec(line) ?? [];
    const path = begun ?? (keys === undefined ? null : [...section, ...parseKeyPath(keys)]);
    for (let length = 1; length <= (path?.length ?? 0); length += 1) {
      const key = JSON.stringify(path?.slice(0, length));
      if (!lines.has(key)) lines.set(key, index + 1);
    }
  }
  return lines;
}

/** JSON is YAML, except where the parser of YAML reports an error: the values that it has read until then are valid. */
function nodeLines(text: string): Lines {
  const counter = new LineCounter();
  const lines = new Map<string, number>();
  const note = (path: Path, offset: number | undefined): void => {
    const key = JSON.stringify(path);
    if (offset !== undefined && !lines.has(key)) lines.set(key, counter.linePos(offset).line);
  };
  const walk = (node: unknown, path: Path): void => {
    if (isMap(node)) {
      for (const pair of node.items) {
        if (!isPair(pair) || !isScalar(pair.key)) continue;
        const inner = [...path, String(pair.key.value)];
        note(inner, pair.key.range?.[0]);
        walk(pair.value, inner);
      }
    } else if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) {
        const range = isMap(item) || isSeq(item) || isScalar(item) ? item.range : undefined;
        for (const key of [readListItemName(item), String(index)]) {
          if (key === null) continue;
          note([...path, key], range?.[0]);
          walk(item, [...path, key]);
        }
      }
    }
  };
  for (const document of parseAllDocuments(text, { lineCounter: counter, logLevel: 'silent' }))
    walk(document.contents, []);
  return lines;
}

/** Returns the name of an item of a list: its name, or that of the variable `NAME=value`. */
function readListItemName(item: unknown): string | null {
  if (isScalar(item) && typeof item.value === 'string')
    return /^([A-Za-z_]\w*)(?:=|$)/.exec(item.value)?.[1] ?? null;
  const name = isMap(item) ? item.get('name') : undefined;
  return typeof name === 'string' && name !== '' ? name : null;
}
