import { formatPath } from '../../reconciler/model/path.ts';
import type { EnvironmentPlan } from '../../reconciler/model/plan.ts';
import { formatCount } from '../../reconciler/model/wording.ts';
import type { Json } from '../../reconciler/model/value.ts';
import { visible } from '../../reconciler/render/text.ts';
import { approvalDigest } from '../watch/healing.ts';

/** A plan as `status.plan` shows it. */
export interface StatusPlan {
  readonly digest: string;
  readonly changes: number;
  readonly summary: string;
  readonly items: readonly PlanItem[];
}

interface PlanItem {
  readonly path: string;
  readonly action: string;
  readonly before?: string;
  readonly after?: string;
  readonly sensitive?: true;
}

/** Changes that a status lists, and characters that they take together. */
const MOST_ITEMS = 50;
const MOST_CHARACTERS = 16 * 1024;
const LONGEST_VALUE = 200;
export function statusPlan({ changes }: EnvironmentPlan, digest: string): StatusPlan {
  const items: PlanItem[] = [];
  let room = MOST_CHARACTERS;
  for (const { path, action, before, after, sensitive } of changes) {
    const values = sensitive
      ? { sensitive: true as const }
      : omitUndefinedMembers({
          before: formatStatusValue(before),
          after: formatStatusValue(after),
        });
    const item = { path: visible(formatPath(path)), action, ...values };
    room -= JSON.stringify(item).length;
    if (items.length === MOST_ITEMS || room < 0) break;
    items.push(item);
  }
  return {
    digest: approvalDigest({ digest }),
    changes: changes.length,
    summary: formatCount(changes.length, 'change'),
    items,
  };
}

function formatStatusValue(value: Json): string | undefined {
  if (value === null) return undefined;
  const text = visible(typeof value === 'string' ? value : JSON.stringify(value));
  return shortenStatusText(text, LONGEST_VALUE);
}

/** Half a character at the end would come back as another one, and the status would be written again and again. */
export function shortenStatusText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The members that have a value. */
export function omitUndefinedMembers<T extends object>(
  members: T,
): Partial<{ [K in keyof T]: Exclude<T[K], undefined> }> {
  return Object.fromEntries(
    Object.entries(members).filter(([, member]) => member !== undefined),
  ) as Partial<{ [K in keyof T]: Exclude<T[K], undefined> }>;
}
