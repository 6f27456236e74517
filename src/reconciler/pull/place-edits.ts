import { type Node, findNode } from '../desired/node.ts';
import { type Json, sameValue } from '../model/value.ts';
import { isSameData, type JsonObject } from '../yaml-edit/source.ts';
import { type Placeholder, replaceMarkers, textWithNames, variableName } from './placeholder.ts';
import type { Path } from '../model/path.ts';
import type { Edit } from '../yaml-edit/edit-text.ts';

/** A value to write into a settings file. Which of its layers gets it is decided when the edits of all targets are known. */
export interface PullEdit {
  /** From the top of a layer: `settings`, the field, and, for an mcp list, its name. */
  readonly path: readonly string[];
  readonly value: Json;
  readonly placeholders: readonly Placeholder[];
  /** The length of the path of a named item. Undeclared values go to the layer that declares the item. */
  readonly item?: number;
  /** It is a whole item: if no layer declares it, it goes next to the others of its block in the file. */
  readonly beside?: true;
  /** The path in plans of the edit, if it may make a file invalid. */
  readonly about?: Path;
  /** The value for a layer over the one that declares it, where the two are merged; absent if it is the same. */
  readonly over?: Json;
  /** All of the item, if no file can hold this member of it alone. */
  readonly along?: JsonObject;
  /** The key leaves the file. `value` takes its place where another target still needs it, or a layer below has it. */
  readonly leaves?: true;
}

