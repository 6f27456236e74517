import { partOf, type PlanDocument } from '../model/plan.ts';
import { choicesHint } from '../model/suggest.ts';
import { readSaved } from '../operations/saved-document.ts';
import { namesIn, usage, type Flags } from './flags.ts';

/** What a new plan takes and a saved one has been made with. */
const OF_A_NEW_PLAN = [
  'file',
  'server',
  'snapshot',
  'maxAge',
  'base',
  'policy',
  'rotate',
  'allow',
] as const;

/** A saved plan to be shown, or the part of it that -e names. */
export async function shownPlan(path: string, flags: Flags): Promise<PlanDocument> {
  const other = OF_A_NEW_PLAN.find((flag) => flags[flag] !== undefined);
  if (other !== undefined) {
    throw usage(
      `--${other === 'maxAge' ? 'max-age' : other} is for a new plan, and PLAN.json is a saved one.`,
      'Leave one of the two out.',
    );
  }
  const document = await readSaved(path, ['plan']);
  const env = namesIn(flags.env);
  if (env === undefined) return document;
  const names = document.environments.map(({ name }) => name);
  const unknown = env.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw usage('The saved plan has no environment of that name.', choicesHint(unknown, names));
  }
  return partOf(
    document,
    document.environments.filter(({ name }) => env.includes(name)),
  );
}

/** A saved plan that is to be an approval. */
export async function approvedPlan(path: string, flags: Flags): Promise<PlanDocument> {
  if (flags.dryRun === true) {
    throw usage(
      '--dry-run shows a new plan, and PLAN.json is a saved one.',
      'setpoint plan PLAN.json shows it.',
    );
  }
  return readSaved(path, ['plan']);
}
