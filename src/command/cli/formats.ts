import type { FailureDocument } from '../../reconciler/model/error.ts';
import type { OutcomeDocument } from '../../reconciler/model/outcome.ts';
import type { PlanDocument } from '../../reconciler/model/plan.ts';
import type { ValidationDocument } from '../../reconciler/model/documents.gen.ts';
import type { Voice } from '../../reconciler/render/change.ts';
import type { CommandName, FormatOf } from './command-table.ts';
import { FORMATS, type Format } from './words.ts';

/** How a document reads in the formats that not every command has; each is loaded when it is needed. */
export type Renderers<D> = Readonly<
  Partial<Record<WholeFormat, () => Promise<(document: D) => string>>> & Partial<typeof METRICS>
>;

/** The formats that are made of a whole document. */
export type WholeFormat = Exclude<Format, 'text' | 'json' | 'prometheus'>;

/** A renderer for each format of a command, as the table of commands lists them. */
type RenderersOf<Name extends CommandName, D> = Readonly<
  Record<FormatOf<Name> & WholeFormat, () => Promise<(document: D) => string>>
> &
  ('prometheus' extends FormatOf<Name> ? typeof METRICS : unknown);

/** Plans as metrics, which are taken one after another. */
const METRICS = {
  prometheus: async () => (await import('../../reconciler/render/prometheus.ts')).metricsOfPlans,
};

export const PLAN_RENDERERS: RenderersOf<'plan', PlanDocument> = {
  markdown: async () => (await import('../../reconciler/render/markdown/comments.ts')).planMarkdown,
  github: async () =>
    (await import('../../reconciler/render/github/annotations.ts')).planAnnotations,
  html: async () => (await import('../../reconciler/render/html/pages.ts')).planHtml,
  ...METRICS,
};

/** The same plan in the words of a finding. */
export const DRIFT_RENDERERS: RenderersOf<'drift', PlanDocument> = {
  markdown: async () =>
    (await import('../../reconciler/render/markdown/comments.ts')).driftMarkdown,
  github: async () =>
    (await import('../../reconciler/render/github/annotations.ts')).driftAnnotations,
  html: async () => (await import('../../reconciler/render/html/pages.ts')).driftHtml,
  ...METRICS,
};

export const OUTCOME_RENDERERS: RenderersOf<'apply', OutcomeDocument> = {
  markdown: async () =>
    (await import('../../reconciler/render/markdown/comments.ts')).outcomeMarkdown,
  github: async () =>
    (await import('../../reconciler/render/github/annotations.ts')).outcomeAnnotations,
  html: async () => (await import('../../reconciler/render/html/pages.ts')).outcomeHtml,
};

/** Plans in the words of one voice, or outcomes: whichever the documents are. */
export function reportRenderers(
  voice: Voice,
): RenderersOf<'report', PlanDocument | OutcomeDocument> {
  const plans = voice === 'drift' ? DRIFT_RENDERERS : PLAN_RENDERERS;
  const either =
    (format: FormatOf<'report'> & WholeFormat) =>
    async (): Promise<(document: PlanDocument | OutcomeDocument) => string> => {
      const [plan, outcome] = await Promise.all([plans[format](), OUTCOME_RENDERERS[format]()]);
      return (document) => (document.kind === 'plan' ? plan(document) : outcome(document));
    };
  return { markdown: either('markdown'), github: either('github'), html: either('html') };
}

export const VALIDATION_RENDERERS: RenderersOf<'validate', ValidationDocument> = {
  markdown: async () =>
    (await import('../../reconciler/render/markdown/comments.ts')).validationMarkdown,
  github: async () =>
    (await import('../../reconciler/render/github/annotations.ts')).validationAnnotations,
  html: async () => (await import('../../reconciler/render/html/pages.ts')).validationHtml,
  sarif: async () => (await import('../../reconciler/render/sarif.ts')).validationSarif,
};

/** What a command that could not begin prints in place of its document. */
export const FAILURE_RENDERERS: Renderers<FailureDocument> = {
  markdown: async () =>
    (await import('../../reconciler/render/markdown/comments.ts')).failureMarkdown,
  github: async () =>
    (await import('../../reconciler/render/github/annotations.ts')).failureAnnotations,
  html: async () => (await import('../../reconciler/render/html/pages.ts')).failureHtml,
};

/** Text and JSON, which every command has, and those there are renderers for. */
export function formatsOf(renderers: Renderers<never>): readonly Format[] {
  return FORMATS.filter((name) => name === 'text' || name === 'json' || name in renderers);
}
