import type { Json } from './value.ts';

/* What schemas/servers/facts.json and the schemas say of the members of types: the form of types.gen.ts. */

/** The code that a value makes the service run. */
export interface Code {
  readonly what: string;
  /** True if the service runs something else without a value. */
  readonly replaced: boolean;
  /** The only value that it runs anything for; absent: any. */
  readonly only?: Json;
  /** The only value that it runs nothing for. */
  readonly except?: Json;
  /** True if a value lists what is not run: the service runs what leaves the list. */
  readonly inverse?: true;
}

/** A setting that protects unless it is empty or one of some words. */
export interface Safety {
  readonly unless: readonly string[];
  /** The effect of a change that ends the protection, with `{}` for the name. */
  readonly lowered: string;
}

/** True for a list of text; `text` or `flag` for a place that takes one text, or true and false, as well. */
export type ListFact = boolean | 'text' | 'flag';

/** The facts in types.gen.ts about a member of a type. */
export interface MemberFacts {
  /** The type of the value, or, with `many`, of each value in a map or list. */
  readonly type?: string;
  readonly many?: boolean;
  readonly list?: ListFact;
  /** The differences for each value in a map or list. */
  readonly each?: MemberFacts;
  readonly secret?: boolean;
  readonly number?: boolean;
  /** Texts that a schema names: each may be shown. */
  readonly words?: readonly string[];
  /**
   * The way a text is judged before it is shown. `name`: one word or few; `id`: the same, or a name that a service generates to distinguish
   * its own things. `prose`: sentences, which may quote a secret. `text`: anything without the form of a secret; `address`, `command` and
   * `source` have forms of their own. Without any it is free form, and masked.
   */
  readonly shows?: string;
  /** The use of a text, if its secrecy and its display do not define it: `lines`, `header` or `host`. */
  readonly text?: string;
  readonly names?: boolean;
  readonly served?: boolean;
  readonly item?: string;
  readonly runs?: Partial<Code>;
  readonly safety?: Safety;
  /** `sends` are paths with dots from the map that has the member; of those between `|` the first that is stored is sent. */
  readonly address?: {
    readonly by: string;
    readonly sends: readonly string[];
    readonly former?: boolean;
  } | null;
}

export type TypeFacts = Readonly<Record<string, MemberFacts>>;
