import type { MapNode, Node, overlay, PlacedFinding } from '../node.ts';
import type { DeclaredItem, OnlyOn } from '../../model/state.ts';
import type { Path } from '../../model/path.ts';
import type { Value } from '../../model/value.ts';
import { isShowable } from '../../model/secret-words.ts';

/** The keys that lead to a place, from the top of the file. */
export type FilePath = readonly string[];

/**
 * The meaning of text at a place of the file. `secret`: one whole reference; `typed`: a number or boolean, or one whole reference; `text`:
 * text with references inside; `pairs`: a line A=1,B=2; `words`: a line of arguments; `plain`: references have no meaning.
 */
export type TextKind = 'secret' | 'typed' | 'text' | 'pairs' | 'words' | 'plain';

/**
 * A block of settings.yaml, `server` or `settings`: everything that a reader of the file needs in addition to its schema. Paths are those
 * inside the block, without its name, and without the environment that contains it. If a block omits a member, that feature is absent:
 * references have no meaning in it, excerpts quote none of its values, and an overlay merges it key by key.
 *
 * 1. Must have the `name` that the schema has.
 * 2. Must set `pulled`.
 * 3. May set `textKind` where references have a meaning.
 * 4. May `check` what the schema cannot express, and return each finding with its node.
 * 5. May name values that an excerpt may quote (`isQuotable`); no secret may be one.
 * 6. May explain patterns (`textForm`, `keyForm`).
 * 7. May merge in another way than key by key (`overlay`).
 * 8. May return the `items` that it declares; then a resource must plan them.
 * 9. May set `ofSettings`, `only` and `data` as they say.
 *
 * @example
 * export const labels: Block<'labels'> = {
 *   name: 'labels',
 *   pulled: false,
 *   textKind: () => 'plain',
 * };
 */
export interface Block<Name extends string = string> {
  readonly name: Name;
  /** True if `pull` edits it. */
  readonly pulled: boolean;
  readonly textKind?: (path: FilePath) => TextKind;
  /** Finds what the schema cannot express. `holder` is the top of the file or an environment that has the block, `path` leads to it. */
  readonly check?: (holder: MapNode, path: FilePath) => PlacedFinding[];
  /** Reports whether an excerpt may quote a written value: nothing that may be a secret. */
  readonly isQuotable?: (value: string, path: FilePath) => boolean;
  /** Returns the form of text with a pattern, in words, and how to write it. */
  readonly textForm?: (path: FilePath) => readonly [phrase: string, hint: string] | null;
  /** Returns the form of a key with a pattern, and how to write it. */
  readonly keyForm?: (path: FilePath) => readonly [message: string, hint: string];
  /** An environment's block over the same block above it. */
  readonly overlay?: typeof overlay;
  /** Returns the items that it declares, in the order of the file. */
  readonly items?: (node: Node, resolve: Resolve) => readonly DeclaredItem[];
  /** True if it is another spelling of a part of `settings`, and planned there. */
  readonly ofSettings?: true;
  /** The only services that have what it declares. */
  readonly only?: OnlyOn;
  /** The block as a policy judges it, references as they are written. */
  readonly data?: (node: Node) => Value;
}

/** The value of a text at a path of the file, its references looked up. */
export type Resolve = (text: string, path: Path) => Value;

/** The path without the environment that holds it, so that every block has the same paths. */
export function inBlock(path: FilePath): FilePath {
  return path[0] === 'environments' ? path.slice(2) : path;
}

export function createFindingForNode(node: Node, finding: PlacedFinding['finding']): PlacedFinding {
  return { file: node.file, at: node.at, finding };
}

/*
 * The forms of values that an excerpt may quote as they are, in quotes or not: too short or too plain to be a secret. Everything
 * else is struck out.
 */

const REFERENCE =
  /^(["']?)\$\{(?:env:[A-Za-z_][A-Za-z0-9_]*|file:[^}:]+|secret:[A-Za-z][\w-]*\/[\w./@-]+)\}\1$/;
const NUMBER_OR_WORD =
  /^(["']?)(?:[-+]?\d[\d.eE+_-]{0,24}|[-+]?\.inf|\.nan|true|false|yes|no|on|off|null|~)\1$/i;
const ADDRESS = /^(["']?)(?:embedded:|[a-z]{2,8}:\/\/)[^?#@{}[\]"',\s]{0,100}\1$/i;
const PATH = /^(["']?)[a-z_]+(?:[.[][^?#@{}"',\s]{0,100})?\1$/i;

export function isReference(value: string): boolean {
  return REFERENCE.test(value);
}

/** A number, a truth value or null. */
export function isNumberOrWord(value: string): boolean {
  return NUMBER_OR_WORD.test(value);
}

/** Text without blanks that has the form of a name. */
export function isPlainWord(value: string): boolean {
  const word = /^(["']?)(.*)\1$/s.exec(value)?.[2] ?? '';
  return isShowable(word.replaceAll(/[/@]/g, '-'));
}

/** An address of plain words, without userinfo, query and fragment. */
export function isPlainAddress(value: string): boolean {
  return ADDRESS.test(value) && isShowableWords(value);
}

/** A path of plain words to a field or an mcp entry. */
export function isPlainPath(value: string): boolean {
  return PATH.test(value) && isShowableWords(value);
}

function isShowableWords(value: string): boolean {
  return value.split(/[\s"'[\]:/.#]+/).every((part) => isShowable(part) || /^\d{1,5}$/.test(part));
}
