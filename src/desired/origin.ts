import type { Block, Origin } from '../model/explain.ts';
import type { Member, Node } from './node.ts';
import { locate, type SourceFile } from './source-file.ts';
import type { Target } from './target.ts';

/** Where a value of a target stands, and in which block. */
export function originOf(target: Target, { file, at }: Pick<Node, 'file' | 'at'>): Origin {
  return { source: locate(file, at), block: blockOf(target, file, at) };
}

/** The same of a key. */
export function keyOrigin(target: Target, { keyFile, keyAt }: Member): Origin {
  return originOf(target, { file: keyFile, at: keyAt });
}

/** What a target has of `environments:` is its own environment, so that the key above a place tells the block. */
function blockOf({ root }: Target, file: SourceFile, at: number): Block {
  if (file !== root.file) return 'base';
  let above: Member | null = null;
  for (const member of root.members.values())
    if (member.keyAt <= at && member.keyAt >= (above?.keyAt ?? 0)) above = member;
  return above?.key === 'environments' ? 'environment' : 'top';
}
