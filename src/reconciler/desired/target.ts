import type { Diagnostic } from '../model/diagnostic.ts';
import { BLOCKS, eachBlock, type Blocks, findDoubleSpellings, withOwnBlocks } from './blocks.ts';
import type { FilePath } from './blocks/block.ts';
import { clashingNames } from './blocks/collections.ts';
import { findHalfIdentity, keysThatDoNotFollow, missingServer } from './blocks/server.ts';
import { checkFile } from './check-file.ts';
import { changesCrossings, crossFindings } from './cross-check.ts';
import { nodesOfData } from './data-nodes.ts';
import { findDoubleFields } from './native.ts';
import {
  listMembers,
  member,
  overlay,
  sourceFile,
  readNodeText,
  type MapNode,
  type Member,
  type Node,
  type PlacedFinding,
} from './node.ts';
import type { Limits } from '../model/limits.ts';
import type { SecretRequest } from '../model/ports.ts';
import type { SchemaLock } from '../model/native-schema.ts';
import type { Value } from '../model/value.ts';
import { parseFile, type ParsedFile } from './parse.ts';
import { mayHoldReference, mayReadSecrets } from './references.ts';
import { diagnostic, createDiagnostic } from './place-diagnostic.ts';

/** A settings file as it was read, with the bases it extends. Paths are as the person named them. */
export interface LoadedFile {
  readonly path: string;
  readonly text: string;
  /** Each is merged over those before it, and the file over all of them. */
  readonly bases: readonly { readonly path: string; readonly text: string }[];
  /** The lock next to the file, also for its bases; absent if it does not exist, or nothing could need it. */
  readonly lock?: SchemaLock;
  /** What `textOfData` made the text of; absent for a text of other origin. */
  readonly data?: Value;
}

/** Settings files as they were read, and the targets in them; none if a diagnostic is an error. */
export interface LoadedSettings {
  readonly files: readonly LoadedFile[];
  readonly targets: readonly Target[];
  readonly diagnostics: readonly Diagnostic[];
}

/** One service to keep: a file, or one environment of it, with its blocks merged. References are as they are written. */
export interface Target extends Blocks {
  readonly name: string;
  /** The settings file that names it. Relative paths are relative to its folder. */
  readonly file: string;
  /** True if that file, or one of its bases, may refer to outputs of secret commands. */
  readonly mayReadSecrets: boolean;
  /** That file with its text at the time of reading, and the bases it extends: they show which block a value comes from. */
  readonly root: MapNode;
  readonly bases: readonly MapNode[];
  /** The blocks above the environments, those of the bases among them. A value that an environment does not change is the same node. */
  readonly shared: Blocks;
  /** The limits on it from outside of its file; absent if there are none. */
  readonly limits?: Limits;
  /** The values that an object of a cluster requests, by the texts that stand for them; absent for a target of a file. */
  readonly requests?: SecretRequests;
}

export type SecretRequests = ReadonlyMap<string, SecretRequest>;

/** A target whose parts are read at each access and not stored, except those of `ahead`. */
export function laterTarget(known: TargetHeader, read: () => Target, ahead?: KnownAhead): Target {
  const later =
    ahead === undefined ? new LaterTarget(known, read) : new AheadTarget(known, read, ahead);
  return later as unknown as Target;
}

/** The members of a target that are known without its parts. */
type TargetHeader = Pick<Target, 'name' | 'file' | 'mayReadSecrets'>;

/** Parts that all targets of a controller are asked for again and again. */
type KnownAhead = { readonly [Part in 'labels' | 'limits' | 'watch']: Target[Part] | undefined };

class LaterTarget implements TargetHeader {
  readonly name: string;
  readonly file: string;
  readonly mayReadSecrets: boolean;
  readonly read: () => Target;

  constructor({ name, file, mayReadSecrets }: TargetHeader, read: () => Target) {
    this.name = name;
    this.file = file;
    this.mayReadSecrets = mayReadSecrets;
    this.read = read;
  }
}

for (const part of [
  'root',
  'bases',
  'shared',
  'requests',
  ...BLOCKS.map(({ name }) => name),
] as const) {
  Object.defineProperty(LaterTarget.prototype, part, {
    get(this: LaterTarget) {
      return this.read()[part];
    },
  });
}

/** Its own members come before those that are read. A class apart: a run keeps tens of thousands of the other. */
class AheadTarget extends LaterTarget implements KnownAhead {
  readonly labels: Target['labels'];
  readonly limits: Target['limits'] | undefined;
  readonly watch: Target['watch'];

  constructor(known: TargetHeader, read: () => Target, { labels, limits, watch }: KnownAhead) {
    super(known, read);
    this.labels = labels;
    this.limits = limits;
    this.watch = watch;
  }
}

