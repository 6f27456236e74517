import { resolveSettings } from '../desired/resolve.ts';
import { ACTIVE_FORM } from '../model/collection-forms.ts';
import type { LeftAlone } from '../model/documents.gen.ts';
import { formatPathKey, type Path } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { isSecretText } from '../model/secret-words.ts';
import type { Secret } from '../model/secret.ts';
import type { JsonObject } from '../yaml-edit/source.ts';
import { nameEditVariables, type NewReference, type PlacedEdit } from './place-edits.ts';
import { isRotating, type ReadCollection } from './listed.ts';
import { parseBlocksAlone, REASONS } from './writable.ts';
import { writeListedItem } from './written-item.ts';

/** The declarations, in a first settings file, of items that a service stores by name. */
export interface FirstCollections {
  /** The items of each block, in the order of the file. */
  readonly blocks: ReadonlyMap<string, JsonObject>;
  readonly references: readonly NewReference[];
  /** Items that are not declared, and why. */
  readonly left: readonly LeftAlone[];
}

interface Writing {
  /** Resolved values of references. None of them is written literally. */
  readonly hidden: readonly Secret[];
  /** Variables that have another meaning. */
  readonly taken: ReadonlySet<string>;
  readonly source: ReferenceSource;
}

/**
 * Declares every item that a file can declare so that a plan of it changes nothing: of items that are declared whole, all except defaults;
 * every secret as a reference. Each attempt is read back and planned; refused or changing parts are left out.
 */
export function firstCollections(
  read: readonly ReadCollection[],
  { hidden, taken, source }: Writing,
): FirstCollections {
  const left: LeftAlone[] = [];
  const gone = new Set<string>();
  const leave = (path: Path, reason: string): void => {
    const [block = '', name = '', ...inner] = path;
    if (inner.length === 0) gone.add(formatPathKey([block, name]));
    left.push({ path: isSecretText(name) ? [block] : path, reason, ref: null });
  };
  const placed = read.flatMap(({ form, listing }) =>
    listing.items.flatMap((item): PlacedEdit[] => {
      const path = [form.block, item.name];
      const { foreign } = item;
      const isOfRotation = isRotating(item, listing);
      if (foreign !== undefined) leave(path, `not managed: ${foreign}`);
      else if (isOfRotation) leave(path, REASONS.rotating);
      if (foreign !== undefined || isOfRotation) return [];
      const leaveMember = (name: string) => {
        leave([...path, name], REASONS.inexpressible);
      };
      const isNamed = !isSecretText(item.name);
      const written = isNamed ? writeListedItem(form, listing, item, hidden, leaveMember) : null;
      if (written === null) leave(path, REASONS.sensitive);
      if (written === null) return [];
      const layer = { file: form.block, prefix: [], node: undefined };
      return [{ layer, edit: { path, ...written }, targets: [TARGET] }];
    }),
  );
  const { edits, references } = nameEditVariables(placed, taken, false);
  const own = references.get(TARGET) ?? [];
  const names = new Set(own.map(({ name }) => name));
  const unset: ReferenceSource = {
    ...source,
    variable: (name) => (names.has(name) ? undefined : source.variable(name)),
  };
  for (;;) {
    const blocks = new Map(
      read.flatMap(({ form: { block } }): [string, JsonObject][] => {
        const items = (edits.get(block) ?? []).flatMap(({ path: [, name = ''], value }) =>
          value === undefined || gone.has(formatPathKey([block, name]))
            ? []
            : [[name, value] as const],
        );
        return items.length === 0 ? [] : [[block, Object.fromEntries(items)]];
      }),
    );
    const problems = listItemProblems(blocks, read, unset);
    for (const { path, reason } of problems) leave(path, reason);
    if (problems.length > 0) continue;
    const isDeclared = ([block = '', name = '']: Path): boolean =>
      Object.hasOwn(blocks.get(block) ?? {}, name);
    return {
      blocks,
      references: own.filter(({ path }) => isDeclared(path)),
      left,
    };
  }
}

const TARGET = 'default';

interface Problem {
  readonly path: Path;
  readonly reason: string;
}

/** The items that a file cannot hold so, and those that a plan of it would change. */
function listItemProblems(
  blocks: ReadonlyMap<string, JsonObject>,
  read: readonly ReadCollection[],
  source: ReferenceSource,
): readonly Problem[] {
  const problems: Problem[] = [];
  const add = (block: string, name: string, reason: string): void => {
    const isDeclared = Object.hasOwn(blocks.get(block) ?? {}, name);
    const isKnown = problems.some(({ path }) => path[0] === block && path[1] === name);
    if (isDeclared && !isKnown) problems.push({ path: [block, name], reason });
  };
  for (const kind of listUndeclaredActive(blocks)) add(ACTIVE_FORM.block, kind, NOT_DECLARED);
  for (const [block, items] of blocks)
    for (const [name, value] of Object.entries(items))
      if (parseBlocksAlone({ [block]: { [name]: value } }).errors.length > 0)
        add(block, name, REASONS.inexpressible);
  if (problems.length > 0) return problems;
  const { errors, target } = parseBlocksAlone(Object.fromEntries(blocks));
  const [block = '', name = ''] = errors.at(-1)?.path ?? [];
  add(block, name, REASONS.clashing);
  if (target === undefined || errors.length > 0) return problems;
  const desired = resolveSettings(target, source);
  for (const { form, listing, plan } of read)
    for (const { path, code } of plan(desired).changes) {
      const isOutdated = listing.items.some(
        ({ outdated }) => outdated !== undefined && outdated.code === code,
      );
      add(form.block, path[1] ?? '', isOutdated ? REASONS.outdated : REASONS.unlike);
    }
  return problems;
}

const NOT_DECLARED = 'the profile that is active is not declared';

/** Lists what is active although the file does not declare it. */
function listUndeclaredActive(blocks: ReadonlyMap<string, JsonObject>): string[] {
  return Object.entries(blocks.get(ACTIVE_FORM.block) ?? {}).flatMap(([kind, name]) =>
    typeof name === 'string' && Object.hasOwn(blocks.get(`${kind}s`) ?? {}, name) ? [] : [kind],
  );
}
