import { BLOCKS } from '../desired/blocks.ts';
import { member, type Node, nodeAt, plainValue } from '../desired/node.ts';
import { parseFile } from '../desired/parse.ts';
import { type LoadedFile, type ReadOptions, readTargets, type Target } from '../desired/target.ts';
import { SetpointError } from '../model/error.ts';
import { formatPath, type Path, pathKey } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import type { ObservedState } from '../model/state.ts';
import { sameValue } from '../model/value.ts';
import { editText } from '../yaml-edit/edit-text.ts';
import { comparableState, observedWithDummies, sourceWithDummies } from './comparison.ts';
import {
  type Layer,
  type LayeredTarget,
  placeEdits,
  namedEdits,
  type NewReference,
} from './place-edits.ts';
import { variablesIn } from './placeholder.ts';
import { planOf, pulledTarget, type PullOptions, type TargetPull } from './target.ts';

/** A target with its observation, and how it is pulled. */
export interface ObservedTarget {
  readonly target: Target;
  readonly observed: ObservedState;
  readonly options: Omit<PullOptions, 'excluded'>;
  /** What the file keeps although the service has something else. */
  readonly kept?: readonly Path[];
}

/** The result of a pull, before anything is written. */
export interface PullEdits {
  /** The new text of each file that differs from what was read. */
  readonly texts: ReadonlyMap<string, string>;
  readonly pulls: ReadonlyMap<string, TargetPull>;
  readonly references: ReadonlyMap<string, readonly NewReference[]>;
  /** The targets of the edited files. */
  readonly edited: ReadonlyMap<string, Target>;
}

const ATTEMPTS = 4;

/**
 * Edits the files so that they declare what their services have. Each attempt is read back, checked and planned against the same
 * observations; what still differs, and was not left alone for another reason, is left alone in the next attempt. Throws if the
 * attempts run out, or if anything else in the files would change.
 */
export function pullEdits(
  files: readonly LoadedFile[],
  read: ReadOptions,
  observed: readonly ObservedTarget[],
  source: ReferenceSource,
): PullEdits {
  const excluded = new Map(
    observed.map(({ target, kept = [] }) => [target.name, new Set(kept.map(formatPath))]),
  );
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const edits = attempted(files, read, observed, source, excluded);
    const unlike = observed.flatMap((one) => stillDiffering(one, edits, source));
    if (unlike.length === 0) return edits;
    for (const { name, path } of unlike) {
      const known = excluded.get(name);
      // What differs again is left alone with the whole field.
      known?.add(known.has(formatPath(path)) ? (path[0] ?? '') : formatPath(path));
    }
  }
  throw notEditable();
}

function attempted(
  files: readonly LoadedFile[],
  read: ReadOptions,
  observed: readonly ObservedTarget[],
  source: ReferenceSource,
  excluded: ReadonlyMap<string, ReadonlySet<string>>,
): PullEdits {
  const pulls = new Map<string, TargetPull>();
  for (const { target, observed: state, options } of observed) {
    const own = { ...options, excluded: excluded.get(target.name) ?? new Set<string>() };
    pulls.set(target.name, pulledTarget(target, state, own, source));
  }
  const layered = files.flatMap((file) => {
    const layers = layersOf(file);
    return readTargets(file, read).targets.map(({ name }): LayeredTarget => ({
      name,
      layers: layers(name),
      edits: pulls.get(name)?.edits ?? null,
    }));
  });
  const before = textsOf(files);
  const ownLayer = observed.some(({ options }) => options.ownLayer);
  const taken = variablesIn([...before.values()].join('\n'));
  const { edits, references } = namedEdits(placeEdits(layered, ownLayer), taken, ownLayer);
  const texts = new Map<string, string>();
  for (const [file, values] of edits) {
    const text = before.get(file) ?? '';
    const edited = editText(text, values);
    if (edited === null) throw notEditable();
    if (edited !== text) texts.set(file, edited);
  }
  return { texts, pulls, references, edited: editedTargets(files, read, texts, pulls) };
}

