import { recordOf, type Value } from '../model/value.ts';
import { BLOCKS } from './blocks.ts';
import { nodeAt, plainValue, type Node } from './node.ts';
import type { SourceFile } from './source-file.ts';
import type { Target } from './target.ts';

/** What a target declares as plain data, its blocks merged and its references as they are written: what a policy judges. */
export function declaredData(target: Target): Value {
  return recordOf(
    BLOCKS.flatMap(({ name, data = plainValue }) => {
      const node = target[name];
      return node === undefined ? [] : [[name, data(node)] as const];
    }),
  );
}

/** The place in the file of a path in that data, or the nearest one around it; null if the target declares nothing. */
export function declaredPlace(
  target: Target,
  path: readonly string[],
): { readonly file: SourceFile; readonly at: number } | null {
  const block = BLOCKS.find(({ name }) => name === path[0]);
  const root: Node | undefined = block === undefined ? firstOf(target) : target[block.name];
  if (root === undefined) return null;
  for (let length = path.length; length > 0; length -= 1) {
    const node = nodeAt(root, path.slice(1, length));
    if (node !== undefined) return { file: node.file, at: node.at };
  }
  return { file: root.file, at: 0 };
}

function firstOf(target: Target): Node | undefined {
  return BLOCKS.map(({ name }) => target[name]).find((node) => node !== undefined);
}
