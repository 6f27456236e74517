import type { FailureDocument } from '../../reconciler/model/error.ts';
import type { OutcomeDocument } from '../../reconciler/model/outcome.ts';
import type { EnvironmentPlan, PlanDocument } from '../../reconciler/model/plan.ts';
import { replaceEnvironments } from '../../reconciler/model/summary.ts';
import type { ValidationDocument } from '../../reconciler/model/documents.gen.ts';
import {
  failureMarkdown,
  outcomeMarkdown,
  planMarkdown,
  validationMarkdown,
} from '../../reconciler/render/markdown/comments.ts';
import { contentDigest, createMarker } from './marker.ts';
import type { StickyComment } from './sticky-comment.ts';

export type CommentDocument = PlanDocument | OutcomeDocument | ValidationDocument;

/** The comments on a pull request for a document: one for each environment, or one for a validation. */
export function createStickyComments(
  document: CommentDocument,
  commit: string | null,
): readonly StickyComment[] {
  switch (document.kind) {
    case 'plan':
      return ofEnvironments(
        document.environments,
        document.kind,
        {
          digested: findings,
          markdown: (part) => planMarkdown(replaceEnvironments(document, part)),
        },
        commit,
      );
    case 'outcome':
      return ofEnvironments(
        document.environments,
        document.kind,
        {
          digested: (one) => ({ ...one, requests: null }),
          markdown: (part) => outcomeMarkdown(replaceEnvironments(document, part)),
        },
        commit,
      );
    case 'validation':
      return [
        {
          environment: null,
          marker: createMarker('validation', null),
          digest: contentDigest(document),
          commit,
          markdown: validationMarkdown(document),
          clean: document.diagnostics.length === 0,
        },
      ];
  }
}

/** A comment for each environment, and one on all of them for when there are too many. */
function ofEnvironments<E extends { readonly name: string; readonly status: string }>(
  environments: readonly E[],
  subject: 'plan' | 'outcome',
  about: {
    readonly digested: (one: E) => object;
    readonly markdown: (part: readonly E[]) => string;
  },
  commit: string | null,
): readonly StickyComment[] {
  const comment = (environment: string | null, part: readonly E[], found: object) => ({
    environment,
    marker: createMarker(subject, environment),
    digest: contentDigest(found),
    commit,
    markdown: about.markdown(part),
    clean: part.every(({ status }) => status === 'in-sync'),
  });
  const joint =
    environments.length < 2
      ? undefined
      : comment(null, environments, environments.map(about.digested));
  return environments.map((one) => ({ ...comment(one.name, [one], about.digested(one)), joint }));
}

/** Returns the findings without the members that differ in every run: the time of the observation, and the digests with their salt. */
function findings(environment: EnvironmentPlan): EnvironmentPlan {
  return { ...environment, observed_at: null, digests: null };
}

const RESOLVED = 'setpoint planned again: see the comment of each environment.';

/** Creates a comment about a failed plan, for the named environments or all; null if a plan was made since. */
export function failureComment(
  failure: FailureDocument | null,
  environments: readonly string[],
  commit: string | null,
): StickyComment {
  return {
    environment: null,
    marker: createMarker('failure', environments.length === 0 ? null : environments.join(',')),
    digest: contentDigest(failure),
    commit,
    markdown: failure === null ? RESOLVED : failureMarkdown(failure),
    clean: failure === null,
  };
}