/** The targets of the edited files. Throws if anything but the settings of the pulled targets has changed. */
function editedTargets(
  files: readonly LoadedFile[],
  read: ReadOptions,
  texts: ReadonlyMap<string, string>,
  pulls: ReadonlyMap<string, TargetPull>,
): ReadonlyMap<string, Target> {
  const edited = withTexts(files, texts).flatMap((file) => validTargets(file, read));
  const byName = new Map(edited.map((target) => [target.name, target]));
  for (const before of files.flatMap((file) => readTargets(file, read).targets)) {
    const now = byName.get(before.name);
    if (now === undefined || !declaresTheSame(before, now, pulls.has(before.name)))
      throw notEditable();
  }
  return byName;
}

/** What an edited target still differs in, though it was not left alone. */
function stillDiffering(
  { target, observed }: ObservedTarget,
  { edited, pulls, references }: PullEdits,
  source: ReferenceSource,
): { readonly name: string; readonly path: Path }[] {
  const now = edited.get(target.name);
  const pull = pulls.get(target.name);
  if (now === undefined || pull === undefined) throw notEditable();
  const own = references.get(target.name) ?? [];
  const { desired } = comparableState(now, sourceWithDummies(source, own));
  const { changes } = planOf(desired, observedWithDummies(observed, own));
  const reported = [...pull.left, ...pull.unknown].map(({ path }) => path);
  const whole = new Set(reported.map(pathKey));
  const above = new Set(reported.flatMap(prefixes).map(pathKey));
  return changes
    .filter(({ path }) => !above.has(pathKey(path)))
    .filter(({ path }) => prefixes(path).every((prefix) => !whole.has(pathKey(prefix))))
    .map(({ path }) => ({ name: target.name, path }));
}

/** A path and those above it. */
function prefixes(path: Path): Path[] {
  return path.map((_, index) => path.slice(0, index + 1));
}

function validTargets(file: LoadedFile, read: ReadOptions): readonly Target[] {
  const { targets, diagnostics } = readTargets(file, read);
  if (diagnostics.some(({ severity }) => severity === 'error')) throw notEditable();
  return targets;
}

/** Whether a target declares what it did, apart from the blocks that a pull edits if it was pulled. */
export function declaresTheSame(before: Target, now: Target, pulled: boolean): boolean {
  const blocks = BLOCKS.filter((block) => !pulled || !block.pulled);
  return blocks.every(({ name }) => {
    const [was, is] = [before[name], now[name]];
    if (was === undefined || is === undefined) return was === is;
    return sameValue(plainValue(was), plainValue(is));
  });
}

/** The text of every file that a pull may edit, by its path: the settings files, and the bases that they extend. */
export function textsOf(files: readonly LoadedFile[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { path, text, base } of files) {
    texts.set(path, text);
    if (base !== null) texts.set(base.path, base.text);
  }
  return texts;
}

function withTexts(files: readonly LoadedFile[], texts: ReadonlyMap<string, string>): LoadedFile[] {
  return files.map((file) => ({
    ...file,
    text: texts.get(file.path) ?? file.text,
    base:
      file.base === null
        ? null
        : { ...file.base, text: texts.get(file.base.path) ?? file.base.text },
  }));
}

/** The layers of each of a file's targets, its own first. */
function layersOf({ path, text, base, lock }: LoadedFile): (target: string) => Layer[] {
  const root = parseFile(path, text, lock).root ?? undefined;
  const below =
    base === null ? undefined : (parseFile(base.path, base.text, lock).root ?? undefined);
  const layer = (file: string, node: Node | undefined, prefix: readonly string[]): Layer => ({
    file,
    prefix,
    node: node === undefined ? undefined : nodeAt(node, prefix),
  });
  const hasEnvironments = member(root, 'environments') !== undefined;
  return (target) => [
    ...(hasEnvironments ? [layer(path, root, ['environments', target])] : []),
    layer(path, root, []),
    ...(base === null ? [] : [layer(base.path, below, [])]),
  ];
}

function notEditable(): SetpointError {
  return new SetpointError(
    'internal',
    'The file could not be edited to match the service. Nothing was written.',
    { hint: 'Edit it by hand, and please report how it is written.' },
  );
}
