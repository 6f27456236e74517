import { usageError } from '../../reconciler/model/error.ts';
import type { PlanDocument } from '../../reconciler/model/plan.ts';
import { replaceEnvironments, recountSummary } from '../../reconciler/model/summary.ts';
import { choicesHint } from '../../reconciler/model/wording.ts';
import { readSaved } from '../../reconciler/operations/saved-document.ts';
import { visible } from '../../reconciler/render/text.ts';
import type { Flags } from './command-table.ts';
import type { FlagName } from './flag-table.ts';
import { environmentsNamed } from './flags.ts';

/** The common flags of plan, drift and `apply --dry-run`; each takes only some of them. */
export type PlanFlags = Omit<Flags<'plan'>, 'exitCode'>;

/** Flags of a new plan, which a saved one was made with. */
const OF_A_NEW_PLAN = {
  file: '--file',
  selector: '--selector',
  shard: '--shard',
  server: '--server',
  waitReady: '--wait-ready',
  maxFailures: '--max-failures',
  snapshot: '--snapshot',
  maxAge: '--max-age',
  base: '--base',
  policy: '--policy',
  rotate: '--rotate',
  without: '--without',
  only: '--only',
  allow: '--allow',
  check: '--check',
} as const satisfies Partial<Record<keyof PlanFlags, FlagName>>;

/** A saved plan, or the environments of it that -e names. */
export async function loadFilteredPlan(path: string, flags: PlanFlags): Promise<PlanDocument> {
  const other = Object.entries(OF_A_NEW_PLAN).find(
    ([attribute]) => flags[attribute as keyof typeof OF_A_NEW_PLAN] !== undefined,
  );
  if (other !== undefined) {
    throw usageError(
      `${other[1]} is for a new plan, and PLAN.json is a saved one.`,
      'Leave one of the two out.',
    );
  }
  const saved = await readSaved(path, ['plan']);
  const document =
    flags.strict === true ? recountSummary({ ...saved, strict: true as const }) : saved;
  const env = environmentsNamed(flags.env);
  if (env === undefined) return document;
  const names = document.environments.map(({ name }) => name);
  const known = new Set(names);
  const unknown = env.find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw usageError(
      `The saved plan has no environment named ${visible(JSON.stringify(unknown))}.`,
      choicesHint(unknown, names),
    );
  }
  const shown = new Set(env);
  return replaceEnvironments(
    document,
    document.environments.filter(({ name }) => shown.has(name)),
  );
}

/** A saved plan as the approval of an apply. */
export async function loadApprovedPlan(path: string, flags: Flags<'apply'>): Promise<PlanDocument> {
  if (flags.dryRun === true) {
    throw usageError(
      '--dry-run shows a new plan, and PLAN.json is a saved one.',
      'setpoint plan PLAN.json shows it.',
    );
  }
  return readSaved(path, ['plan']);
}
