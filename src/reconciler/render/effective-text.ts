import type { EffectiveMap, EffectiveNode, EffectivePart } from '../model/effective.ts';
import type { Origin } from '../model/effective.ts';
import { yamlText } from './change.ts';
import { paint, type Style, escapeJsonText, visible } from './text.ts';

interface Line {
  readonly text: string;
  readonly origin: Origin;
}

const WIDEST = 60;

/** An effective file as YAML, with the origin of each line as a comment. It is a valid settings file. */
export function effectiveText(file: EffectiveMap, name: string, style: Style): string {
  const lines = formatMapLines(file);
  const widths = lines.map(({ text }) => text.length).filter((width) => width <= WIDEST);
  const column = Math.max(0, ...widths);
  const shown = lines.map(({ text, origin }) => {
    const comment = paint(style, 'dim', `# ${originComment(origin, name)}`);
    return `${text.padEnd(column)}  ${comment}\n`;
  });
  return shown.join('');
}

/** `settings.yaml:12`, followed by the environment's name if the line comes from its block. */
function originComment({ source, block }: Origin, name: string): string {
  const place = `${visible(source.file)}:${source.line}`;
  return block === 'environment' ? `${place} (${visible(name)})` : place;
}

function formatMapLines({ members }: EffectiveMap): Line[] {
  return members.flatMap(({ key, node, origin }) =>
    entryLines(`${yamlScalar(key)}:`, node, origin),
  );
}

/** A key or a dash, with the value behind or below it. */
function entryLines(head: string, node: EffectiveNode, origin: Origin): Line[] {
  if (node.kind === 'scalar') return [{ text: `${head} ${yamlScalar(node.value)}`, origin }];
  const inner = node.kind === 'map' ? formatMapLines(node) : node.items.flatMap(listItemLines);
  if (inner.length === 0) return [{ text: `${head} ${node.kind === 'map' ? '{}' : '[]'}`, origin }];
  return [{ text: head, origin }, ...inner.map(indentLine)];
}

/** An item that is a map begins on the line of its dash. */
function listItemLines({ node, origin }: EffectivePart): Line[] {
  if (node.kind !== 'map' || node.members.length === 0) return entryLines('-', node, origin);
  return formatMapLines(node).map((line, index) =>
    index === 0 ? { ...line, text: `- ${line.text}` } : indentLine(line),
  );
}

function indentLine({ text, origin }: Line): Line {
  return { text: `  ${text}`, origin };
}

/** On one line, with JSON escapes for what a terminal would not show. */
function yamlScalar(value: null | boolean | number | string): string {
  const text = yamlText(value).replace(/\n$/, '');
  return typeof value === 'string' && visible(text) !== text
    ? escapeJsonText(JSON.stringify(value))
    : text;
}
