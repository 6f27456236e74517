import type { Rule } from './guard.ts';

/** The limits on a target beyond its declarations, such as those of a cluster's SettingsPolicy. */
export interface Limits {
  /** The destinations of its keys: origins that each list has. */
  readonly origins: readonly OriginList[];
  /** Rules that refuse its plans whatever it declares, and that nothing lifts, each with its source. */
  readonly forbidden: ReadonlyMap<Rule, string>;
  /** Milliseconds between two reads, at the least. */
  readonly interval: number;
  /** The differences that may be healed; absent if all may. */
  readonly approvals?: Approvals;
}

/** Approvals of differences, as they are when it is asked: each can be given, and taken back, at any time. */
export interface Approvals {
  /** Reports whether the difference with this digest is approved now. */
  covers(digest: string): boolean;
}

/** Origins or hosts, with `*` for any characters, and the name of the list in a message. */
export interface OriginList {
  readonly name: string;
  readonly entries: readonly string[];
}
