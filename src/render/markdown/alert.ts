import type { ErrorReport } from '../../model/plan.ts';
import type { Entry, Listing } from './fitted.ts';
import { prose } from './prose.ts';

/** What happened, and what to do, in a box. */
export function errorAlert({ message, hint }: Pick<ErrorReport, 'message' | 'hint'>): string {
  return `> [!CAUTION]\n> **Error:** ${prose(message)}\n>\n> ${prose(hint)}\n\n`;
}

/** Entries in a box, each made by `alertItem`. */
export function warningAlert(entries: readonly Entry[], missing: Listing['missing']): Listing {
  return { entries, around: (items) => `> [!WARNING]\n${items.join('')}\n`, missing };
}

export function alertItem(text: string): string {
  return `> - ${prose(text)}\n`;
}