export interface ReadOptions {
  /** With `--server` the file need not name a server. */
  readonly serverGiven: boolean;
  /** Called now and then while a long file is read. */
  readonly between?: () => void;
  /** True if several files are given: then a file without a name goes by its file name. */
  readonly several: boolean;
}

/** The targets of a file, and every problem in it, from top to bottom. If one of them is an error, the targets are not usable. */
export function readTargets(
  loaded: LoadedFile,
  options: ReadOptions,
): {
  readonly targets: readonly Target[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const top = checkParsedFile(parseLoaded(loaded, options.between));
  const bases = loaded.bases.map(({ path, text }) =>
    checkParsedFile(parseFile(path, text, loaded.lock)),
  );
  const ofBases = bases.flatMap(({ root, diagnostics }) =>
    sortDiagnostics([
      ...diagnostics,
      ...(root === null
        ? []
        : [...notAllowedInBase(root), ...findDoubleSpellings(root)].map(createDiagnostic)),
    ]),
  );
  const roots = bases.flatMap(({ root }) => root ?? []);
  if (top.root === null || roots.length < bases.length)
    return { targets: [], diagnostics: [...sortDiagnostics(top.diagnostics), ...ofBases] };
  const { targets, findings } = createTargets(loaded, top.root, roots, options);
  const twice = findDoubleSpellings(top.root);
  const ofTop = sortDiagnostics([
    ...top.diagnostics,
    ...[...findings, ...twice].map(createDiagnostic),
  ]);
  return { targets, diagnostics: [...ofTop, ...ofBases] };
}

function parseLoaded(
  { path, text, lock, data }: LoadedFile,
  between: (() => void) | undefined,
): ParsedFile {
  const file = data === undefined ? null : sourceFile(path, text, lock);
  const root = file === null ? null : nodesOfData(file, data ?? null);
  return file === null || root === null
    ? parseFile(path, text, lock, between)
    : { file, root, diagnostics: [] };
}

function checkParsedFile({ root, diagnostics }: ParsedFile): {
  readonly root: MapNode | null;
  readonly diagnostics: readonly Diagnostic[];
} {
  if (root?.kind !== 'map') return { root: null, diagnostics };
  return { root, diagnostics: [...diagnostics, ...checkFile(root)] };
}

function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.toSorted((a, b) => a.line - b.line || a.column - b.column);
}

function createTargets(
  { path, text, bases: extended }: LoadedFile,
  root: MapNode,
  bases: readonly MapNode[],
  options: ReadOptions,
): { readonly targets: readonly Target[]; readonly findings: readonly PlacedFinding[] } {
  const { blocks, clashes } = layBlocks([...bases, root]);
  const known = {
    file: path,
    mayReadSecrets: [text, ...extended.map((one) => one.text)].some(mayReadSecrets),
  };
  const common = { ...known, root, bases, shared: blocks };
  const environments = member(root, 'environments');
  if (environments === undefined) {
    return {
      targets: [{ name: targetName(path, root, options), ...common, ...blocks }],
      findings: [
        ...clashes,
        ...findDoubleFields(blocks.settings),
        ...crossFindings(blocks),
        ...findHalfIdentity(blocks.server, null),
        ...(options.serverGiven ? [] : missingServer(root, blocks.server, null)),
      ],
    };
  }
  const all = listMembers(environments);
  const targetOf = ({ key, node }: Member): Target => {
    const own = readBlocks(node);
    const merged = eachBlock(({ name, overlay: lay = overlay }) => lay(blocks[name], own[name]));
    return { name: key, ...common, ...merged };
  };
  const readOne = ofTheLast(targetOf);
  const later = (one: Member) => laterTarget({ name: one.key, ...known }, () => readOne(one));
  const given = { root, blocks, options };
  return {
    targets: all.map(all.length > MANY ? later : targetOf),
    findings: [...clashes, ...findInEnvironments(all, targetOf, given)],
  };
}

/** The blocks of some files, each over those before it, and the names that clash. */
function layBlocks(holders: readonly MapNode[]): {
  readonly blocks: Blocks;
  readonly clashes: readonly PlacedFinding[];
} {
  const clashes: PlacedFinding[] = [];
  const blocks = holders.reduce<Blocks | undefined>((below, holder) => {
    const own = readBlocks(holder);
    if (below === undefined) return own;
    clashes.push(...findClashes(holder, [], below.secrets));
    return eachBlock(({ name }) => overlay(below[name], own[name]));
  }, undefined);
  return { blocks: blocks ?? eachBlock(() => undefined), clashes };
}

