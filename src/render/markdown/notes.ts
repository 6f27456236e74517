import type { Refusal } from '../../model/guard.ts';
import type { Unknown, Warning } from '../../model/plan.ts';
import { refusalSentence } from '../refusal-text.ts';
import { groupedWarnings, weightOf } from '../warning-order.ts';
import { alertItem, warningAlert } from './alert.ts';
import { unknownItem } from './change-markdown.ts';
import type { Entry, Listing } from './fitted.ts';
import { counted } from '../../model/counted.ts';

/** Why an apply would refuse the plan, or has refused it. */
export function refusalBlock(refusals: readonly Refusal[], heading: string): Listing {
  return {
    entries: refusals.map((refusal): Entry => ({
      rank: 0,
      text: () => alertItem(refusalSentence(refusal)),
    })),
    around: (items) => `> [!CAUTION]\n> **${heading}**\n>\n${items.join('')}\n`,
    missing: (count) => `*and ${counted(count, 'more refusal')}, see the run*\n\n`,
  };
}

/** The warnings, what a write would lose before all others. */
export function warningBlock(warnings: readonly Warning[]): Listing {
  const entries = groupedWarnings(warnings).map(({ code, message }): Entry => ({
    rank: weightOf(code) === 2 ? 2 : 0,
    text: () => alertItem(message),
  }));
  return warningAlert(
    entries,
    (count) => `*and ${counted(count, 'more warning')}, see the run*\n\n`,
  );
}

/** What could not be compared. */
export function unknownBlock(unknown: readonly Unknown[]): Listing {
  return {
    entries: unknown.map((one): Entry => ({ rank: 4, text: () => unknownItem(one) })),
    around: (items) =>
      `**${counted(unknown.length, 'value')} could not be compared**\n\n${items.join('')}\n`,
    missing: (count) =>
      `*and ${counted(count, 'more value')} that could not be compared, see the run*\n\n`,
  };
}
