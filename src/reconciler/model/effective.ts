import type { Block, EffectiveDocument } from './documents.gen.ts';
import type { Source } from './path.ts';

/** The origin of a value. */
export interface Origin {
  readonly source: Source;
  readonly block: Block;
}

/** A value of the file that all blocks of an environment make together. References are as they are written. */
export type EffectiveNode = EffectiveScalar | EffectiveList | EffectiveMap;

export interface EffectiveScalar {
  readonly kind: 'scalar';
  readonly value: null | boolean | number | string;
}

export interface EffectiveList {
  readonly kind: 'list';
  readonly items: readonly EffectivePart[];
}

export interface EffectiveMap {
  readonly kind: 'map';
  readonly members: readonly EffectiveMember[];
}

/** A value with the place it comes from. */
export interface EffectivePart {
  readonly origin: Origin;
  readonly node: EffectiveNode;
}

export interface EffectiveMember extends EffectivePart {
  readonly key: string;
}

/** The file that a target's blocks make together, and the same as a document, masked as a plan is. */
export interface Effective {
  /** The blocks as one, each value with its origin. */
  readonly file: EffectiveMap;
  /** The same as a document, masked. */
  readonly document: EffectiveDocument;
}
