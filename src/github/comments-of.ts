import type { FailureDocument } from '../model/failure.ts';
import type { OutcomeDocument } from '../model/outcome.ts';
import { partOf, type EnvironmentPlan, type PlanDocument } from '../model/plan.ts';
import type { ValidationDocument } from '../model/validation.ts';
import { failureMarkdown } from '../render/markdown/failure-markdown.ts';
import { outcomeMarkdown } from '../render/markdown/outcome-markdown.ts';
import { planMarkdown } from '../render/markdown/plan-markdown.ts';
import { validationMarkdown } from '../render/markdown/validation-markdown.ts';
import { digestOf } from './digest.ts';
import { markerOf } from './marker.ts';
import type { StickyComment } from './sticky-comment.ts';

export type Commented = PlanDocument | OutcomeDocument | ValidationDocument;

/** What a document says on a pull request: a comment for each target, one for a validation. */
export function commentsOf(document: Commented, commit: string | null): readonly StickyComment[] {
  switch (document.kind) {
    case 'plan':
      return document.environments.map((environment) => ({
        target: environment.name,
        marker: markerOf('plan', environment.name),
        digest: digestOf(said(environment)),
        commit,
        markdown: planMarkdown(partOf(document, [environment])),
        clean: environment.status === 'in-sync',
      }));
    case 'outcome':
      return document.environments.map((environment) => ({
        target: environment.name,
        marker: markerOf('outcome', environment.name),
        digest: digestOf({ ...environment, requests: null }),
        commit,
        markdown: outcomeMarkdown({ ...document, environments: [environment] }),
        clean: environment.status === 'in-sync',
      }));
    case 'validation':
      return [
        {
          target: null,
          marker: markerOf('validation', null),
          digest: digestOf(document),
          commit,
          markdown: validationMarkdown(document),
          clean: document.diagnostics.length === 0,
        },
      ];
  }
}

/** What was found. When it was seen is no part of that, nor are the digests, whose salt is another at every run. */
function said(environment: EnvironmentPlan): EnvironmentPlan {
  return { ...environment, observed_at: null, digests: null };
}

const BEGUN = 'setpoint has planned again: what it found is said in the comments of the targets.';

/** That no plan could be made, of the targets named; with null that it is over. */
export function failureComment(
  failure: FailureDocument | null,
  targets: readonly string[],
  commit: string | null,
): StickyComment {
  return {
    target: null,
    marker: markerOf('failure', targets.length === 0 ? null : targets.join(',')),
    digest: digestOf(failure),
    commit,
    markdown: failure === null ? BEGUN : failureMarkdown(failure),
    clean: failure === null,
  };
}
