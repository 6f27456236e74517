import {
  type Wording,
  resultLabel,
  toShownChange,
  type Label,
  type ShownChange,
  type Voice,
} from './change.ts';
import type { Refusal } from '../model/guard.ts';
import type { EnvironmentOutcome, OutcomeDocument, Remainder } from '../model/outcome.ts';
import { organizationText } from '../model/organization.ts';
import { type Path, formatPath, isWithin } from '../model/path.ts';
import type { EnvironmentPlan, PlanDocument, Unknown, Attention } from '../model/plan.ts';
import { isOfWriting, type ErrorReport, type Warning, type WarningCode } from '../model/error.ts';
import { isCollectionBlock } from '../model/collection-forms.ts';
import type { Proof } from '../model/proof.ts';
import type { ServiceDialect } from '../model/state.ts';
import { outcomeAttention, planAttention } from '../model/summary.ts';
import {
  driftCaveat,
  outcomeHeadline,
  outcomeSentence,
  planHeadline,
  planSentence,
  formatObservationAge,
  type Sentence,
} from './wording.ts';
import { WATCH_STATUSES, type Verdict, type WatchStatus } from '../model/verdict.ts';
import { listUncomparedRest, listComparisonWays, type Ways } from '../model/uncompared.ts';
import { namesListed } from '../model/wording.ts';

/**
 * The content of a section about one environment, and its words: the same in every format. A printer for each format lays it out and
 * escapes its texts; none of them is escaped before that.
 */
export interface Section extends ServiceDialect {
  readonly command: Wording;
  readonly name: string;
  readonly origin: string | null;
  /** Which organisation a write reaches, by whose key and role; null if none is known. */
  readonly organization: string | null;
  /** `as observed 2 h ago (TIME)`, if a snapshot took the place of the service; else null. */
  readonly seen: string | null;
  /** The environment in a few words, as a summary has it. */
  readonly attention: Attention;
  readonly verdict: Label;
  /** Follows the name in a title. */
  readonly headline: string;
  readonly sentence: Sentence;
  /** States that drift may include edits of the file; empty if not. */
  readonly caveat: string;
  readonly error: ErrorReport | null;
  readonly refusals: readonly Refusal[];
  readonly remaining: readonly Remainder[];
  /** Grouped, the gravest first. */
  readonly warnings: readonly Warning[];
  readonly changes: readonly ShownChange[];
  readonly unknown: readonly Unknown[];
  /** The ways to compare them. */
  readonly ways: Ways;
  /** The service's trials; null if they were not requested, or were shown before. */
  readonly proofs: readonly Proof[] | null;
  readonly unmanaged: readonly Path[];
  /** The reason that more exist; null if none do. */
  readonly unlisted: string | null;
  /** The requests of an apply, and the guards it lifted; null if nothing was applied. */
  readonly requests: Pick<EnvironmentOutcome, 'requests' | 'allowed'> | null;
}

export function planSections(document: PlanDocument, voice: Voice): Section[] {
  return document.environments.map((environment) => planSection(environment, voice, document));
}

/** If the plan is strict, the sentence reports that values that could not be compared count. */
export function planSection(
  environment: EnvironmentPlan,
  voice: Voice,
  { created_at: plannedAt, strict }: Pick<PlanDocument, 'created_at' | 'strict'>,
): Section {
  const { name, origin, unknown, refusals, unmanaged, error } = environment;
  const attention = planAttention(environment, strict);
  return {
    command: voice,
    name,
    origin,
    dialect: environment.dialect,
    release: environment.release,
    organization:
      environment.organization === undefined
        ? null
        : `Organisation: ${organizationText(environment.organization)}.`,
    seen: formatObservationAge(environment.observed_at, plannedAt),
    attention,
    verdict: verdictLabel(attention.verdict, voice, error),
    headline: planHeadline(environment, voice),
    sentence: planSentence(environment, voice, strict === true),
    caveat: voice === 'drift' ? driftCaveat(environment.changes) : '',
    error,
    refusals,
    remaining: [],
    warnings: groupWarnings(environment.warnings),
    changes: environment.changes.map((change) => toShownChange(change, voice)),
    unknown,
    ways: listComparisonWays(environment),
    proofs: environment.proofs ?? null,
    unmanaged,
    unlisted: unmanaged.length > 0 && environment.dialect === 'agent-server' ? UNLISTED : null,
    requests: null,
  };
}

