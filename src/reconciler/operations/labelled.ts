import { labelsOf } from '../desired/blocks/about.ts';
import type { Target } from '../desired/target.ts';
import { usageError, type SetpointError } from '../model/error.ts';
import { parseSelector, selects, type Requirement } from '../model/selector.ts';
import { choicesHint, namesListed } from '../model/wording.ts';
import type { Options } from './options.ts';

/** A longer selector is not repeated. */
const LONGEST = 80;

type Labels = ReadonlyMap<string, string>;

/** The environments whose labels fit every selector. Throws a usage error if a selector is not valid, or if none fits. */
export function labelledTargets(
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
  const labelled = targets.map((target) => ({ target, labels: labelsOf(target.labels) }));
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

/** Names the first requirement that none fits by itself, and what there is instead. */
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
  const pairs = (asked.length === 0 ? keys : asked).flatMap((key) => pairsOf(key, values));
  return usageError(`${message}.`, `Available: ${namesListed(pairs)}.`);
}

function pairsOf(key: string, values: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  return [...(values.get(key) ?? [])].toSorted().map((value) => `${key}=${value}`);
}

/** Every pair of a key and a value that an environment has, for completion. */
export function labelPairs(targets: readonly Target[]): string[] {
  const values = valuesByKey(targets.map((target) => labelsOf(target.labels)));
  return [...values.keys()].flatMap((key) => pairsOf(key, values));
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
