import type { Block, EffectiveDocument } from './documents.gen.ts';
import type { Source } from './path.ts';

/** The origin of a value. */
export interface Origin {
  /** The place in the settings file. */
  readonly source: Source;
  /** The block of the file that declares it. */
  readonly block: Block;
}

/** A value of the file that all blocks of an environment make together. References are as they are written. */
export type EffectiveNode = EffectiveScalar | EffectiveList | EffectiveMap;

/** A value without members. */
export interface EffectiveScalar {
  /** Names the form of the value. */
  readonly kind: 'scalar';
  /** The value; a reference as it is written. */
  readonly value: null | boolean | number | string;
}

/** A list. */
export interface EffectiveList {
  /** Names the form of the value. */
  readonly kind: 'list';
  /** The items, each with its origin. */
  readonly items: readonly EffectivePart[];
}

/** A map. */
export interface EffectiveMap {
  /** Names the form of the value. */
  readonly kind: 'map';
  /** The members, each with its origin. */
  readonly members: readonly EffectiveMember[];
}

/** A value with the place it comes from. */
export interface EffectivePart {
  /** The origin of the value. */
  readonly origin: Origin;
  /** The value itself. */
  readonly node: EffectiveNode;
}

/** A member of a map. */
export interface EffectiveMember extends EffectivePart {
  /** The name of the member. */
  readonly key: string;
}

/** The file that a target's blocks make together, and the same as a document, masked as a plan is. */
export interface Effective {
  /** The blocks as one, each value with its origin. */
  readonly file: EffectiveMap;
  /** The same as a document, masked. */
  readonly document: EffectiveDocument;
}