/** A path that the file does not manage, or a block of items with several of them. */
export interface UnmanagedGroup {
  readonly path: Path;
  readonly count: number;
}

/** Groups the paths that the file does not manage: several items of a block are one group. */
export function groupUnmanaged(paths: readonly Path[]): readonly UnmanagedGroup[] {
  const groups = new Map<string | Path, UnmanagedGroup>();
  for (const path of paths) {
    const [block = ''] = path;
    const key = isCollectionBlock(block) ? block : path;
    const earlier = groups.get(key);
    const count = (earlier?.count ?? 0) + 1;
    groups.set(key, earlier === undefined ? { path, count } : { path: [block], count });
  }
  return [...groups.values()];
}

/** The number of items in a group, after its name; empty for a single path. */
export function formatGroupCount({ count }: UnmanagedGroup): string {
  return count === 1 ? '' : ` (${count})`;
}

const UNLISTED =
  'Skills, plugins, canvas extensions and agent profiles that the file does not name are not listed here: an Agent Server writes when it lists them all.';

export function outcomeSections({ environments }: OutcomeDocument): Section[] {
  return environments.map(outcomeSection);
}

/** The plan was shown before, so only the warnings that came up since are. A single refusal is the error itself. */
export function outcomeSection(environment: EnvironmentOutcome): Section {
  const { name, origin, status, changes, remaining, unknown, refusals, error } = environment;
  const attention = outcomeAttention(environment);
  return {
    command: 'apply',
    name,
    origin,
    dialect: environment.dialect,
    release: environment.release,
    organization: null,
    seen: null,
    attention,
    verdict: verdictLabel(attention.verdict, 'apply', error),
    headline: outcomeHeadline(environment),
    sentence: outcomeSentence(environment),
    caveat: '',
    error,
    refusals: refusals.length > 1 ? refusals : [],
    remaining,
    warnings: groupWarnings(newWarnings(environment)),
    changes: changes.map((change) => {
      const hides = unknown.some(({ path }) => isWithin(path, change.path));
      return toShownChange(change, 'plan', resultLabel(change, status, hides));
    }),
    unknown: listUncomparedRest(environment),
    ways: listComparisonWays(environment),
    proofs: listOverriddenProofs(environment),
    unmanaged: [],
    unlisted: null,
    requests: environment,
  };
}

/** Returns the failed trials that were written nevertheless; null if there are none. The plan has shown the others. */
export function listOverriddenProofs({
  allowed,
  proofs = [],
}: EnvironmentOutcome): readonly Proof[] | null {
  const failed = proofs.filter(({ status }) => status === 'fails');
  return allowed.includes('unproven') && failed.length > 0 ? failed : null;
}

/** The error, unless the refusals that are listed are the error. */
export function findUnlistedError({
  error,
  refusals,
}: Pick<Section, 'error' | 'refusals'>): ErrorReport | null {
  return error?.code === 'guard-refused' && refusals.length > 0 ? null : error;
}

function newWarnings({ changes, warnings }: EnvironmentOutcome): readonly Warning[] {
  return changes.length === 0 ? warnings : warnings.filter(isOfWriting);
}

/** The displayed verdict of an environment. `error` distinguishes a failure from a deliberate end. */
export function verdictLabel(
  verdict: Verdict,
  wording: Wording,
  error: Pick<ErrorReport, 'code'> | null,
): Label {
  const label = { ...LABELS, ...OTHERWISE[wording] }[verdict];
  if (verdict !== 'error' && verdict !== 'failed') return label;
  return { ...label, words: failureWords(error?.code) };
}

/** The labels of trial results. Mark and colour mean the same. */
export const PROOF_LABELS: Readonly<Record<Proof['status'], Label>> = {
  works: { mark: '✓', words: 'works', color: 'green' },
  fails: { mark: '✗', words: 'does not work', color: 'red' },
  'not-checked': { mark: '·', words: 'not checked', color: 'yellow' },
};

/** The word for a failure, or for what was ended on purpose. */
function failureWords(code = ''): string {
  return Object.hasOwn(ENDED, code) ? (ENDED[code] ?? '') : LABELS.failed.words;
}

