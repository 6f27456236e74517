import { SetpointError } from '../model/error.ts';
import { formatPath, pathKey, type Path } from '../model/path.ts';
import type { ObservedState } from '../model/state.ts';
import { sameValue } from '../model/value.ts';
import { plainValue } from '../desired/node.ts';
import { readTargets, type LoadedFile, type ReadOptions, type Target } from '../desired/target.ts';
import { editText } from '../edit/edit-text.ts';
import { filledLook, filledSource } from '../edit/filled-look.ts';
import { lenientState } from '../edit/lenient-state.ts';
import { namedPuts, type NamedStub } from '../edit/named-puts.ts';
import { placed, type Layered } from '../edit/placed.ts';
import {
  pulledTarget,
  type PullTools,
  type PullWish,
  type TargetPull,
} from '../edit/pulled-target.ts';
import { variablesIn } from '../edit/stub.ts';
import { blocksOf, textsOf, withTexts } from './editable-files.ts';

/** A target that was looked at, and what is asked of it. */
export interface Looked {
  readonly target: Target;
  readonly observed: ObservedState;
  readonly wish: Omit<PullWish, 'excluded'>;
}

/** The texts that differ from what was read, and what each target took in. */
export interface PullEdits {
  readonly texts: ReadonlyMap<string, string>;
  readonly targets: ReadonlyMap<string, TargetPull>;
  readonly stubs: ReadonlyMap<string, readonly NamedStub[]>;
  /** The targets of the edited files. */
  readonly edited: ReadonlyMap<string, Target>;
}

const ATTEMPTS = 4;

/**
 * The files with what their services hold brought in. Each attempt is read back, checked and planned against the same looks:
 * what still differs, and was not said to be left alone, is left alone in the next. Throws where that does not end.
 */
export function pullEdits(
  files: readonly LoadedFile[],
  read: ReadOptions,
  looked: readonly Looked[],
  tools: PullTools,
): PullEdits {
  const excluded = new Map(looked.map(({ target }) => [target.name, new Set<string>()]));
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const edits = attempted(files, read, looked, tools, excluded);
    const unlike = looked.flatMap((one) => differing(one, edits, tools));
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
  looked: readonly Looked[],
  tools: PullTools,
  excluded: ReadonlyMap<string, ReadonlySet<string>>,
): PullEdits {
  const targets = new Map<string, TargetPull>();
  for (const { target, observed, wish } of looked) {
    const asked = { ...wish, excluded: excluded.get(target.name) ?? new Set<string>() };
    targets.set(target.name, pulledTarget(target, observed, asked, tools));
  }
  const layers = files.flatMap((file) => {
    const blocks = blocksOf(file);
    return readTargets(file, read).targets.map(({ name }): Layered => ({
      name,
      blocks: blocks(name),
      slots: targets.get(name)?.slots ?? null,
    }));
  });
  const before = textsOf(files);
  const overlay = looked.some(({ wish }) => wish.overlay);
  const reads = variablesIn([...before.values()].join('\n'));
  const { puts, stubs } = namedPuts(placed(layers, overlay), reads, overlay);
  const texts = new Map<string, string>();
  for (const [file, values] of puts) {
    const text = before.get(file) ?? '';
    const edited = editText(text, values);
    if (edited === null) throw notEditable();
    if (edited !== text) texts.set(file, edited);
  }
  return { texts, targets, stubs, edited: editedTargets(files, read, texts, targets) };
}

/** The targets of the edited files. Throws where anything but the settings of those that were edited has changed. */
function editedTargets(
  files: readonly LoadedFile[],
  read: ReadOptions,
  texts: ReadonlyMap<string, string>,
  targets: ReadonlyMap<string, TargetPull>,
): ReadonlyMap<string, Target> {
  const edited = withTexts(files, texts).flatMap((file) => validTargets(file, read));
  const byName = new Map(edited.map((target) => [target.name, target]));
  for (const before of files.flatMap((file) => readTargets(file, read).targets)) {
    const now = byName.get(before.name);
    if (now === undefined || !isUntouched(before, now, targets.has(before.name)))
      throw notEditable();
  }
  return byName;
}

/** What an edited target still differs in, though it was not left alone. */
function differing(
  { target, observed }: Looked,
  { edited, targets, stubs }: PullEdits,
  tools: PullTools,
): { readonly name: string; readonly path: Path }[] {
  const now = edited.get(target.name);
  const pull = targets.get(target.name);
  if (now === undefined || pull === undefined) throw notEditable();
  const own = stubs.get(target.name) ?? [];
  const { desired } = lenientState(now, filledSource(tools.source, own));
  const { changes } = tools.plan(desired, filledLook(observed, own));
  const said = [...pull.left, ...pull.unknown].map(({ path }) => path);
  const [whole, above] = [new Set(said.map(pathKey)), new Set(said.flatMap(prefixes).map(pathKey))];
  return changes
    .filter(({ path }) => !above.has(pathKey(path)))
    .filter(({ path }) => prefixes(path).every((prefix) => !whole.has(pathKey(prefix))))
    .map(({ path }) => ({ name: target.name, path }));
}

/** A path and those that it lies under. */
function prefixes(path: Path): Path[] {
  return path.map((_, index) => path.slice(0, index + 1));
}

function validTargets(file: LoadedFile, read: ReadOptions): readonly Target[] {
  const { targets, diagnostics } = readTargets(file, read);
  if (diagnostics.some(({ severity }) => severity === 'error')) throw notEditable();
  return targets;
}

/** Whether a target says what it said: all of it, or, where it was edited, everything but its settings. */
function isUntouched(before: Target, now: Target, edited: boolean): boolean {
  const blocks = ['server', 'sandboxes', 'guards'] as const;
  const all = edited ? blocks : ([...blocks, 'settings', 'unmanaged'] as const);
  return all.every((block) => {
    const [was, is] = [before[block], now[block]];
    if (was === undefined || is === undefined) return was === is;
    return sameValue(plainValue(was), plainValue(is));
  });
}

function notEditable(): SetpointError {
  return new SetpointError(
    'internal',
    'The file could not be edited so that it says what the service has; nothing was written.',
    { hint: 'Edit it by hand, and please report the form that it is written in.' },
  );
}
