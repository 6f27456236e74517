import type { SourceFile } from './source-file.ts';
import { envPairs, shellWords } from './lines.ts';
import { nodeAt, plainValue, type Node } from './node.ts';
import type { Target } from './target.ts';
import { isList, isRecord, recordOf, type Value } from '../model/value.ts';

const BLOCKS = ['server', 'settings', 'sandboxes', 'guards', 'unmanaged'] as const;

/**
 * What a target declares as plain data, its blocks merged and its references as they are written: what a policy judges. Mcp
 * entries are in the one form that is compared and sent, however the file spells them.
 */
export function declaredData(target: Target): Value {
  return recordOf(
    BLOCKS.flatMap((block) => {
      const node = target[block];
      if (node === undefined) return [];
      return [[block, block === 'settings' ? settingsData(node) : plainValue(node)] as const];
    }),
  );
}

function settingsData(node: Node): Value {
  const settings = plainValue(node);
  if (!isRecord(settings) || !isRecord(settings['mcp_config'])) return settings;
  const config = Object.entries(settings['mcp_config']).map(
    ([list, entries]) => [list, isList(entries) ? entries.map(entryData) : entries] as const,
  );
  return recordOf([...Object.entries(settings), ['mcp_config', recordOf(config)]]);
}

/** An entry spelled out: a bare url as a map, lines of arguments and variables as list and map, blanks around words dropped. */
function entryData(entry: Value): Value {
  if (typeof entry === 'string') return recordOf([['url', entry.trim()]]);
  if (!isRecord(entry)) return entry;
  return recordOf(
    Object.entries(entry).map(([name, value]) => [
      name,
      typeof value === 'string' ? (SPELLED_OUT.get(name)?.(value) ?? value) : value,
    ]),
  );
}

const trimmed = (text: string): Value => text.trim();

const SPELLED_OUT: ReadonlyMap<string, (text: string) => Value> = new Map([
  ['url', trimmed],
  ['name', trimmed],
  ['command', trimmed],
  ['args', shellWords],
  ['env', (line) => recordOf(envPairs(line).map(({ name, text }) => [name, text ?? ''] as const))],
]);

/** Where in the file a place of that data stands: itself, or the nearest that there is around it; null where nothing is. */
export function declaredPlace(
  target: Target,
  path: readonly string[],
): { readonly file: SourceFile; readonly at: number } | null {
  const block = BLOCKS.find((name) => name === path[0]);
  const root: Node | undefined = block === undefined ? firstOf(target) : target[block];
  if (root === undefined) return null;
  for (let length = path.length; length > 0; length -= 1) {
    const node = nodeAt(root, path.slice(1, length));
    if (node !== undefined) return { file: node.file, at: node.at };
  }
  return { file: root.file, at: 0 };
}

function firstOf(target: Target): Node | undefined {
  return BLOCKS.map((block) => target[block]).find((node) => node !== undefined);
}
