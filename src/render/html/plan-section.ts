import type { EnvironmentPlan, PlanDocument } from '../../model/plan.ts';
import { seenText } from '../seen-text.ts';
import { COULD_NOT_READ, foundText, NOTHING_TO_BE_DONE } from '../plan-text.ts';
import type { Voice } from '../sides.ts';
import { unchangedText } from '../unchanged-text.ts';
import { changeHtml } from './change-html.ts';
import { markup, type Markup } from './markup.ts';
import {
  errorHtml,
  refusalsHtml,
  unknownsHtml,
  unmanagedHtml,
  warningsHtml,
} from './notices-html.ts';
import { rowsHtml } from './row-html.ts';
import type { Section, Verdict } from './section-html.ts';
import { PLAIN } from './value-html.ts';

/** One target's plan. */
export function planSection(
  environment: EnvironmentPlan,
  document: PlanDocument,
  voice: Voice,
): Section {
  const { name, origin, status, changes, unknown, warnings, refusals, unmanaged, error } =
    environment;
  return {
    name,
    origin,
    verdict: refusals.length > 0 ? REFUSED : VERDICTS[status],
    sentence: sentenceOf(environment, voice),
    content: [
      seenHtml(seenText(environment, document)),
      legendHtml(environment),
      errorHtml(error),
      refusalsHtml(refusals, 'Apply would be refused'),
      warningsHtml(warnings),
      rowsHtml(
        voice === 'plan' ? 'Changes' : 'Differences',
        changes.map((change) => changeHtml(change, { voice })),
      ),
      unknownsHtml(unknown),
      unmanagedHtml(unmanaged),
    ],
  };
}

const VERDICTS: Readonly<Record<EnvironmentPlan['status'], Verdict>> = {
  'in-sync': { mark: '✓', words: 'in sync', color: 'green' },
  differs: { mark: '~', words: 'differs', color: 'yellow' },
  error: { mark: '✗', words: 'error', color: 'red' },
};

const REFUSED: Verdict = { mark: '✗', words: 'apply would be refused', color: 'red' };

function sentenceOf({ status, changes, unknown }: EnvironmentPlan, voice: Voice): string {
  if (status === 'error') return COULD_NOT_READ;
  if (changes.length > 0) return foundText(changes, voice);
  return status === 'differs' ? NOTHING_TO_BE_DONE : unchangedText(unknown, PLAIN);
}

function seenHtml(seen: string | null): Markup | null {
  return seen === null ? null : markup`<p class="soft">Against the service ${seen}.</p>\n`;
}

function legendHtml({ changes }: EnvironmentPlan): Markup | null {
  if (changes.every((change) => change.class === undefined)) return null;
  return markup`<p class="soft">pending: the file has changed since it was last applied; drift: the service has; conflict: both have.</p>
`;
}