const DIFFERS: Label = {
  mark: '~',
  words: 'differs',
  counted: ['differs', 'differ'],
  color: 'yellow',
};
const DRIFT: Label = { mark: '~', words: 'drift', color: 'yellow' };
const FAILED: Label = { mark: '✗', words: 'failed', color: 'red' };

/** Each state in words, with a mark and a colour that mean the same. */
export const LABELS = {
  'in-sync': { mark: '✓', words: 'in sync', color: 'green' },
  'not-empty': { mark: '✓', words: 'stored already', color: 'green' },
  applied: { mark: '✓', words: 'applied', color: 'green' },
  suspended: { mark: '‖', words: 'suspended', color: 'dim' },
  'not-read': { mark: '·', words: 'not read yet', color: 'dim' },
  'not-started': { mark: '·', words: 'not started', color: 'yellow' },
  unknown: { mark: '?', words: 'could not be compared', color: 'cyan' },
  pending: {
    mark: '~',
    words: 'pending edits',
    counted: ['pending', 'pending'],
    color: 'cyan',
  },
  differs: DIFFERS,
  drift: DRIFT,
  conflict: { mark: '✗', words: 'conflict', color: 'red' },
  refused: { mark: '✗', words: 'refused', color: 'red' },
  error: FAILED,
  failed: FAILED,
  'not-converged': { mark: '✗', words: 'not converged', color: 'red' },
  partial: { mark: '~', words: 'applied in part', color: 'yellow' },
} as const satisfies Readonly<Record<Verdict, Label>>;

/** The word for each state of a watched environment, which every surface shows: log, status, history, page, notices and alerts. */
export const STATE_WORDS = Object.fromEntries(
  WATCH_STATUSES.map((status) => [status, LABELS[status].words]),
) as Readonly<Record<WatchStatus, string>>;

/** A drift that an apply would refuse to undo is drift, like any other. */
const OTHERWISE: Readonly<Record<Wording, Readonly<Partial<Record<Verdict, Label>>>>> = {
  plan: {
    pending: DIFFERS,
    refused: {
      mark: '✗',
      words: 'apply would be refused',
      counted: ['would be refused', 'would be refused'],
      color: 'red',
    },
  },
  drift: { differs: DRIFT, refused: DRIFT },
  apply: {},
};

/** The labels of intended ends. Every other failure is one state, and its error names the cause. */
const ENDED: Readonly<Record<string, string>> = {
  declined: 'cancelled',
  interrupted: 'stopped',
  terminated: 'stopped',
};

/**
 * Warnings in the order in which they are shown: what an apply would refuse or lose, what guards report, the rest. Those
 * that differ only in the path they name become one with all the paths; documents keep them separate.
 */
export function groupWarnings(warnings: readonly Warning[]): Warning[] {
  const groups = new Map<string, Group>();
  for (const warning of byWeight(warnings)) {
    const named = splitAtPath(warning);
    const key = JSON.stringify([warning.code, named?.before ?? warning.message, named?.after]);
    const group = groups.get(key);
    if (group === undefined)
      groups.set(key, { warning, named, names: new Set([named?.name ?? '']) });
    else group.names.add(named?.name ?? '');
  }
  return [...groups.values()].map(({ warning, named, names }) =>
    named === null || names.size === 1
      ? warning
      : { ...warning, message: named.before + namesListed([...names], MOST_NAMES) + named.after },
  );
}

interface Group {
  readonly warning: Warning;
  readonly named: NamedPath | null;
  readonly names: Set<string>;
}

/** A message around the one path that it names. */
interface NamedPath {
  readonly before: string;
  readonly name: string;
  readonly after: string;
}

/** The message of a warning around its path; null if it does not name it. */
function splitAtPath({ message, path }: Warning): NamedPath | null {
  const name = formatPath(path);
  const at = path.length === 0 ? -1 : message.indexOf(name);
  if (at < 0) return null;
  return { before: message.slice(0, at), name, after: message.slice(at + name.length) };
}

const MOST_NAMES = 12;

function byWeight(warnings: readonly Warning[]): Warning[] {
  return warnings.toSorted((one, other) => rankWarning(one.code) - rankWarning(other.code));
}

/** 0: an apply would refuse or lose it; 1: a guard reports it; 2: anything else. */
export function rankWarning(code: WarningCode): 0 | 1 | 2 {
  if (code === 'lose-unreadable') return 0;
  return code === 'guard' ? 1 : 2;
}
