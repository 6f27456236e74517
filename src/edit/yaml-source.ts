import { duplicateKeys } from '../desired/duplicate-keys.ts';
import { YAML_OPTIONS } from '../desired/yaml-options.ts';
import { parseDocument } from 'yaml';
import { editNode, type EditMap, type EditNode } from './edit-node.ts';

/** A settings file's text, ready to be edited. */
export interface YamlSource {
  /** The byte order mark the file starts with, or nothing. */
  readonly mark: string;
  /** The text behind it. */
  readonly text: string;
  readonly root: EditMap;
  readonly layout: Layout;
}

/** How the file is laid out, as far as what is added must follow it. Widths are columns. */
export interface Layout {
  readonly eol: string;
  /** From a key to the keys below it. */
  readonly step: number;
  /** From a key to the dashes below it. */
  readonly dash: number;
  /** From a dash to what stands behind it. */
  readonly gap: number;
}

/** Reads a text that is a settings file without problems; null where it is none. */
export function yamlSource(whole: string): YamlSource | null {
  const mark = whole.startsWith('\uFEFF') ? '\uFEFF' : '';
  const text = whole.slice(mark.length);
  const document = parseDocument(text, { ...YAML_OPTIONS, keepSourceTokens: true });
  if (document.errors.length > 0 || duplicateKeys(document.contents).length > 0) return null;
  const root = editNode(document.contents, text);
  if (root?.kind !== 'map') return null;
  return { mark, text, root, layout: layoutOf(text, root) };
}

export function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** Where the line of an offset ends, before its line break. */
export function lineEnd(text: string, offset: number): number {
  const feed = text.indexOf('\n', offset);
  if (feed === -1) return text.length;
  return text[feed - 1] === '\r' ? feed - 1 : feed;
}

function layoutOf(text: string, root: EditMap): Layout {
  const feed = text.indexOf('\n');
  const found: { step?: number; dash?: number; gap?: number } = {};
  measure(text, root, found);
  const step = found.step ?? 2;
  return {
    eol: feed > 0 && text[feed - 1] === '\r' ? '\r\n' : '\n',
    step,
    dash: found.dash ?? step,
    gap: found.gap ?? 2,
  };
}

/** Takes the first of each width that the file shows. */
function measure(
  text: string,
  node: EditNode,
  found: { step?: number; dash?: number; gap?: number },
): void {
  if (node.kind === 'scalar' || node.flow) return;
  const column = (offset: number) => columnOf(text, offset);
  if (node.kind === 'list') {
    for (const item of node.items) {
      if (lineStart(text, item.start) === lineStart(text, item.node.start))
        found.gap ??= item.node.start - item.start;
      measure(text, item.node, found);
    }
    return;
  }
  for (const { start, node: value } of node.members) {
    if (value.kind === 'map' && !value.flow && value.members[0] !== undefined)
      found.step ??= column(value.members[0].start) - column(start);
    if (value.kind === 'list' && !value.flow && value.items[0] !== undefined)
      found.dash ??= column(value.items[0].start) - column(start);
    measure(text, value, found);
  }
}
