import type { WatchStatus } from './verdict.ts';
import type { ConditionKind, NoticeKind } from './watch.ts';

/* The alerts, by the names of the rules in examples/prometheus. docs/runbooks has a page for each rule. */

/** The alert about a state of an environment. */
export const ALERT_OF_STATUS: Readonly<Partial<Record<WatchStatus, string>>> = {
  unknown: 'SetpointUnknown',
  pending: 'SetpointPending',
  drift: 'SetpointDrift',
  conflict: 'SetpointConflict',
  refused: 'SetpointRefused',
  error: 'SetpointFailing',
};

/** The alert about what keeps an environment from being healed. */
export const ALERT_OF_TROUBLE: Readonly<Partial<Record<NoticeKind, string>>> = {
  'healing-stopped': 'SetpointHealingStopped',
  'heal-failed': 'SetpointHealFails',
  'write-refused': 'SetpointWritesFail',
};

/** Reports whether an alert has a rule, and so a runbook: some are sent only by notices. */
export function hasRunbook(alert: string): boolean {
  return alert !== 'SetpointUnknown' && alert !== 'SetpointPending';
}

/** The alert about a condition of the controller itself. */
export function findConditionAlert(kind: ConditionKind): string {
  switch (kind) {
    case 'files':
    case 'git':
      return 'SetpointFilesInvalid';
    case 'reads':
      return 'SetpointReadsLate';
    case 'page':
      return 'SetpointPageCredentials';
    case 'receiver':
      return 'SetpointNoticesFail';
    default:
      return 'SetpointControllerProblem';
  }
}
