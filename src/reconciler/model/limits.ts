import type { Rule } from './guard.ts';

/** What is allowed to a target besides what it declares, such as by a SettingsPolicy of a cluster. */
export interface Limits {
  /** Where its keys may be sent: to origins that each list has. */
  readonly origins: readonly OriginList[];
  /** Rules that refuse its plans whatever it declares, and that nothing lifts, each with who says so. */
  readonly forbidden: ReadonlyMap<Rule, string>;
  /** Milliseconds between two reads, at the least. */
  readonly interval: number;
  /** The digest of the only difference that may be healed. */
  readonly approved?: string;
}

/** Origins or hosts, with `*` for any characters, and the name of the list in a message. */
export interface OriginList {
  readonly name: string;
  readonly entries: readonly string[];
}
