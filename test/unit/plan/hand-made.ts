import type { GuardSettings } from '../../../src/reconciler/model/guard.ts';
import type { Path } from '../../../src/reconciler/model/path.ts';
import type { Change, Plan, SettingsPlan } from '../../../src/reconciler/model/plan.ts';
import {
  type SandboxStep,
  NO_SANDBOXES,
} from '../../../src/reconciler/resources/sandboxes/plan-sandboxes.ts';
import type { ObservedState } from '../../../src/reconciler/model/state.ts';
import type { ValueRecord } from '../../../src/reconciler/model/value.ts';
import { observeV0Record } from '../../../src/reconciler/service/settings-v0/read.ts';
import { writeOf } from '../../fixture/observed.ts';
import { sandboxPart } from '../../../src/reconciler/resources/sandboxes/resource.ts';
import { createSettingsPart } from '../../../src/reconciler/plan/settings-part.ts';

/** A change of the settings under a path, from nothing to nothing unless it is given. */
export function change(path: Path, more: Partial<Change> = {}): Change {
  return {
    resource: 'settings',
    path,
    action: 'change',
    before: null,
    after: null,
    sensitive: false,
    ref: null,
    reason: 'differs',
    source: null,
    ...more,
  };
}

export function settingsPlan(
  changes: readonly Change[],
  more: Partial<SettingsPlan> = {},
): SettingsPlan {
  return {
    changes,
    unknown: [],
    warnings: [],
    unmanaged: [],
    unpreservable: [],
    gone: [],
    write: writeOf({}),
    ...more,
  };
}

export function planOf(
  changes: readonly Change[],
  more: Partial<SettingsPlan> = {},
  steps: readonly SandboxStep[] = [],
): Plan {
  return [createSettingsPart(settingsPlan(changes, more)), sandboxPart({ ...NO_SANDBOXES, steps })];
}

/** A sandbox that is to be resumed. */
export function step(id: string, more: Partial<Change> = {}): SandboxStep {
  return {
    action: 'resume',
    sandbox: id,
    item: {
      kind: 'named',
      id,
      state: 'running',
      whenBusy: 'skip',
      source: { file: 'settings.yaml', line: 1, column: 1 },
    },
    change: change([id], { resource: 'sandbox', action: 'resume', ...more }),
  };
}

export function observed(record: ValueRecord, stored = true): ObservedState {
  return { ...observeV0Record(record), stored };
}

export const NO_GUARDS: GuardSettings = { on: new Set(), maxChanges: null, frozen: null };
