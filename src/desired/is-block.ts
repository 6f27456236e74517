import type { Target } from './target.ts';

/** The blocks of a file that overlays merge. */
export const BLOCKS = ['server', 'settings', 'sandboxes', 'guards', 'unmanaged'] as const;
export type BlockName = (typeof BLOCKS)[number] & keyof Target;

export function isBlock(key: string): key is BlockName {
  return BLOCKS.some((block) => block === key);
}
