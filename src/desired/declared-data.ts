import type { SourceFile } from './source-file.ts';
import { nodeAt, plainValue, type Node } from './node.ts';
import type { Target } from './target.ts';
import { recordOf, type Value } from '../model/value.ts';

const BLOCKS = ['server', 'settings', 'sandboxes', 'guards', 'unmanaged'] as const;

/** What a target declares as plain data, its blocks merged and its references as they are written: what a policy judges. */
export function declaredData(target: Target): Value {
  return recordOf(
    BLOCKS.flatMap((block) => {
      const node = target[block];
      return node === undefined ? [] : [[block, plainValue(node)] as const];
    }),
  );
}

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
