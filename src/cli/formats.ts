import type { FailureDocument } from '../model/failure.ts';
import type { OutcomeDocument } from '../model/outcome.ts';
import type { PlanDocument } from '../model/plan.ts';
import type { ValidationDocument } from '../model/validation.ts';

export const FORMATS = ['text', 'json', 'markdown', 'github', 'html', 'sarif'] as const;
export type Format = (typeof FORMATS)[number];

/** How a document reads in the formats that not every command has; each is loaded where it is asked for. */
export type Renderers<D> = Readonly<
  Partial<Record<Exclude<Format, 'text' | 'json'>, () => Promise<(document: D) => string>>>
>;

export const PLAN_RENDERERS: Renderers<PlanDocument> = {
  markdown: async () => (await import('../render/markdown/comments.ts')).planMarkdown,
  github: async () => (await import('../render/github/annotations.ts')).planAnnotations,
  html: async () => (await import('../render/html/pages.ts')).planHtml,
};

/** The same plan in the words of a finding. */
export const DRIFT_RENDERERS: Renderers<PlanDocument> = {
  markdown: async () => (await import('../render/markdown/comments.ts')).driftMarkdown,
  github: async () => (await import('../render/github/annotations.ts')).driftAnnotations,
  html: async () => (await import('../render/html/pages.ts')).driftHtml,
};

export const OUTCOME_RENDERERS: Renderers<OutcomeDocument> = {
  markdown: async () => (await import('../render/markdown/comments.ts')).outcomeMarkdown,
  github: async () => (await import('../render/github/annotations.ts')).outcomeAnnotations,
  html: async () => (await import('../render/html/pages.ts')).outcomeHtml,
};

export const VALIDATION_RENDERERS: Renderers<ValidationDocument> = {
  markdown: async () => (await import('../render/markdown/comments.ts')).validationMarkdown,
  github: async () => (await import('../render/github/annotations.ts')).validationAnnotations,
  html: async () => (await import('../render/html/pages.ts')).validationHtml,
  sarif: async () => (await import('../render/sarif.ts')).validationSarif,
};

/** What is said in place of a document by a command that could not begin. */
export const FAILURE_RENDERERS: Renderers<FailureDocument> = {
  markdown: async () => (await import('../render/markdown/comments.ts')).failureMarkdown,
  github: async () => (await import('../render/github/annotations.ts')).failureAnnotations,
  html: async () => (await import('../render/html/pages.ts')).failureHtml,
};

const BY_COMMAND: Readonly<Record<string, Renderers<never>>> = {
  validate: VALIDATION_RENDERERS,
  plan: PLAN_RENDERERS,
  drift: DRIFT_RENDERERS,
  apply: OUTCOME_RENDERERS,
};

/** The formats of a command, by its name. */
export function formatsFor(command: string): readonly Format[] {
  return formatsOf(BY_COMMAND[command] ?? {});
}

/** Text and JSON, which every command has, and those there are renderers for. */
export function formatsOf(renderers: Renderers<never>): readonly Format[] {
  return FORMATS.filter((name) => name === 'text' || name === 'json' || name in renderers);
}
