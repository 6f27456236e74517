import { formatPath, type Path } from './path.ts';
import type { Json } from './value.ts';

/**
 * Why a plan has a change. Programs read the code and its parameters. `reason` is what a plan shows of it, and `found` what was found, without what
 * an apply would do about it: a drift shows that. Without `found` both show the same.
 */
export interface Reason {
  readonly code: ReasonCode;
  /** What the sentences of a code are made with; absent of a code without any. */
  readonly parameters?: Readonly<Record<string, Json>>;
  readonly reason: string;
  readonly found?: string;
}

type Sentences = Pick<Reason, 'reason' | 'found'>;

function willBe(found: string, done: string, mark: ',' | ':' | ';' = ','): Sentences {
  return { reason: `${found}${mark} will be ${done}`, found };
}

/** The sentences of the codes without parameters. */
const SENTENCES = {
  'not-set': { reason: 'not set' },
  stored: { reason: 'set' },
  differs: { reason: 'differs' },
  'stored-differs': { reason: 'set, differs' },
  'changed-elsewhere': { reason: 'set, changed since last written' },
  'not-shown': { reason: 'the service does not show it' },
  undeclared: { reason: 'not declared' },
  'undeclared-uncertain': { reason: 'not declared, as far as known without the missing values' },
  'null-in-file': { reason: 'null in the file' },
  'other-list': { reason: 'declared in another list' },
  unset: willBe('not set', 'set'),
  cleared: willBe('set', 'cleared'),
  reset: willBe('set', 'its default again'),
  rotated: willBe('set', 'rotated'),
  'entry-rotated': { reason: 'will be rotated', found: 'set' },
  'changed-since': willBe('set, changed since last written', 'rotated', ':'),
  renewed: willBe('set, its description cannot be changed without it', 'rotated', ':'),
  resent: willBe('set, sent with the other changes', 'rotated', ':'),
  'left-over': { reason: 'an earlier rotation was interrupted' },
  'set-again': willBe('an earlier rotation was interrupted', 'set', ';'),
  'rotated-again': willBe('an earlier rotation was interrupted', 'rotated', ';'),
  outdated: willBe('the settings have another copy of it', 'activated again'),
  'key-changed': willBe('its key changed since it was activated', 'activated again'),
  'stored-by-plan': willBe('stored by this plan', 'activated again'),
  'changed-by-plan': willBe('changed by this plan', 'activated again'),
  'ended-by-plan': willBe('made inactive by this plan', 'activated again'),
  'connection-changes': willBe('its connection changes', 'activated again'),
  'without-address': willBe('without base_url', 'activated again after the writes'),
  'with-profile': { reason: 'comes with active_profile, which replaces the whole llm' },
  'declared-running': { reason: 'declared running' },
  'declared-paused': { reason: 'declared paused' },
  'lost-with-write': { reason: 'goes with the same write, which cannot carry it' },
  'changed-with-write': { reason: 'changes with the same write' },
} as const satisfies Readonly<Record<string, Sentences>>;

/** The codes whose sentences have parameters. */
const WITH_PARAMETERS = [
  'changes-with',
  'members-differ',
  'renamed',
  'too-few-running',
  'too-many-running',
] as const;

export type ReasonCode = keyof typeof SENTENCES | (typeof WITH_PARAMETERS)[number];

/** Every code, in the order of the table. */
export const REASON_CODES: readonly ReasonCode[] = [
  ...(Object.keys(SENTENCES) as (keyof typeof SENTENCES)[]),
  ...WITH_PARAMETERS,
];

/** The reasons without parameters: no other sentence says why a change is in a plan. */
export const REASONS = Object.fromEntries(
  Object.entries(SENTENCES).map(([code, sentences]) => [code, { code, ...sentences }]),
) as { readonly [Code in keyof typeof SENTENCES]: Reason & { readonly code: Code } };

export function membersDiffer(members: readonly string[]): Reason {
  const verb = members.length === 1 ? 'differs' : 'differ';
  return {
    code: 'members-differ',
    parameters: { members },
    reason: `${members.join(', ')} ${verb}`,
  };
}

/** Of what changes with the request of another change, at its path. */
export function changesWith(cause: Path): Reason {
  const path = formatPath(cause);
  return { code: 'changes-with', parameters: { cause: path }, reason: `changes with ${path}` };
}

export function renamedFrom(former: string): Reason {
  return { code: 'renamed', parameters: { former }, reason: `renamed from ${former}` };
}

export function tooFewRunning(running: number, wanted: number): Reason {
  const reason = `${running} of ${wanted} running`;
  return { code: 'too-few-running', parameters: { running, wanted }, reason };
}

export function tooManyRunning(running: number, wanted: number): Reason {
  const reason = `${running} running, ${wanted} wanted`;
  return { code: 'too-many-running', parameters: { running, wanted }, reason };
}

/** The same, by way of another name under which the new value is stored first. */
export function addRenameWay(reason: Reason, name: string): Reason {
  const { reason: sentence, found = sentence, parameters } = reason;
  return {
    ...reason,
    parameters: { ...parameters, by_way_of: name },
    reason: `${sentence} by way of ${name}`,
    found,
  };
}
