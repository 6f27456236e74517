import { SetpointError, usageError } from '../model/error.ts';
import { globMatcher } from '../model/matcher.ts';
import { isInShard } from '../model/shard.ts';
import { choicesHint, formatCount, namesListed } from '../model/wording.ts';
import type { LoadedSettings, Target } from '../desired/target.ts';
import { checkShard } from './flag-values.ts';
import { InvalidSettings } from './invalid-settings.ts';
import { loadTargets, type LockOptions } from './load.ts';
import type { ApplyRequest, Options, WritingRequest } from './options.ts';
import type { PlanDocument } from '../model/plan.ts';
import { readLabels } from '../desired/blocks/about.ts';
import { parseSelector, selects, type Requirement } from '../model/selector.ts';

/** The environments that an operation is about, in the order they were named. Throws if the files or the names are not valid. */
export function selectTargets(options: LockOptions): readonly Target[] {
  return selectLoaded(options).targets;
}

/**
 * The environments of a run: those that it works on, those of all shards, which are judged before anything is sent, and all of the
 * files, whose values are masked.
 */
export interface RunTargets {
  readonly targets: readonly Target[];
  readonly judged: readonly Target[];
  readonly declared: readonly Target[];
}

export function selectRun(options: LockOptions): RunTargets {
  const { targets, declared } = selectBeforeShards(options);
  return { targets: inShard(targets, options), judged: targets, declared };
}

/** Selects environments, with the files that they were read from. */
export function selectLoaded(
  options: LockOptions,
): Pick<LoadedSettings, 'files' | 'targets'> & Pick<RunTargets, 'declared'> {
  const { files, targets, declared } = selectBeforeShards(options);
  return { files, targets: inShard(targets, options), declared };
}

function selectBeforeShards(
  options: LockOptions,
): Pick<LoadedSettings, 'files' | 'targets'> & Pick<RunTargets, 'declared'> {
  const { files, targets, diagnostics } = loadTargets(options);
  if (diagnostics.some(({ severity }) => severity === 'error'))
    throw new InvalidSettings(diagnostics);
  const names = new Set<string>();
  const twice = targets.find(({ name }) => names.size === names.add(name).size);
  if (twice !== undefined) {
    throw new SetpointError('usage', `Two environments have the name ${twice.name}.`, {
      hint: 'Give each of the files its own name:.',
    });
  }
  const selected = selectEnvironments(targets, options);
  if (options.server !== undefined && selected.length > 1) {
    throw new SetpointError(
      'usage',
      `--server names one address, and there are ${formatCount(selected.length, 'environment')}.`,
      { hint: 'Choose one with -e.' },
    );
  }
  return { files, targets: selected, declared: targets };
}

/** The environments of a shard, in the same order. */
function inShard(targets: readonly Target[], { shard, onSelected }: Options): readonly Target[] {
  if (shard !== undefined) checkShard('shard', shard);
  const own = shard === undefined ? targets : targets.filter(({ name }) => isInShard(name, shard));
  onSelected?.(own.length, targets.length);
  return own;
}

/**
 * The environments of a command that writes. If there are several, they must be named, or all of them chosen; in each shard alike,
 * whatever it has of them.
 */
export function chooseTargets(
  request: WritingRequest & Pick<ApplyRequest, 'approved'>,
  command: string,
): RunTargets {
  const all = selectBeforeShards(request);
  const { declared } = all;
  const isOpen = all.targets.length > 1 && !isChosen(request) && request.all !== true;
  if (isOpen && request.approved !== undefined) return ofPlan(all, request, request.approved);
  const { targets } = all;
  if (targets.length <= 1 || isChosen(request) || request.all === true)
    return { targets: inShard(targets, request), judged: targets, declared };
  const names = namesListed(targets.map(({ name }) => name));
  const byLabel = targets.some(({ labels }) => labels !== undefined)
    ? ', choose by label with -l'
    : '';
  throw new SetpointError(
    'usage',
    `There are ${formatCount(targets.length, 'environment')}, and ${command} needs to know which.`,
    { hint: `Name them with -e (${names})${byLabel}, or take all with --all.` },
  );
}

/** The environments of a saved plan, if nothing else chooses any. */
function ofPlan(
  { targets: all, declared }: Pick<RunTargets, 'targets' | 'declared'>,
  request: Options,
  { environments }: PlanDocument,
): RunTargets {
  const names = environments.map(({ name }) => name);
  const known = new Map(all.map((target) => [target.name, target]));
  const gone = names.find((name) => !known.has(name));
  if (gone !== undefined) throw noneNamed(gone, [...known.keys()], 'the saved plan');
  const targets = names.flatMap((name) => known.get(name) ?? []);
  return { targets: inShard(targets, request), judged: targets, declared };
}

