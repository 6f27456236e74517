import type { Path } from '../model/path.ts';
import type { Edit } from '../yaml-edit/edit-text.ts';
import type { PlacedEdit } from './place-edits.ts';
import { textWithNames, variableName, withNames, type Placeholder } from './placeholder.ts';

/** A placeholder whose variable has its name. */
export interface NewReference {
  readonly name: string;
  readonly path: Path;
  readonly at: Path;
  /** The scalar as the file writes it. */
  readonly written: string;
}

/** The edits of each file, and the new references of each target. */
export interface NamedEdits {
  readonly edits: ReadonlyMap<string, readonly Edit[]>;
  readonly references: ReadonlyMap<string, readonly NewReference[]>;
}

/**
 * Names the variables of all edits, none of them a name in `taken`. With `prefixed`, a variable in an environment's block starts
 * with the environment's name; otherwise it does so only if the plain name is taken.
 */
export function namedEdits(
  placed: readonly PlacedEdit[],
  taken: ReadonlySet<string>,
  prefixed: boolean,
): NamedEdits {
  const used = new Set(taken);
  const numbers = new Map<string, number>();
  const edits = new Map<string, Edit[]>();
  const references = new Map<string, NewReference[]>();
  for (const { layer, edit, targets } of placed) {
    const [, environment = null] = layer.prefix;
    const names = new Map<string, string>();
    for (const placeholder of edit.placeholders) {
      const name = freeName(candidates(placeholder, environment, prefixed), used, numbers);
      used.add(name);
      names.set(placeholder.marker, name);
    }
    const nameOf = (marker: string): string => names.get(marker) ?? marker;
    const named = { path: [...layer.prefix, ...edit.path], value: withNames(edit.value, nameOf) };
    edits.set(layer.file, [...(edits.get(layer.file) ?? []), named]);
    const added = edit.placeholders.map(({ marker, path, at, written }) => ({
      name: nameOf(marker),
      path,
      at,
      written: textWithNames(written, nameOf),
    }));
    for (const target of targets)
      references.set(target, [...(references.get(target) ?? []), ...added]);
  }
  return { edits, references };
}

function candidates(
  { names }: Placeholder,
  environment: string | null,
  prefixed: boolean,
): string[] {
  const own = environment === null ? [] : names.map((name) => variableName(environment, name));
  return prefixed ? [...own, ...names] : [...names, ...own];
}

/** `numbers` holds the last number given to each name, so that none is tried twice. */
function freeName(
  names: readonly string[],
  used: ReadonlySet<string>,
  numbers: Map<string, number>,
): string {
  const free = names.find((name) => !used.has(name));
  if (free !== undefined) return free;
  const [first = ''] = names;
  let number = (numbers.get(first) ?? 1) + 1;
  while (used.has(`${first}_${number}`)) number += 1;
  numbers.set(first, number);
  return `${first}_${number}`;
}
