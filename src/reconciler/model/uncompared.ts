import { isLoopbackHost } from './address.ts';
import { COLLECTION_FORMS, isCollectionBlock } from './collection-forms.ts';
import type { OutcomeChange } from './outcome.ts';
import { formatPath, isWithin, type Path } from './path.ts';
import type { EnvironmentPlan, Unknown } from './plan.ts';
import { fieldNamed } from './field.ts';
import { findEntryPath, isOfServers } from './mcp.ts';
import type { DesiredState } from './state.ts';

/**
 * The remedy for values that could not be compared, of one environment or of several: reported once, however many there are. Two names are
 * stored; more are reported without names.
 */
export interface Ways {
  /** Secrets that are stored and not shown, by their paths. */
  readonly stored: readonly string[];
  /** True if the service shows some of them on request. `remembers`: there are others. */
  readonly compares: boolean;
  readonly remembers: boolean;
  /** Values that an apply wants and that are missing here: what `--without` takes for each, and the reference. */
  readonly missing: readonly Missing[];
  /** True for readers whose run has inputs instead of flags: those of the GitHub Action. */
  readonly inputs: boolean;
}

interface Missing {
  readonly path: string;
  readonly ref: string;
}

export const NO_WAYS: Ways = {
  stored: [],
  compares: false,
  remembers: false,
  missing: [],
  inputs: false,
};

/** The members of a plan or an outcome that describe it. */
type ComparisonScope = Pick<EnvironmentPlan, 'dialect' | 'origin' | 'unknown'> &
  Partial<Pick<EnvironmentPlan, 'observed_at' | 'error'>> & {
    readonly changes: readonly Pick<OutcomeChange, 'path'>[];
    /** See `Ways`. In no document that is saved. */
    readonly inputs?: boolean;
  };

/** Returns the ways to compare. The service itself may show what a snapshot hides. A secret that its change writes needs no other way. */
export function listComparisonWays(found: ComparisonScope): Ways {
  const { unknown, observed_at: at = null, inputs = false, error } = found;
  if (unknown.length === 0 || at !== null || error?.code === 'declined') return NO_WAYS;
  const stored = listUncomparedRest(found).filter(({ kind }) => kind === 'stored');
  const isCompared = ({ path: [block = ''] }: Unknown): boolean => {
    const form = COLLECTION_FORMS.find((one) => one.block === block);
    return showsSecrets(found) && (form === undefined || form.isRevealed === true);
  };
  return {
    stored: few(stored.map(({ path }) => formatPath(path))),
    compares: stored.some(isCompared),
    remembers: !stored.every(isCompared),
    missing: fewMissing(
      unknown.flatMap(({ kind, path, ref }) =>
        kind === 'missing' ? [{ path: formatPath(toSkippablePath(path)), ref: ref ?? '' }] : [],
      ),
    ),
    inputs,
  };
}

/** Lists what could not be compared and belongs to no change either. */
export function listUncomparedRest({
  unknown,
  changes,
}: Pick<ComparisonScope, 'unknown' | 'changes'>): readonly Unknown[] {
  return unknown.filter(({ path }) => !changes.some((change) => isWithin(path, change.path)));
}

/** Reports whether a service shows its secrets on request: an Agent Server, over https or on this machine. */
export function showsSecrets({
  dialect,
  origin,
}: Pick<ComparisonScope, 'dialect' | 'origin'>): boolean {
  if (dialect !== 'agent-server') return false;
  const url = origin !== null && URL.canParse(origin) ? new URL(origin) : null;
  return url?.protocol !== 'http:' || isLoopbackHost(url.hostname);
}

export function bothWays(one: Ways, other: Ways): Ways {
  if (other === NO_WAYS) return one;
  return {
    stored: few([...one.stored, ...other.stored]),
    compares: one.compares || other.compares,
    remembers: one.remembers || other.remembers,
    missing: fewMissing([...one.missing, ...other.missing]),
    inputs: one.inputs || other.inputs,
  };
}

/** The ways of all environments of a document. */
export function waysOfAll(environments: readonly ComparisonScope[]): Ways {
  return environments.map(listComparisonWays).reduce(bothWays, NO_WAYS);
}