function findClashes(holder: Node, path: FilePath, above: Node | undefined): PlacedFinding[] {
  return holder.kind === 'map' && above !== undefined ? clashingNames({ holder, path }, above) : [];
}

/** Findings of environments, in addition to those of the blocks above them. */
function findInEnvironments(
  all: readonly Member[],
  targetOf: (environment: Member) => Target,
  { root, blocks, options }: { root: MapNode; blocks: Blocks; options: ReadOptions },
): readonly PlacedFinding[] {
  const crossed: PlacedFinding[] = [];
  const findings: PlacedFinding[] = [];
  let isFirstAlike = true;
  for (const [index, { key, keyFile, keyAt, node }] of all.entries()) {
    const environment = { key, keyFile, keyAt, node };
    // Those that change nothing of it are alike: the first represents them.
    const differs = changesCrossings(readBlocks(node), blocks);
    if (differs || isFirstAlike) crossed.push(...crossFindings(targetOf(environment)));
    isFirstAlike &&= differs;
    const [server, settings] = [member(node, 'server'), member(node, 'settings')];
    if (settings !== undefined || index === 0)
      findings.push(...findDoubleFields(overlay(blocks.settings, settings)));
    findings.push(
      ...findClashes(node, ['environments', key], blocks.secrets),
      ...keysThatDoNotFollow(environment, blocks.server, server),
      ...(server === undefined && index > 0
        ? []
        : findHalfIdentity(overlay(blocks.server, server), environment)),
      ...(options.serverGiven
        ? []
        : missingServer(root, overlay(blocks.server, server), environment)),
    );
  }
  return [...mergeSharedFindings(crossed), ...findings];
}

/** Findings of several environments, one for each place: what they share is found in each. */
function mergeSharedFindings(findings: readonly PlacedFinding[]): PlacedFinding[] {
  const placeOf = ({ file, at, finding }: PlacedFinding) => `${file.path} ${at} ${finding.code}`;
  return [...new Map(findings.map((one) => [placeOf(one), one])).values()];
}

/** Environments from which on their blocks are merged when they are looked at: a run looks at one after the other. */
const MANY = 256;

/** A function that keeps its last result. */
function ofTheLast<T, R>(make: (one: T) => R): (one: T) => R {
  let last: { readonly one: T; readonly made: R } | null = null;
  return (one) => {
    if (last?.one !== one) last = { one, made: make(one) };
    return last.made;
  };
}

function readBlocks(node: Node): Blocks {
  return withOwnBlocks(eachBlock(({ name }) => member(node, name)));
}

function targetName(path: string, root: MapNode, options: ReadOptions): string {
  const named = readNodeText(member(root, 'name'));
  if (named !== undefined || !options.several) return named ?? 'default';
  const [file = '', folder = ''] = path.split(/[\\/]/).toReversed();
  const stem = file.replace(/(?:\.setpoint)?\.ya?ml$/, '');
  // Of files that are called alike, the folder says which is which.
  const isAlike = stem === 'settings' || stem === 'setpoint';
  return (isAlike && /^[A-Za-z\d][\w.-]*$/.test(folder) ? folder : stem) || 'default';
}

function notAllowedInBase(root: MapNode): PlacedFinding[] {
  return ['server', 'environments', 'extends', 'name'].flatMap((key) => {
    const found = root.members.get(key);
    if (found === undefined) return [];
    const finding = {
      code: 'unknown-key',
      message: `A base file cannot have ${key}.`,
      hint:
        key === 'extends'
          ? 'Remove it: a base cannot extend another file.'
          : 'Move it into the file that extends this one.',
      path: [key],
    } as const;
    return [{ file: found.keyFile, at: found.keyAt, finding }];
  });
}

/** A base that a file extends, found without checking the rest of the file. */
export interface BaseReference {
  /** As the file writes it. */
  readonly path: string;
  /** A diagnostic at the place where it is written. */
  diagnose(message: string, hint: string): Diagnostic;
}

export function parseBaseReferences(path: string, text: string): readonly BaseReference[] {
  // An escape in a double-quoted key may spell it as well.
  if (!text.includes('extends') && !/\\[xuU]/.test(text)) return [];
  const node = member(parseFile(path, text).root ?? undefined, 'extends');
  return (node?.kind === 'list' ? node.items : [node]).flatMap((one, index) => {
    const base = readNodeText(one) ?? '';
    if (one === undefined || base === '' || base.includes('\0') || mayHoldReference(base))
      return [];
    const at = node?.kind === 'list' ? ['extends', String(index)] : ['extends'];
    const diagnose = (message: string, hint: string): Diagnostic =>
      diagnostic(one.file, one.at, { code: 'unreadable', message, hint, path: at });
    return [{ path: base, diagnose }];
  });
}
