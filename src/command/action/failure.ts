import { failureComment } from '../github/comments-of.ts';
import {
  type FailureDocument,
  asSetpointError,
  type SetpointError,
} from '../../reconciler/model/error.ts';
import { toReportedDiagnostic } from '../../reconciler/model/diagnostic.ts';
import { InvalidSettings } from '../../reconciler/operations/invalid-settings.ts';
import { diagnosticsText, errorText } from '../../reconciler/render/error-text.ts';
import { failureAnnotations } from '../../reconciler/render/github/annotations.ts';
import { failureMarkdown } from '../../reconciler/render/markdown/comments.ts';
import { PLAIN } from '../../reconciler/render/text.ts';
import { inInputs, problemsInInputs, type Inputs } from './inputs.ts';
import { createStepResult, type StepResult, type StepContext } from './report.ts';
import { failureAtRoot } from './workspace-paths.ts';

/** The result of a command that could not begin. That of a plan is also a comment: the other comments are outdated then. */
export function failureResult(
  thrown: unknown,
  inputs: Inputs | null,
  commit: StepContext['commit'],
): StepResult {
  const error = inWordsOfInputs(asSetpointError(thrown));
  const document = failureDocument(error);
  const planning = inputs?.command === 'plan';
  return createStepResult({
    code: error.exitCode,
    text: `${formatDiagnosticLines(error)}${errorText(error, PLAIN)}`,
    annotations: failureAnnotations(failureAtRoot(document)),
    summary: failureMarkdown(document),
    comments: planning ? [failureComment(document, inputs.environments ?? [], commit)] : [],
  });
}

/** An error of an operation names flags; a step has inputs. */
function inWordsOfInputs(error: SetpointError): SetpointError {
  const { message, hint } = error;
  Object.assign(error, { message: inInputs(message), hint: inInputs(hint) });
  if (error instanceof InvalidSettings)
    Object.assign(error, { diagnostics: problemsInInputs(error.diagnostics) });
  return error;
}

function failureDocument(error: SetpointError): FailureDocument {
  const { code, message, hint } = error;
  const listed =
    error instanceof InvalidSettings
      ? { diagnostics: error.diagnostics.map(toReportedDiagnostic) }
      : {};
  return { error: { code, message, hint, ...listed } };
}

function formatDiagnosticLines(error: SetpointError): string {
  return error instanceof InvalidSettings ? `${diagnosticsText(error.diagnostics, PLAIN)}\n` : '';
}
