import { BLOCKS, createPathSpeller, inOwnBlock } from '../desired/blocks.ts';
import { findNode, member, plainValue } from '../desired/node.ts';
import { parseFile } from '../desired/parse.ts';
import { type LoadedFile, type ReadOptions, readTargets, type Target } from '../desired/target.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { formatPath, type Path, formatPathKey, samePath } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { sameValue } from '../model/value.ts';
import { editText } from '../yaml-edit/edit-text.ts';
import {
  comparableState,
  fillDummySecrets,
  sourceWithDummies,
  sourceWithout,
} from './comparison.ts';
import {
  type Layer,
  type LayeredTarget,
  placeEdits,
  nameEditVariables,
  type NewReference,
} from './place-edits.ts';
import { listTextVariables } from './placeholder.ts';
import {
  planPulledSettings,
  pullTarget,
  type ObservedService,
  type PullOptions,
  type TargetPull,
} from './pull-target.ts';
import { REASONS } from './writable.ts';
import { inBlock } from '../desired/blocks/block.ts';
import { formatDiagnosticKey } from '../desired/place-diagnostic.ts';
import { SetpointError } from '../model/error.ts';

/** A target with its observation, and how it is pulled. */
export interface ObservedTarget extends ObservedService {
  readonly target: Target;
  readonly options: Omit<PullOptions, 'excluded' | 'later'>;
  /** The paths that the file preserves although the service differs. */
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

/** An item that is left out may leave out the items that name it, one attempt later each. */
const ATTEMPTS = 10;

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
  const attempts = new Map(
    observed.map(({ target, kept = [] }) => [
      target.name,
      {
        excluded: new Map(kept.map((path) => [formatPath(path), REASONS.pending as string])),
        later: [] as Change[],
      },
    ]),
  );
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const edits = attemptPull(files, read, observed, source, attempts);
    const unlike =
      'refused' in edits
        ? edits.refused
        : observed.flatMap((one) => stillDiffering(one, edits, source));
    if (!('refused' in edits) && unlike.length === 0) return edits;
    for (const { name, path, reason, change } of unlike) {
      const { excluded = new Map<string, string>(), later = [] } = attempts.get(name) ?? {};
      // A difference that shows once others are gone is pulled with them.
      const isNew = change !== null && !later.some((one) => samePath(one.path, path));
      if (isNew) later.push(change);
      // A remaining difference is left alone with the item or field that it is in.
      const above = path[0] === 'mcp_config' ? [] : [path.slice(0, 2)];
      const next = [path, ...above, path.slice(0, 1)].find((one) => !excluded.has(formatPath(one)));
      if (!isNew && next !== undefined) excluded.set(formatPath(next), reason);
    }
  }
  throw notEditable();
}

function attemptPull(
  files: readonly LoadedFile[],
  read: ReadOptions,
  observed: readonly ObservedTarget[],
  source: ReferenceSource,
  attempts: ReadonlyMap<string, Pick<PullOptions, 'excluded' | 'later'>>,
): PullEdits | { readonly refused: readonly Unlike[] } {
  const pulls = new Map<string, TargetPull>();
  for (const { target, options, ...service } of observed) {
    const { excluded, later } = attempts.get(target.name) ?? { excluded: new Map(), later: [] };
    pulls.set(target.name, pullTarget(target, service, { ...options, excluded, later }, source));
  }
  const layered = files.flatMap((file) => {
    const layers = mapTargetLayers(file);
    return readTargets(file, read).targets.map(({ name }): LayeredTarget => ({
      name,
      layers: layers(name),
      edits: pulls.get(name)?.edits ?? null,
    }));
  });
  const before = mapFileTexts(files);
  const ownLayer = observed.some(({ options }) => options.ownLayer);
  const taken = listTextVariables([...before.values()].join('\n'));
  const { edits, references } = nameEditVariables(placeEdits(layered, ownLayer), taken, ownLayer);
  const texts = new Map<string, string>();
  for (const [file, values] of edits) {
    const text = before.get(file) ?? '';
    const edited = editText(text, values);
    if (edited === null) throw notEditable();
    if (edited !== text) texts.set(file, edited);
  }
  const errors = listReadErrors(withTexts(files, texts), read);
  if (errors.length > 0) return { refused: itemsRefused(errors, pulls) };
  return { texts, pulls, references, edited: readEditedTargets(files, read, texts, pulls) };
}

