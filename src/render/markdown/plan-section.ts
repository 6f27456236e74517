import { formatPath } from '../../model/path.ts';
import { countActions, type EnvironmentPlan, type PlanDocument } from '../../model/plan.ts';
import { countsText } from '../counts-text.ts';
import { COULD_NOT_READ, driftTitle, NOTHING_TO_BE_DONE, untoldText } from '../plan-text.ts';
import { seenText } from '../seen-text.ts';
import { errorAlert } from './alert.ts';
import { changeBlocks } from './change-blocks.ts';
import { codeSpan, shortened } from './code-span.ts';
import type { Section } from './comment.ts';
import { label, prose } from './prose.ts';
import { shellWord } from '../shell-word.ts';
import type { Voice } from '../sides.ts';
import { refusalBlock, unknownBlock, warningBlock } from './notes.ts';

/** One target's plan: title, what must not be missed, the changes, what is not known, how to go on. */
export function planSection(
  environment: EnvironmentPlan,
  document: Pick<PlanDocument, 'created_at'>,
  voice: Voice,
): Section {
  const { name, status, changes, unknown, warnings, refusals, error } = environment;
  const title = `## ${voice === 'plan' ? 'Plan' : 'Drift'}: ${label(name)} — ${verdict(environment, voice)}\n\n`;
  return {
    rank: status === 'error' || refusals.length > 0 ? 0 : status === 'differs' ? 1 : 2,
    changes: changes.length,
    blocks: [
      title,
      error === null ? '' : errorAlert(error),
      against(environment, seenText(environment, document)),
      refusalBlock(refusals, 'Apply would be refused'),
      warningBlock(warnings),
      ...changeBlocks(changes, voice),
      sentence(environment),
      unknownBlock(unknown),
      unmanaged(environment),
      next(environment, voice),
    ],
  };
}

function verdict({ status, changes, refusals }: EnvironmentPlan, voice: Voice): string {
  if (status === 'error') return 'failed';
  const refused = refusals.length > 0 ? '; apply would be refused' : '';
  if (changes.length > 0 && voice === 'drift') return `${driftTitle(changes)}${refused}`;
  if (changes.length > 0) return `${countsText(countActions(changes))}${refused}`;
  return status === 'differs' ? 'not as declared' : 'no changes';
}

function against({ origin, name }: EnvironmentPlan, seen: string | null): string {
  if (origin === null && seen === null) return '';
  const service = origin === null ? label(name) : codeSpan(shortened(origin, 200));
  return `Against ${service}${seen === null ? '' : ` ${prose(seen)}`}.\n\n`;
}

const NAMED = 6;

function unmanaged({ unmanaged }: EnvironmentPlan): string {
  if (unmanaged.length === 0) return '';
  const names = unmanaged.slice(0, NAMED).map((path) => codeSpan(shortened(formatPath(path), 100)));
  const more = unmanaged.length > NAMED ? [`${unmanaged.length - NAMED} more`] : [];
  return `Not managed: ${[...names, ...more].join(', ')}\n\n`;
}

/** What is said where there are no changes. */
function sentence({ status, changes }: EnvironmentPlan): string {
  if (status === 'error') return `${COULD_NOT_READ}\n\n`;
  if (changes.length > 0) return '';
  return status === 'differs' ? `${NOTHING_TO_BE_DONE}\n\n` : 'No changes.\n\n';
}

/** How to go on; a command that a guard would refuse is no way. */
function next({ changes, name, refusals }: EnvironmentPlan, voice: Voice): string {
  if (changes.length === 0) return '';
  const command = (verb: string): string =>
    codeSpan(`setpoint ${verb} -e ${shellWord(shortened(name, 200))}`);
  const refused = refusals.length > 0;
  if (voice === 'plan') return refused ? '' : `Apply with ${command('apply')}.\n\n`;
  const untold = prose(untoldText(changes).trimStart());
  const hint = untoldText(changes) === '' ? '' : ` ${untold}`;
  const ways = refused
    ? `Bring it into the file with ${command('pull')}.`
    : `Undo with ${command('apply')}, or bring it into the file with ${command('pull')}.`;
  return `${ways}${hint}\n\n`;
}
