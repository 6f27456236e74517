import type { Rule } from './guard.ts';

/** What is allowed to a target by somebody else than whoever declares it, such as a SettingsPolicy of a cluster. */
export interface Limits {
  /** Where its keys may be sent: to origins that each list has. */
  readonly origins: readonly OriginList[];
  /** Rules that refuse its plans whatever it declares, and that nothing lifts, each with who says so. */
  readonly forbidden: ReadonlyMap<Rule, string>;
  /** Milliseconds between two reads, at the least. */
  readonly interval: number;
}

/** Origins or hosts, with `*` for any characters, and the name of the list in a message. */
export interface OriginList {
  readonly name: string;
  readonly entries: readonly string[];
}