function listReadErrors(files: readonly LoadedFile[], read: ReadOptions): readonly Diagnostic[] {
  return files
    .flatMap((file) => readTargets(file, read).diagnostics)
    .filter(({ severity }) => severity === 'error');
}

/** The targets of the edited files. Throws if anything but the settings of the pulled targets has changed. */
function readEditedTargets(
  files: readonly LoadedFile[],
  read: ReadOptions,
  texts: ReadonlyMap<string, string>,
  pulls: ReadonlyMap<string, TargetPull>,
): ReadonlyMap<string, Target> {
  const edited = withTexts(files, texts).flatMap((file) => readTargets(file, read).targets);
  const byName = new Map(edited.map((target) => [target.name, target]));
  for (const before of files.flatMap((file) => readTargets(file, read).targets)) {
    const now = byName.get(before.name);
    if (now === undefined || !declaresTheSame(before, now, pulls.has(before.name)))
      throw notEditable();
  }
  return byName;
}

/** Lists the remaining differences of an edited target that were not skipped. */
function stillDiffering(
  { target, observed, collections }: ObservedTarget,
  { edited, pulls, references }: PullEdits,
  source: ReferenceSource,
): Unlike[] {
  const now = edited.get(target.name);
  const pull = pulls.get(target.name);
  if (now === undefined || pull === undefined) throw notEditable();
  const own = references.get(target.name) ?? [];
  const { desired } = comparableState(now, sourceWithDummies(source, own));
  const { changes: ofSettings } = planPulledSettings(desired, fillDummySecrets(observed, own));
  const named = comparableState(now, sourceWithout(source, own)).desired;
  const ofItems = collections.read.flatMap(({ plan }) => plan(named).changes);
  const changes = [...ofSettings, ...ofItems];
  const isKnown = ({ path }: Change): boolean =>
    pull.made.some(([, one]) => samePath(one.path, path));
  const reported = [...pull.left, ...pull.unknown].map(({ path }) => path);
  const whole = new Set(reported.map(formatPathKey));
  const above = new Set(reported.flatMap(prefixes).map(formatPathKey));
  return changes
    .filter(({ path }) => !above.has(formatPathKey(path)))
    .filter(({ path }) => prefixes(path).every((prefix) => !whole.has(formatPathKey(prefix))))
    .map((change) => ({
      name: target.name,
      path: change.path,
      reason: REASONS.unlike,
      change: ofItems.includes(change) && !isKnown(change) ? change : null,
    }));
}

/** A path and those above it. */
function prefixes(path: Path): Path[] {
  return path.map((_, index) => path.slice(0, index + 1));
}

/** Reports whether a target's declarations are unchanged, apart from the blocks that a pull edits if it was pulled. */
export function declaresTheSame(before: Target, now: Target, pulled: boolean): boolean {
  const blocks = BLOCKS.filter((block) => !pulled || !block.pulled);
  return blocks.every(({ name }) => {
    const [was, is] = [before[name], now[name]];
    if (was === undefined || is === undefined) return was === is;
    return sameValue(plainValue(was), plainValue(is));
  });
}

/** The text of every file that a pull may edit, by its path: the settings files, and the bases that they extend. */
export function mapFileTexts(files: readonly LoadedFile[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { path, text, bases } of files) {
    texts.set(path, text);
    for (const base of bases) texts.set(base.path, base.text);
  }
  return texts;
}

