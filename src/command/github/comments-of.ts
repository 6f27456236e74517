import type { FailureDocument } from '../../reconciler/model/error.ts';
import type { OutcomeDocument } from '../../reconciler/model/outcome.ts';
import type { EnvironmentPlan, PlanDocument } from '../../reconciler/model/plan.ts';
import { partOf } from '../../reconciler/model/summary.ts';
import type { ValidationDocument } from '../../reconciler/model/documents.gen.ts';
import {
  failureMarkdown,
  outcomeMarkdown,
  planMarkdown,
  validationMarkdown,
} from '../../reconciler/render/markdown/comments.ts';
import { contentDigest, markerOf } from './marker.ts';
import type { StickyComment } from './sticky-comment.ts';

export type Commented = PlanDocument | OutcomeDocument | ValidationDocument;

/** The comments on a pull request for a document: one for each environment, or one for a validation. */
export function commentsOf(document: Commented, commit: string | null): readonly StickyComment[] {
  switch (document.kind) {
    case 'plan':
      return document.environments.map((environment) => ({
        environment: environment.name,
        marker: markerOf('plan', environment.name),
        digest: contentDigest(findings(environment)),
        commit,
        markdown: planMarkdown(partOf(document, [environment])),
        clean: environment.status === 'in-sync',
      }));
    case 'outcome':
      return document.environments.map((environment) => ({
        environment: environment.name,
        marker: markerOf('outcome', environment.name),
        digest: contentDigest({ ...environment, requests: null }),
        commit,
        markdown: outcomeMarkdown(partOf(document, [environment])),
        clean: environment.status === 'in-sync',
      }));
    case 'validation':
      return [
        {
          environment: null,
          marker: markerOf('validation', null),
          digest: contentDigest(document),
          commit,
          markdown: validationMarkdown(document),
          clean: document.diagnostics.length === 0,
        },
      ];
  }
}

/** What was found, without what differs in every run: the time of the observation, and the digests with their salt. */
function findings(environment: EnvironmentPlan): EnvironmentPlan {
  return { ...environment, observed_at: null, digests: null };
}

const RESOLVED = 'setpoint planned again: see the comment of each environment.';

/** Why no plan could be made, of the environments named or of all; null if one was made since. */
export function failureComment(
  failure: FailureDocument | null,
  environments: readonly string[],
  commit: string | null,
): StickyComment {
  return {
    environment: null,
    marker: markerOf('failure', environments.length === 0 ? null : environments.join(',')),
    digest: contentDigest(failure),
    commit,
    markdown: failure === null ? RESOLVED : failureMarkdown(failure),
    clean: failure === null,
  };
}
