import type { EffectiveMap, EffectiveNode, EffectivePart } from '../model/effective.ts';
import type { Origin } from '../model/explain.ts';
import { paint, type Style } from './style.ts';
import { escaped, visible } from './visible.ts';
import { yamlText } from './yaml-text.ts';

interface Line {
  readonly text: string;
  readonly origin: Origin;
}

const WIDEST = 60;

/** An effective file as YAML, every line with a comment that tells its origin. It is a settings file itself. */
export function effectiveText(file: EffectiveMap, name: string, style: Style): string {
  const lines = linesOf(file);
  const widths = lines.map(({ text }) => text.length).filter((width) => width <= WIDEST);
  const column = Math.max(0, ...widths);
  const shown = lines.map(({ text, origin }) => {
    const comment = paint(style, 'dim', `# ${originText(origin, name)}`);
    return `${text.padEnd(column)}  ${comment}\n`;
  });
  return shown.join('');
}

/** `settings.yaml:12`, with the environment's name behind it where the line comes from there. */
function originText({ source, block }: Origin, name: string): string {
  const place = `${visible(source.file)}:${source.line}`;
  return block === 'environment' ? `${place} (${visible(name)})` : place;
}

function linesOf({ members }: EffectiveMap): Line[] {
  return members.flatMap(({ key, node, origin }) =>
    entryLines(`${scalarText(key)}:`, node, origin),
  );
}

/** A key or a dash, and what stands behind or under it. */
function entryLines(head: string, node: EffectiveNode, origin: Origin): Line[] {
  if (node.kind === 'scalar') return [{ text: `${head} ${scalarText(node.value)}`, origin }];
  const inner = node.kind === 'map' ? linesOf(node) : node.items.flatMap(itemLines);
  if (inner.length === 0) return [{ text: `${head} ${node.kind === 'map' ? '{}' : '[]'}`, origin }];
  return [{ text: head, origin }, ...inner.map(indented)];
}

/** An entry that is a map begins on the line of its dash. */
function itemLines({ node, origin }: EffectivePart): Line[] {
  if (node.kind !== 'map' || node.members.length === 0) return entryLines('-', node, origin);
  return linesOf(node).map((line, index) =>
    index === 0 ? { ...line, text: `- ${line.text}` } : indented(line),
  );
}

function indented({ text, origin }: Line): Line {
  return { text: `  ${text}`, origin };
}

/** On one line, and in escapes where a terminal would not show it. */
function scalarText(value: null | boolean | number | string): string {
  const text = yamlText(value).replace(/\n$/, '');
  return typeof value === 'string' && visible(text) !== text
    ? escaped(JSON.stringify(value))
    : text;
}