function withTexts(files: readonly LoadedFile[], texts: ReadonlyMap<string, string>): LoadedFile[] {
  return files.map((file) => ({
    ...file,
    text: texts.get(file.path) ?? file.text,
    bases: file.bases.map((base) => ({ ...base, text: texts.get(base.path) ?? base.text })),
  }));
}

/** The layers of each of a file's targets, its own first. */
function mapTargetLayers({ path, text, bases, lock }: LoadedFile): (target: string) => Layer[] {
  const parsed = [{ path, text }, ...bases.toReversed()].map((one) => {
    const root = parseFile(one.path, one.text, lock).root ?? undefined;
    return { file: one.path, root, spelled: createPathSpeller(root) };
  });
  const layer = (
    { file, root, spelled }: (typeof parsed)[number],
    prefix: readonly string[],
  ): Layer => ({
    file,
    prefix,
    node: root === undefined ? undefined : findNode(root, prefix),
    spelled,
  });
  const own = parsed.slice(0, 1).filter(({ root }) => member(root, 'environments') !== undefined);
  return (target) => [
    ...own.map((one) => layer(one, ['environments', target])),
    ...parsed.map((one) => layer(one, [])),
  ];
}

/** The path at which an attempt failed, and the reason to skip it in the next one. */
interface Unlike {
  readonly name: string;
  readonly path: Path;
  readonly reason: string;
  /** A difference of an item that the attempt did not know of. */
  readonly change: Change | null;
}

/** The items that the edited files are not valid with. Throws if it is something else that is wrong. */
function itemsRefused(
  errors: readonly Diagnostic[],
  pulls: ReadonlyMap<string, TargetPull>,
): readonly Unlike[] {
  const refused = errors.flatMap(({ path: at }) => {
    const place = inOwnBlock(inBlock(at));
    const [block, item] = place;
    const ofSettings = [...pulls].flatMap(([name, { edits }]) =>
      edits.flatMap(({ path, about }) =>
        about !== undefined && path.every((key, index) => place[index] === formatDiagnosticKey(key))
          ? [{ name, path: about, isNew: false }]
          : [],
      ),
    );
    if (ofSettings.length > 0) return ofSettings;
    const ofBlock = [...pulls].flatMap(([name, { edits }]) =>
      edits
        .filter(({ path }) => path[0] === block && path[0] !== 'settings')
        .map(({ path, beside }) => ({ name, path, isNew: beside === true })),
    );
    const own = ofBlock.filter(({ path: [, name = ''] }) => formatDiagnosticKey(name) === item);
    const some = own.length > 0 ? own : ofBlock;
    // Existing parts fit: new ones go first.
    const added = some.filter(({ isNew }) => isNew);
    return added.length > 0 ? added : some;
  });
  if (refused.length === 0) throw notEditable();
  const unlike = refused.map(({ name, path, isNew }) => ({
    name,
    path: path[0] === 'mcp_config' ? path : path.slice(0, 2),
    isNew,
  }));
  // Several errors of one item are one reason to leave it alone.
  const items = unlike.filter(
    (one, index) =>
      unlike.findIndex(({ name, path }) => name === one.name && samePath(path, one.path)) === index,
  );
  // Of new items that exclude each other the first stays. If it does not fit alone either, the next attempt skips it.
  const refusedItems = items.filter((one) => {
    const clashing = items.filter(({ name, path }) => name === one.name && path[0] === one.path[0]);
    return !one.isNew || clashing.length === 1 || clashing[0] !== one;
  });
  return refusedItems.map(({ name, path, isNew }) => ({
    name,
    path,
    reason: isNew ? REASONS.clashing : REASONS.inexpressible,
    change: null,
  }));
}

function notEditable(): SetpointError {
  return new SetpointError(
    'internal',
    'The file could not be edited to match the service. Nothing was written.',
    { hint: 'Edit it by hand, and please report how it is written.' },
  );
}
