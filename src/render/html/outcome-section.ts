import type { EnvironmentOutcome, OutcomeChange, Remainder } from '../../model/outcome.ts';
import { endingText, newWarnings, resultMark, resultText } from '../outcome-text.ts';
import { changeHtml, nameHtml } from './change-html.ts';
import { chipHtml } from './chip-html.ts';
import { markup, type Markup } from './markup.ts';
import { errorHtml, refusalsHtml, unknownsHtml, warningsHtml } from './notices-html.ts';
import { notesHtml, rowHtml, rowsHtml } from './row-html.ts';
import type { Section, Verdict } from './section-html.ts';
import { afterHtml, beforeHtml, PLAIN } from './value-html.ts';

/** What became of one target. */
export function outcomeSection(environment: EnvironmentOutcome): Section {
  const { name, origin, status, changes, remaining, unknown, refusals, error } = environment;
  return {
    name,
    origin,
    verdict: OUTCOME_VERDICTS[status],
    sentence: endingText(environment, PLAIN),
    content: [
      error?.code === 'guard-refused' && refusals.length > 1 ? null : errorHtml(error),
      refusals.length > 1 ? refusalsHtml(refusals, 'Apply was refused') : null,
      rowsHtml('Not as requested', remaining.map(remainderHtml)),
      warningsHtml(newWarnings(environment)),
      rowsHtml(
        'Changes',
        changes.map((change) =>
          changeHtml(change, { voice: 'plan', result: resultHtml(change, status) }),
        ),
      ),
      unknownsHtml(changes.length === 0 ? unknown : []),
      requestsHtml(environment),
    ],
  };
}

export const OUTCOME_VERDICTS: Readonly<Record<EnvironmentOutcome['status'], Verdict>> = {
  'in-sync': { mark: '✓', words: 'in sync', color: 'green' },
  applied: { mark: '✓', words: 'applied', color: 'green' },
  partial: { mark: '~', words: 'applied in part', color: 'yellow' },
  'not-converged': { mark: '✗', words: 'not converged', color: 'red' },
  refused: { mark: '✗', words: 'refused', color: 'red' },
  failed: { mark: '✗', words: 'failed', color: 'red' },
};

function resultHtml(change: OutcomeChange, status: EnvironmentOutcome['status']): Markup {
  const [mark, color] = resultMark(change, status);
  return chipHtml(color, `${mark} ${resultText(change, status)}`);
}

function remainderHtml({ expected, actual, reason, hint, ...place }: Remainder): Markup {
  return rowHtml(
    chipHtml('red', '! remains'),
    markup`<p>${nameHtml(place)}: ${reason}</p>
<div class="values">expected ${afterHtml(expected)}</div>
<div class="values">found ${beforeHtml(actual)}</div>
`,
    notesHtml(hint),
  );
}

function requestsHtml({ requests, allowed }: EnvironmentOutcome): Markup {
  const lifted = allowed.length === 0 ? null : `lifted by --allow: ${allowed.join(', ')}`;
  return notesHtml(`${requests.get} GET, ${requests.post} POST`, lifted);
}
