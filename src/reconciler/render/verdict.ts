import type { ErrorReport } from '../model/plan.ts';
import type { Verdict } from '../model/verdict.ts';
import type { Label, Voice } from './change.ts';

/** What was run on an environment, and how its result is worded. */
export type Wording = Voice | 'apply';

/** The verdict of an environment as it is shown. `error` words a failure by its kind. */
export function verdictLabel(
  verdict: Verdict,
  wording: Wording,
  error: Pick<ErrorReport, 'code'> | null,
): Label {
  const label = { ...LABELS, ...OTHERWISE[wording] }[verdict];
  if (verdict !== 'error' && verdict !== 'failed') return label;
  return { ...label, words: failureWords(error?.code) };
}

/** The kind of a failure. */
export function failureWords(code = ''): string {
  return Object.hasOwn(FAILURES, code) ? (FAILURES[code] ?? '') : LABELS.failed.words;
}

const DIFFERS: Label = { mark: '~', words: 'differs', color: 'yellow' };
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
  pending: { mark: '~', words: 'pending edits', color: 'cyan' },
  differs: DIFFERS,
  drift: DRIFT,
  conflict: { mark: '✗', words: 'conflict', color: 'red' },
  refused: { mark: '✗', words: 'refused', color: 'red' },
  error: FAILED,
  failed: FAILED,
  'not-converged': { mark: '✗', words: 'not converged', color: 'red' },
  partial: { mark: '~', words: 'applied in part', color: 'yellow' },
} as const satisfies Readonly<Record<Verdict, Label>>;

/** A drift that an apply would refuse to undo is drift, like any other. */
const OTHERWISE: Readonly<Record<Wording, Readonly<Partial<Record<Verdict, Label>>>>> = {
  plan: {
    pending: DIFFERS,
    refused: { mark: '✗', words: 'apply would be refused', color: 'red' },
  },
  drift: { differs: DRIFT, refused: DRIFT },
  apply: {},
};

const FAILURES: Readonly<Record<string, string>> = {
  unreachable: 'unreachable',
  'timed-out': 'timed out',
  unauthorized: 'key refused',
  tls: 'TLS failed',
  'rate-limited': 'rate limited',
  'reference-missing': 'reference missing',
  declined: 'cancelled',
  interrupted: 'stopped',
  terminated: 'stopped',
};