/** The ways in sentences, each short enough for a line. Empty if nothing needs any. */
export function waysSentences(ways: Ways, wording: 'plan' | 'drift' | 'apply'): string[] {
  return [
    ...(ways.stored.length === 0 ? [] : formatStoredAdvice(ways)),
    ...(ways.missing.length === 0 || wording !== 'plan' ? [] : [missingSentence(ways)]),
  ];
}

function formatStoredAdvice({ stored, compares, remembers, inputs }: Ways): string[] {
  const [path = '', ...others] = stored;
  const isOne = others.length === 0;
  const it = isOne ? 'it' : 'them';
  const flag = inputs ? 'apply with the input rotate:' : 'apply --rotate';
  const rotate = `${flag} ${isOne ? shortPath(path) : 'PATH'} writes ${isOne ? 'it' : 'one'} again`;
  const compared = `server.compare_secrets compares ${it}`;
  const remembered = `SETPOINT_STATE_KEY remembers ${it}`;
  if (!compares) return [`${rotate}; ${remembered}.`];
  if (!remembers) return [`${rotate}; ${compared}.`];
  return [
    `${rotate}; SETPOINT_STATE_KEY remembers what was written.`,
    'On an Agent Server, server.compare_secrets compares those that the server shows.',
  ];
}

function missingSentence({ missing: [first, ...others], inputs }: Ways): string {
  const flag = inputs ? 'the input without:' : '--without';
  if (first === undefined || others.length > 0)
    return `apply needs the values that are missing here; ${flag} PATH leaves one unchanged.`;
  const path = shortPath(first.path);
  const what = path === 'PATH' ? first.ref : `${first.ref} for ${path}`;
  return `apply needs ${what}; ${flag} ${path} leaves it.`;
}

/** A path that would make a line too long is named above it. */
function shortPath(path: string): string {
  return path.length > LONGEST ? 'PATH' : path;
}

const LONGEST = 24;

function few(names: readonly string[]): readonly string[] {
  return [...new Set(names)].slice(0, 2);
}

/** Two of the paths, each with all references that are missing there. */
function fewMissing(missing: readonly Missing[]): readonly Missing[] {
  const refs = new Map<string, ReadonlySet<string>>();
  for (const { path, ref } of missing) {
    const own = ref.match(/\$\{[^}]*\}/g) ?? [ref];
    refs.set(path, new Set([...(refs.get(path) ?? []), ...own]));
  }
  return [...refs].slice(0, 2).map(([path, all]) => ({ path, ref: [...all].join(', ') }));
}

/**
 * The argument of `--without` for a path of a plan: the field itself, or all of the mcp entry or item that it is in, which services store
 * as one.
 */
export function toSkippablePath(path: Path): Path {
  if (isOfServers(path)) return findEntryPath(path);
  return isCollectionBlock(path[0] ?? '') ? path.slice(0, 2) : path;
}

/** Reports whether no service reports a field: a write that omits it may clear it. */
export function isUnreportedSecret([name = '', ...inner]: Path): boolean {
  const field = inner.length === 0 ? fieldNamed(name) : undefined;
  return field?.secret === true && field.setFlag === null;
}

/** Converts the paths that a run skips into unknowns. */
export function toSkippedUnknowns({ left = [] }: Pick<DesiredState, 'left'>): Unknown[] {
  return left
    .filter(({ isOfOnly }) => isOfOnly !== true)
    .map(({ path, ref }) => ({
      path,
      reason: 'left unchanged (--without)',
      ref,
      kind: 'left',
    }));
}

export function isSkippedPath({ left = [] }: Pick<DesiredState, 'left'>, path: Path): boolean {
  return left.some((one) => [one.path, ...(one.calls ?? [])].some((own) => isWithin(path, own)));
}

/** The names in a collection that a run leaves as they are. */
export function listSkippedNames(
  { left = [] }: Pick<DesiredState, 'left'>,
  block: string,
): ReadonlySet<string> {
  return new Set(left.flatMap(({ path, names }) => (path[0] === block ? names : [])));
}

/** The sentence about a run that is limited to parts of the file; null if it is not. */
export function formatOnly({ onlyParts }: Pick<DesiredState, 'onlyParts'>): string | null {
  if (onlyParts === undefined) return null;
  return `This run is limited to ${onlyParts.given.toSorted().join(', ')} (--only). The rest of the file was left out.`;
}
