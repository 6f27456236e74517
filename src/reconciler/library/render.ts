import type {
  DoctorDocument,
  ExplainDocument,
  InitDocument,
  ObservedDocument,
  PullDocument,
  SmokeDocument,
  ValidationDocument,
} from '../model/documents.gen.ts';
import { usageError } from '../model/error.ts';
import type { OutcomeDocument } from '../model/outcome.ts';
import type { PlanDocument } from '../model/plan.ts';
import { namesListed } from '../model/wording.ts';

/** A document that can be rendered. */
export type RenderedDocument =
  | PlanDocument
  | OutcomeDocument
  | ValidationDocument
  | ObservedDocument
  | PullDocument
  | InitDocument
  | ExplainDocument
  | DoctorDocument
  | SmokeDocument;

/**
 * A format to render in. `text` is for people, without colours; `markdown` fits into a comment on GitHub; `html` is a page of its
 * own; `annotations` are the workflow commands of GitHub Actions; `sarif` is for code scanning; `json` is the document itself.
 */
export type RenderFormat = 'text' | 'markdown' | 'html' | 'annotations' | 'sarif' | 'json';

/** What `render` takes. */
export interface RenderOptions {
  /** The format. */
  readonly format: RenderFormat;
  /** Whether a plan is worded as drift. Default: false. */
  readonly drift?: boolean | undefined;
  /** The most bytes of Markdown; of a longer text the least important parts are left out. Default: a comment on GitHub. */
  readonly limit?: number | undefined;
}

/** The renderers of each kind of document, by format: one that a kind does not have is an error of use. */
const RENDERERS: {
  readonly [Kind in RenderedDocument['kind']]: Partial<
    Readonly<
      Record<
        Exclude<RenderFormat, 'json'>,
        (
          document: Extract<RenderedDocument, { readonly kind: Kind }>,
          options: RenderOptions,
        ) => Promise<string>
      >
    >
  >;
} = {
  plan: {
    text: async (document, { drift }) =>
      (await texts()).planText(document, WHOLE, drift === true ? 'drift' : 'plan'),
    markdown: async (document, { drift, limit }) => {
      const { driftMarkdown, planMarkdown } = await markdowns();
      return (drift === true ? driftMarkdown : planMarkdown)(document, limit);
    },
    html: async (document, { drift }) => {
      const { driftHtml, planHtml } = await pages();
      return (drift === true ? driftHtml : planHtml)(document);
    },
    annotations: async (document, { drift }) => {
      const { driftAnnotations, planAnnotations } = await annotations();
      return (drift === true ? driftAnnotations : planAnnotations)(document);
    },
  },
  outcome: {
    text: async (document) => (await texts()).outcomeText(document, WHOLE),
    markdown: async (document, { limit }) => (await markdowns()).outcomeMarkdown(document, limit),
    html: async (document) => (await pages()).outcomeHtml(document),
    annotations: async (document) => (await annotations()).outcomeAnnotations(document),
  },
  validation: {
    text: async ({ diagnostics }) => {
      const { diagnosticsText } = await import('../render/error-text.ts');
      return diagnosticsText(
        diagnostics.map((one) => ({ ...one, excerpt: null })),
        WHOLE,
      );
    },
    markdown: async (document) => (await markdowns()).validationMarkdown(document),
    html: async (document) => (await pages()).validationHtml(document),
    annotations: async (document) => (await annotations()).validationAnnotations(document),
    sarif: async (document) => (await import('../render/sarif.ts')).validationSarif(document),
  },
  observed: {
    text: async (document) =>
      (await import('../render/observed-text.ts')).formatObserved(document, WHOLE),
  },
  pull: {
    text: async (document) =>
      (await import('../render/pulled-text.ts')).formatPulled(document, WHOLE),
  },
  init: {
    text: async (document) => (await import('../render/pulled-text.ts')).initText(document, WHOLE),
  },
  explanation: {
    text: async (document) =>
      (await import('../render/explain-text.ts')).explainText(document, WHOLE),
  },
  health: {
    text: async (document) =>
      (await import('../render/doctor-text.ts')).doctorText(document, WHOLE),
  },
  smoke: {
    text: async (document) => (await import('../render/smoke-text.ts')).smokeText(document, WHOLE),
  },
};

const texts = () => import('../render/section-text.ts');
const markdowns = () => import('../render/markdown/comments.ts');
const pages = () => import('../render/html/pages.ts');
const annotations = () => import('../render/github/annotations.ts');

/** Text without colours, of any width, with nothing shortened. */
const WHOLE = { color: false, width: null, verbose: true };

/**
 * Renders a document. Text of files, services and branches is inert in every format: it is no markup, no mention, no workflow
 * command and no control character. Throws a SetpointError if the document has no such format.
 */
export async function render(document: RenderedDocument, options: RenderOptions): Promise<string> {
  const { format } = options;
  if (format === 'json') return (await import('../render/json.ts')).renderJson(document);
  const kinds: Readonly<Record<string, Readonly<Record<string, unknown>>>> = RENDERERS;
  const kind: string = document?.kind;
  if (!Object.hasOwn(kinds, kind))
    throw usageError('render() takes a document that a function of setpoint returned.');
  const formats = kinds[kind] ?? {};
  const renderer = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (renderer === undefined) {
    const names = namesListed([...Object.keys(formats), 'json']);
    throw usageError(`render(): this document has no format ${format}.`, `It has: ${names}.`);
  }
  return (renderer as (document: RenderedDocument, options: RenderOptions) => Promise<string>)(
    document,
    options,
  );
}
