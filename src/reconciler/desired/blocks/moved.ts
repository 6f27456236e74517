import { COLLECTION_FORMS } from '../../model/collection-forms.ts';
import type { CollectionForm, DesiredItem } from '../../model/collection.ts';
import { formatPath, parsePath, samePath, type Path } from '../../model/path.ts';
import type { DesiredState } from '../../model/state.ts';
import { choicesHint } from '../../model/wording.ts';
import {
  locate,
  member,
  readNodeText,
  type Finding,
  type Node,
  type PlacedFinding,
} from '../node.ts';
import { createFindingForNode, isPlainPath, type Block, type FilePath } from './block.ts';

/** Items that have another name than before. */
export const moved: Block<'moved'> = {
  name: 'moved',
  pulled: false,
  isQuotable: isPlainPath,
  check: (holder, path) => readMoves(member(holder, 'moved')).flatMap(createMoveChecker(path)),
};

/** An entry in its written form. */
export interface Move {
  readonly index: number;
  readonly from: End;
  readonly to: End;
  /** The first entry that names each item, by its path. */
  readonly others: ReadonlyMap<string, number>;
}

/** One of its two ends. The path is null if the text is not a path. */
interface End {
  readonly key: 'from' | 'to';
  readonly node: Node;
  readonly path: Path | null;
}

/** The entries of `moved`. */
function readMoves(list: Node | undefined): readonly Move[] {
  const moves: Move[] = [];
  const others = new Map<string, number>();
  for (const [index, item] of list?.kind === 'list' ? list.items.entries() : []) {
    const [from, to] = [readMoveEnd(item, 'from'), readMoveEnd(item, 'to')];
    if (from === null || to === null) continue;
    moves.push({ index, from, to, others });
    for (const { path } of [from, to])
      if (path !== null && !others.has(formatPath(path))) others.set(formatPath(path), index);
  }
  return moves;
}

/** The entries by the names that items had. */
export function movesByFormer(list: Node | undefined): ReadonlyMap<string, Move> {
  return byEnd(readMoves(list), 'from');
}

/** Entries by the path of an end, the first one of each. */
function byEnd(moves: readonly Move[], end: End['key']): ReadonlyMap<string, Move> {
  return new Map(moves.toReversed().map((move) => [formatPath(move[end].path ?? []), move]));
}

function readMoveEnd(item: Node, key: End['key']): End | null {
  const node = member(item, key);
  const text = readNodeText(node);
  return node === undefined || text === undefined ? null : { key, node, path: parsePath(text) };
}

type FindingText = Omit<Finding, 'path'>;

function createMoveChecker(holder: FilePath): (move: Move) => PlacedFinding[] {
  return (move) => {
    const found = [move.from, move.to].flatMap((end) => {
      const text = checkMoveEnd(end);
      return text === null ? [] : [{ end, text }];
    });
    // Two names of one block that nothing renames are one problem.
    const [first, second] = found;
    const own = first?.text.message === second?.text.message ? found.slice(0, 1) : found;
    const together = found.length > 0 ? null : apart(move);
    const all = together === null ? own : [{ end: move.to, text: together }];
    return all.map(({ end, text }) => createMoveFinding(holder, move, end, text));
  };
}

function createMoveFinding(
  holder: FilePath,
  { index }: Move,
  end: End,
  text: FindingText,
): PlacedFinding {
  return createFindingForNode(end.node, {
    ...text,
    path: [...holder, 'moved', String(index), end.key],
  });
}

function checkMoveEnd({ path }: End): FindingText | null {
  if (path?.length !== 2) return { code: 'unknown-key', ...NO_ADDRESS };
  const [block = ''] = path;
  const form = COLLECTION_FORMS.find((one) => one.block === block);
  if (form === undefined)
    return {
      code: 'unknown-key',
      message: 'This is not in a block that declares items by name.',
      hint: choicesHint(block, RENAMED),
    };
  if (form.isRenamed === true) return null;
  return { code: 'bad-value', message: `No server renames ${form.noun}.`, hint: INSTEAD };
}

