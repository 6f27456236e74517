import type { Origin } from './explain.ts';
import type { Path } from './path.ts';
import type { FORMAT_VERSION, Tool } from './plan.ts';
import type { Json } from './value.ts';

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

/** A value without members, as JSON shows it: masked as a plan masks it. The path starts at the top of the file. */
export interface EffectiveValue extends Origin {
  readonly path: Path;
  readonly value: Json;
}

/** The effective file of one environment as JSON. schemas/explain.schema.json is its schema. */
export interface EffectiveDocument {
  readonly format_version: typeof FORMAT_VERSION;
  readonly kind: 'effective';
  readonly tool: Tool;
  readonly name: string;
  readonly values: readonly EffectiveValue[];
}
