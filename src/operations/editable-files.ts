import { dirname, isAbsolute, join, relative } from 'node:path';
import { SetpointError } from '../model/error.ts';
import { parseFile } from '../desired/parse.ts';
import { member, nodeAt, type Node } from '../desired/node.ts';
import { baseOf, type LoadedFile } from '../desired/target.ts';
import type { Block } from '../edit/placed.ts';
import { readText } from '../host/read-text.ts';
import { requireFile } from './load.ts';
import { DEFAULT_FILE, DEFAULT_FILE_SIZE, LARGEST_FILE_SIZE, type Options } from './options.ts';

/** The settings files of an operation that edits them, as they were read, each with its base. */
export function editableFiles(options: Options): LoadedFile[] {
  const read = (path: string): string => {
    const limit = fileLimit(options);
    requireFile(path, options);
    const found = readText(path, limit);
    if ('text' in found) return found.text;
    throw new SetpointError(
      'file-unreadable',
      `${path} is larger than ${limit} bytes, or not UTF-8 text.`,
    );
  };
  return [options.file ?? DEFAULT_FILE].flat().map((path) => {
    const text = options.text ?? read(path);
    const base = baseOf(path, text);
    if (base === null) return { path, text, base: null };
    const beside = isAbsolute(base.path) ? base.path : join(dirname(path), base.path);
    const inner = relative('.', beside);
    return {
      path,
      text,
      base: { path: inner.startsWith('..') ? beside : inner, text: read(beside) },
    };
  });
}

export function fileLimit({ maxFileSize }: Options): number {
  return Math.min(maxFileSize ?? DEFAULT_FILE_SIZE, LARGEST_FILE_SIZE);
}

/** Every file there is to edit, by its path: the settings files, and the bases they extend. */
export function textsOf(files: readonly LoadedFile[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { path, text, base } of files) {
    texts.set(path, text);
    if (base !== null) texts.set(base.path, base.text);
  }
  return texts;
}

/** The same files with other texts. */
export function withTexts(
  files: readonly LoadedFile[],
  texts: ReadonlyMap<string, string>,
): LoadedFile[] {
  return files.map(({ path, text, base }) => ({
    path,
    text: texts.get(path) ?? text,
    base: base === null ? null : { ...base, text: texts.get(base.path) ?? base.text },
  }));
}

/** The blocks that are merged for a file's targets, each target's own first. */
export function blocksOf({ path, text, base }: LoadedFile): (target: string) => Block[] {
  const root = parseFile(path, text).root ?? undefined;
  const below = base === null ? undefined : (parseFile(base.path, base.text).root ?? undefined);
  const block = (file: string, node: Node | undefined, prefix: readonly string[]): Block => ({
    file,
    prefix,
    node: node === undefined ? undefined : nodeAt(node, prefix),
  });
  const hasEnvironments = member(root, 'environments') !== undefined;
  return (target) => [
    ...(hasEnvironments ? [block(path, root, ['environments', target])] : []),
    block(path, root, []),
    ...(base === null ? [] : [block(base.path, below, [])]),
  ];
}