const RENAMED = COLLECTION_FORMS.filter((form: CollectionForm) => form.isRenamed === true).map(
  ({ block }) => block,
);

const NO_ADDRESS = {
  message: 'This is not the name of an item in a block.',
  hint: 'Write llm_profiles.main, and llm_profiles["gpt-5.1"] for a name with other characters than letters, digits, _ and -.',
};

/** The hint where nothing is renamed. */
export const INSTEAD =
  'Remove this entry from moved. Declare the former name as null to remove it, and declare every secret of the item under its new name.';

function apart({ from, to, others, index }: Move): FindingText | null {
  const [one, other] = [from.path ?? [], to.path ?? []];
  if (one[0] !== other[0])
    return {
      code: 'bad-value',
      message: 'from and to are in two different blocks.',
      hint: 'An item keeps its block: write the same one twice.',
    };
  if (samePath(one, other))
    return {
      code: 'bad-value',
      message: 'from and to are the same name.',
      hint: 'Remove this entry.',
    };
  const isAgain = [one, other].some((path) => (others.get(formatPath(path)) ?? index) < index);
  if (!isAgain) return null;
  return {
    code: 'bad-value',
    message: 'An entry above this one names the same item.',
    hint: 'Name each item once: write one entry from the name that it had to the name that it has.',
  };
}

/** Finds entries of `moved` that contradict the declarations of a target. */
export function moveFindings(
  blocks: Readonly<Record<string, Node | undefined>>,
): readonly PlacedFinding[] {
  return readMoves(blocks['moved']).flatMap((move) => {
    const { from, to } = move;
    if (checkMoveEnd(from) !== null || checkMoveEnd(to) !== null || apart(move) !== null) return [];
    const [former, own] = [findMovedNode(blocks, from), findMovedNode(blocks, to)];
    return [
      ...(former === undefined ? [] : [createMoveFinding([], move, from, STILL_DECLARED)]),
      ...(own === undefined ? [createMoveFinding([], move, to, NOT_DECLARED)] : []),
      ...(own?.kind === 'scalar' && own.value === null
        ? [createMoveFinding([], move, to, REMOVED)]
        : []),
    ];
  });
}

const STILL_DECLARED: FindingText = {
  code: 'bad-value',
  message: 'The file still declares the item under this name.',
  hint: 'Remove it there, or remove this entry.',
};
const NOT_DECLARED: FindingText = {
  code: 'bad-value',
  message: 'The file declares no item of this name.',
  hint: 'Declare the item under its new name, or remove this entry.',
};
const REMOVED: FindingText = {
  code: 'bad-value',
  message: 'The file removes the item of this name.',
  hint: 'Remove this entry, and declare the former name as null to remove that item.',
};

function findMovedNode(
  blocks: Readonly<Record<string, Node | undefined>>,
  { path }: End,
): Node | undefined {
  const [block = '', name = ''] = path ?? [];
  return member(blocks[block], name);
}

/** Returns the declared items with their former names. */
export function withFormerNames(
  items: DesiredState['items'],
  list: Node | undefined,
): DesiredState['items'] {
  const moves = readMoves(list);
  if (moves.length === 0) return items;
  const byName = byEnd(moves, 'to');
  const formerOf = (block: string, name: string): DesiredItem['former'] => {
    const move = byName.get(formatPath([block, name]));
    const former = move?.from.path?.[1];
    if (move === undefined || former === undefined) return undefined;
    const { file, at } = move.from.node;
    return { name: former, source: locate(file, at) };
  };
  const named = new Set(moves.map(({ to }) => to.path?.[0]));
  return new Map(
    [...items].map(([block, all]) => {
      if (!named.has(block)) return [block, all];
      const own = (all as readonly DesiredItem[]).map((item): DesiredItem => {
        const former = formerOf(block, item.name);
        return former === undefined ? item : { ...item, former };
      });
      return [block, own];
    }),
  );
}