/** One of the places that make up a target: an environment's entry, the top of its file, or the base that the file extends. */
export interface Layer {
  readonly file: string;
  readonly prefix: readonly string[];
  readonly node: Node | undefined;
  /** The path at which its file writes what has a path; absent if that is the same. */
  readonly spelled?: (path: readonly string[]) => readonly string[];
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
 * Each edit goes to the layer that its value comes from, the first that declares it, if every target that reads it there is to have the
 * same value; else to each target's own layer, and the others keep theirs. A value without a layer goes to the top of the file if every
 * target of the file is to have it. With `ownLayer` everything goes to the targets' own layers.
 */
export function placeEdits(targets: readonly LayeredTarget[], ownLayer: boolean): PlacedEdit[] {
  const all: PlacedEdit[] = [];
  const readersAt = new Map<string, Readers>();
  const left = new Set<string>();
  for (const target of targets) {
    const [own] = target.layers;
    for (const edit of target.edits ?? []) {
      const home = findHomeLayer(target, edit);
      if (own === undefined || home === undefined) continue;
      if (edit.leaves === true) {
        const gone = listReleasedLayers(target, edit, targets);
        if (gone.length === 0)
          all.push({ layer: own, edit: asValue(edit), targets: [target.name] });
        for (const layer of gone) {
          const key = JSON.stringify([layer.file, layer.prefix, edit.path]);
          if (!left.has(key)) all.push({ layer, edit, targets: [] });
          left.add(key);
        }
        continue;
      }
      const key = JSON.stringify([home.file, home.prefix, edit.path]);
      const known = readersAt.get(key);
      const readers = known ?? mapReaders(targets, home, edit);
      readersAt.set(key, readers);
      if (ownLayer || !readers.agree)
        all.push({ layer: own, edit: widenToItem(own, edit), targets: [target.name] });
      else if (known === undefined)
        all.push({
          layer: home,
          edit: widenForOverlay(home, edit, target),
          targets: readers.names,
        });
    }
  }
  return all;
}

/** The targets that have a value from one layer, and whether all that the layer reaches are to have the same. */
interface Readers {
  readonly names: readonly string[];
  readonly agree: boolean;
}

function mapReaders(targets: readonly LayeredTarget[], home: Layer, edit: PullEdit): Readers {
  const { path } = edit;
  const isNew = findLayerNode(home, path) === undefined;
  const readers = targets.filter((target) =>
    isNew ? target.layers.some((layer) => isSameLayer(layer, home)) : reads(target, home, path),
  );
  const edits = readers.map((reader) => reader.edits?.find((edit) => sameKeys(edit.path, path)));
  const [first] = edits;
  const agree = edits.every(
    (edit) => edit !== undefined && first !== undefined && isSameEdit(edit, first),
  );
  const own = readers.filter((reader) => isSameLayer(findHomeLayer(reader, edit) ?? home, home));
  return { names: own.map(({ name }) => name), agree };
}

/**
 * The layer that a target has a value from; if none declares it, the one that declares its item, or else the top of the file that names the
 * target.
 */
function findHomeLayer(
  { layers }: LayeredTarget,
  { path, item, beside }: PullEdit,
): Layer | undefined {
  const ofFile = layers.filter(({ file }) => file === layers[0]?.file);
  const holding = (some: readonly Layer[], holder: readonly string[]): Layer | undefined =>
    some.findLast((layer) => findLayerNode(layer, holder)?.kind === 'map');
  const declaring = layers.find((layer) => findLayerNode(layer, path) !== undefined);
  const around =
    beside === true
      ? holding(ofFile, path.slice(0, -1))
      : item === undefined
        ? undefined
        : holding(layers, path.slice(0, item));
  return declaring ?? around ?? ofFile.at(-1);
}

/** The layers that a key leaves: all that declare it, unless another target still needs it in one of them. None: it has to stay. */
function listReleasedLayers(
  { layers }: LayeredTarget,
  { path }: PullEdit,
  targets: readonly LayeredTarget[],
): readonly Layer[] {
  const declaring = layers.filter((layer) => findLayerNode(layer, path) !== undefined);
  const isNeeded = (layer: Layer): boolean =>
    targets.some(
      (other) =>
        reads(other, layer, path) &&
        other.edits?.some((edit) => edit.leaves === true && sameKeys(edit.path, path)) !== true,
    );
  return declaring.some(isNeeded) ? [] : declaring;
}

/** An edit of a member, or of its item where a layer does not have that and cannot hold the member alone. */
function widenToItem(layer: Layer, edit: PullEdit): PullEdit {
  const { path, item, along, over, value, placeholders } = edit;
  if (over !== undefined) return { path, value: over, placeholders };
  const holder = path.slice(0, item);
  if (along === undefined || findLayerNode(layer, holder)?.kind === 'map') return edit;
  return { path: holder, value: { ...along, [path.at(-1) ?? '']: value }, placeholders };
}

/** The value for a layer whose map is laid over that of another one. */
function widenForOverlay(home: Layer, edit: PullEdit, { layers }: LayeredTarget): PullEdit {
  const { path, over, placeholders } = edit;
  const below = layers.slice(layers.findIndex((layer) => isSameLayer(layer, home)) + 1);
  const isOver = below.some((layer) => findLayerNode(layer, path)?.kind === 'map');
  return over === undefined || !isOver ? edit : { path, value: over, placeholders };
}

function asValue({ path, value, placeholders }: PullEdit): PullEdit {
  return { path, value, placeholders };
}

/** Returns what a layer itself declares at a path. */
function findLayerNode({ node, spelled }: Layer, path: readonly string[]): Node | undefined {
  return node === undefined ? undefined : findNode(node, spelled?.(path) ?? path);
}

/** Reports whether a layer's declaration reaches a target: it does unless a layer above replaces it. */
function reads({ layers }: LayeredTarget, home: Layer, path: readonly string[]): boolean {
  const index = layers.findIndex((layer) => isSameLayer(layer, home));
  return index !== -1 && layers.slice(0, index).every((layer) => !replaces(layer, path));
}

function replaces(layer: Layer, path: readonly string[]): boolean {
  return path.some((_, index) => {
    const above = findLayerNode(layer, path.slice(0, index + 1));
    return above !== undefined && above.kind !== 'map';
  });
}

function isSameLayer(one: Layer, other: Layer): boolean {
  return one.file === other.file && sameKeys(one.prefix, other.prefix);
}

function isSameEdit(one: PullEdit, other: PullEdit): boolean {
  return (
    one.leaves === other.leaves &&
    isSameData(one.value, other.value) &&
    one.placeholders.length === other.placeholders.length &&
    one.placeholders.every((placeholder, index) =>
      sameValue(placeholder.secret, other.placeholders[index]?.secret),
    )
  );
}

function sameKeys(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((key, index) => key === other[index]);
}

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
export function nameEditVariables(
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
      const name = chooseFreeVariable(
        candidates(placeholder, environment, prefixed),
        used,
        numbers,
      );
      used.add(name);
      names.set(placeholder.marker, name);
    }
    const nameOf = (marker: string): string => names.get(marker) ?? marker;
    const named = {
      path: [...layer.prefix, ...(layer.spelled?.(edit.path) ?? edit.path)],
      value: edit.leaves === true ? undefined : replaceMarkers(edit.value, nameOf),
    };
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
function chooseFreeVariable(
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
