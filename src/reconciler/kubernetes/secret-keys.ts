import {
  listMembers,
  member,
  readNodeText,
  type Finding,
  type Node,
  type PlacedFinding,
} from '../desired/node.ts';
import type { Reference } from '../desired/references.ts';

/** A key of a Secret. */
export interface SecretKey {
  readonly name: string;
  readonly key: string;
}

/** Why a value cannot be in an object, and the remedy. */
export type Refusal = Pick<Finding, 'message' | 'hint' | 'isOfFile'>;

const NAME = /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/;
/** Two dots in a row are the end of no reference that is read back. */
const KEY = /^(?!.*\.\.)[-._A-Za-z0-9]{1,253}$/;

/** Reports whether such a key is possible: no name and no key has a slash or a brace, so a reference to it is unambiguous. */
export function isSecretKey({ name, key }: SecretKey): boolean {
  return NAME.test(name) && !name.includes('..') && KEY.test(key);
}

/** A key of a Secret in the words of messages. */
export function secretLabel({ name, key }: SecretKey): string {
  return `Secret ${name}, key ${key}`;
}

/**
 * The key of a Secret for the value of a reference: from `kubernetes.references`, else in the Secret for all that the flag or
 * `kubernetes.secret` names, by the name of the variable or of the file. Otherwise the reason why that is not known, and the remedy. `used`
 * gets the entry that placed it.
 */
export function secretKeyFor(
  reference: Reference,
  block: Node | undefined,
  given: string | undefined,
  used?: Set<Node>,
): SecretKey | Refusal {
  const named = reference.text.slice(2, -1).replace(/:-.*$/s, '');
  const own = member(member(block, 'references'), named);
  if (own !== undefined) used?.add(own);
  const name =
    readNodeText(member(own, 'secret')) ?? given ?? readNodeText(member(block, 'secret'));
  const key = readNodeText(member(own, 'key')) ?? deriveSecretKey(reference);
  if (name === undefined) return UNNAMED;
  if (key === null || !KEY.test(key))
    return {
      message: `The key of the Secret ${name} that has \${${named}} is not known.`,
      hint: `Specify the key: kubernetes: {references: {"${named}": {key: KEY}}}.`,
    };
  return { name, key };
}

/** The one finding for all references without a named Secret. */
const UNNAMED = {
  message: 'No Secret is named for this reference.',
  hint: 'Name the Secret that has the values of all of them: --secret NAME, or kubernetes: {secret: NAME} in the file. kubernetes.references places a single one.',
  isOfFile: true,
};

/** Entries of `kubernetes.references` that placed nothing, such as one of a misspelt variable. */
export function findUnusedEntries(
  block: Node | undefined,
  used: ReadonlySet<string>,
): PlacedFinding[] {
  return listMembers(member(block, 'references'))
    .filter(({ node }) => !used.has(formatNodePlace(node)))
    .map(({ key, keyFile, keyAt }) => ({
      file: keyFile,
      at: keyAt,
      finding: {
        severity: 'warning',
        code: 'not-in-kubernetes',
        message: `No environment has the reference \${${key}}.`,
        hint: 'Correct the name, or remove the entry.',
        path: ['kubernetes', 'references', key],
      },
    }));
}

/** Nodes of a long file are created at each access, and stay at their places. */
export function formatNodePlace({ file, at }: Pick<Node, 'file' | 'at'>): string {
  return `${file.path}:${at}`;
}

/** The key that a value has by default: a request to a secret command is not the name of a key. */
function deriveSecretKey(reference: Reference): string | null {
  if (reference.kind === 'env') return reference.name;
  return reference.kind === 'file' ? (reference.path.split(/[\\/]/).at(-1) ?? null) : null;
}
