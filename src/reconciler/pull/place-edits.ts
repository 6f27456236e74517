import { type Node, nodeAt } from '../desired/node.ts';
import type { Json } from '../model/value.ts';
import { sameValue } from '../model/value.ts';
import { sameJson } from '../yaml-edit/json.ts';
import type { Placeholder } from './placeholder.ts';

/** A value to write into a settings file. Which of its layers gets it is decided when the edits of all targets are known. */
export interface PullEdit {
  /** From the top of a layer: `settings`, the field, and, for an mcp list, its name. */
  readonly path: readonly string[];
  readonly value: Json;
  readonly placeholders: readonly Placeholder[];
}

/** One of the places that make up a target: an environment's entry, the top of its file, or the base that the file extends. */
export interface Layer {
  readonly file: string;
  readonly prefix: readonly string[];
  readonly node: Node | undefined;
}

/** A target with its layers, its own first. `edits` is null if the pull is not about it. */
export interface LayeredTarget {
  readonly name: string;
  readonly layers: readonly Layer[];
  readonly edits: readonly PullEdit[] | null;
}

/** An edit with the layer that gets it, and the targets whose value it is. */
export interface PlacedEdit {
  readonly layer: Layer;
  readonly edit: PullEdit;
  readonly targets: readonly string[];
}

/**
 * Each edit goes to the layer that its value comes from, the first that declares it, if every target that reads it there is to
 * have the same value; else to each target's own layer, so that the others keep theirs. What no layer declares goes to the top of
 * the file if every target of the file is to have it. With `ownLayer` everything goes to the targets' own layers.
 */
export function placeEdits(targets: readonly LayeredTarget[], ownLayer: boolean): PlacedEdit[] {
  const all: PlacedEdit[] = [];
  const readersAt = new Map<string, Readers>();
  for (const target of targets) {
    const [own] = target.layers;
    for (const edit of target.edits ?? []) {
      const home = homeOf(target, edit.path);
      if (own === undefined || home === undefined) continue;
      const key = JSON.stringify([home.file, home.prefix, edit.path]);
      const known = readersAt.get(key);
      const readers = known ?? readersOf(targets, home, edit.path);
      readersAt.set(key, readers);
      if (ownLayer || !readers.agree) all.push({ layer: own, edit, targets: [target.name] });
      else if (known === undefined) all.push({ layer: home, edit, targets: readers.names });
    }
  }
  return all;
}

/** The targets that have a value from one layer, and whether all that the layer reaches are to have the same. */
interface Readers {
  readonly names: readonly string[];
  readonly agree: boolean;
}

function readersOf(
  targets: readonly LayeredTarget[],
  home: Layer,
  path: readonly string[],
): Readers {
  const isNew = home.node === undefined || nodeAt(home.node, path) === undefined;
  const readers = targets.filter((target) =>
    isNew ? target.layers.some((layer) => isSameLayer(layer, home)) : reads(target, home, path),
  );
  const edits = readers.map((reader) => reader.edits?.find((edit) => sameKeys(edit.path, path)));
  const [first] = edits;
  const agree = edits.every(
    (edit) => edit !== undefined && first !== undefined && isSameEdit(edit, first),
  );
  const own = readers.filter((reader) => isSameLayer(homeOf(reader, path) ?? home, home));
  return { names: own.map(({ name }) => name), agree };
}

/** The layer that a target has a value from; if none declares it, the top of the file that names the target. */
function homeOf({ layers }: LayeredTarget, path: readonly string[]): Layer | undefined {
  const declaring = layers.find(
    ({ node }) => node !== undefined && nodeAt(node, path) !== undefined,
  );
  return declaring ?? layers.findLast(({ file }) => file === layers[0]?.file);
}

/** Whether what a layer declares reaches a target: it does unless a layer above replaces it. */
function reads({ layers }: LayeredTarget, home: Layer, path: readonly string[]): boolean {
  const index = layers.findIndex((layer) => isSameLayer(layer, home));
  return index !== -1 && layers.slice(0, index).every((layer) => !replaces(layer, path));
}

function replaces({ node }: Layer, path: readonly string[]): boolean {
  return path.some((_, index) => {
    const above = node === undefined ? undefined : nodeAt(node, path.slice(0, index + 1));
    return above !== undefined && above.kind !== 'map';
  });
}

function isSameLayer(one: Layer, other: Layer): boolean {
  return one.file === other.file && sameKeys(one.prefix, other.prefix);
}

function isSameEdit(one: PullEdit, other: PullEdit): boolean {
  return (
    sameJson(one.value, other.value) &&
    one.placeholders.length === other.placeholders.length &&
    one.placeholders.every((placeholder, index) =>
      sameValue(placeholder.secret, other.placeholders[index]?.secret),
    )
  );
}

function sameKeys(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((key, index) => key === other[index]);
}