/** Reports whether environments are named, or selected by their labels. */
export function isChosen({ targets, selector }: Options): boolean {
  return targets !== undefined || selector !== undefined;
}

/** The environments that are named and whose labels fit, or all: see selectTargetsByName and selectTargetsByLabel. */
export function selectEnvironments(
  targets: readonly Target[],
  options: Options,
): readonly Target[] {
  const named = selectTargetsByName(targets, options);
  return options.selector === undefined ? named : selectTargetsByLabel(named, options);
}

/**
 * The environments that are named, or all if none is: in the order of the names, those of a glob in the order of the files, each
 * once. Throws a usage error if a name or a glob names none.
 */
function selectTargetsByName(
  targets: readonly Target[],
  { targets: names, targetsFrom }: Pick<Options, 'targets' | 'targetsFrom'>,
): readonly Target[] {
  if (names === undefined) return targets;
  const byName = new Map(targets.map((target) => [target.name, target]));
  const found = new Set<Target>();
  for (const name of names) {
    const isNamed = globMatcher(name);
    const named = name.includes('*')
      ? targets.filter((target) => isNamed(target.name))
      : [byName.get(name) ?? []].flat();
    if (named.length === 0) throw noneNamed(name, [...byName.keys()], targetsFrom);
    for (const target of named) found.add(target);
  }
  return [...found];
}

function noneNamed(
  name: string,
  names: readonly string[],
  from: string | undefined,
): SetpointError {
  const verb = name.includes('*') ? 'matches' : 'named';
  const which = name.length <= LONGEST_NAME ? `${verb} ${JSON.stringify(name)}` : 'of that name';
  return new SetpointError(
    'usage',
    `No environment ${which}${from === undefined ? '' : ` (from ${from})`}.`,
    { hint: choicesHint(name, names) },
  );
}

/** A longer text cannot be the name of an environment, and is not repeated. */
const LONGEST_NAME = 60;

/** A longer selector is not repeated. */
const LONGEST = 80;

type Labels = ReadonlyMap<string, string>;

/** The environments whose labels fit every selector. Throws a usage error if a selector is not valid, or if none fits. */
export function selectTargetsByLabel(
  targets: readonly Target[],
  {
    selector,
    selectorFrom,
    targets: named,
  }: Pick<Options, 'selector' | 'selectorFrom' | 'targets'>,
): readonly Target[] {
  const texts = [selector ?? []].flat();
  const requirements = texts.flatMap(parseSelector);
  if (requirements.length === 0) return targets;
  const labelled = targets.map((target) => ({ target, labels: readLabels(target.labels) }));
  const fitting = labelled.filter(({ labels }) => selects(requirements, labels));
  if (fitting.length > 0) return fitting.map(({ target }) => target);
  const which = named === undefined ? 'No environment has' : 'None of the environments named has';
  const from = selectorFrom === undefined ? '' : ` (from ${selectorFrom})`;
  const selectors = JSON.stringify(texts.join(','));
  throw noneFits(
    `${which} labels that match ${selectors.length <= LONGEST ? selectors : 'the selector'}${from}`,
    requirements,
    labelled.map(({ labels }) => labels),
  );
}

/** Names the first requirement without any match, and the existing alternatives. */
function noneFits(
  message: string,
  requirements: readonly Requirement[],
  all: readonly Labels[],
): SetpointError {
  const values = valuesByKey(all);
  const keys = [...values.keys()];
  if (keys.length === 0)
    return usageError(`${message}: there are no labels.`, 'Declare some: labels: { ring: "0" }.');
  const unknown = requirements.find(
    ({ operator, key }) => (operator === 'in' || operator === 'exists') && !values.has(key),
  );
  if (unknown !== undefined)
    return usageError(`${message}: none has ${unknown.key}.`, choicesHint(unknown.key, keys));
  const asked = [...new Set(requirements.map(({ key }) => key))].filter((key) => values.has(key));
  const pairs = (asked.length === 0 ? keys : asked).flatMap((key) => listLabelPairs(key, values));
  return usageError(`${message}.`, `Available: ${namesListed(pairs)}.`);
}

function listLabelPairs(key: string, values: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  return [...(values.get(key) ?? [])].toSorted().map((value) => `${key}=${value}`);
}

/** Every pair of a key and a value that an environment has, for completion. */
export function labelPairs(targets: readonly Target[]): string[] {
  const values = valuesByKey(targets.map((target) => readLabels(target.labels)));
  return [...values.keys()].flatMap((key) => listLabelPairs(key, values));
}

function valuesByKey(all: readonly Labels[]): ReadonlyMap<string, ReadonlySet<string>> {
  const values = new Map<string, Set<string>>();
  for (const labels of all) {
    for (const [key, value] of labels) {
      const known = values.get(key);
      if (known === undefined) values.set(key, new Set([value]));
      else known.add(value);
    }
  }
  return values;
}
