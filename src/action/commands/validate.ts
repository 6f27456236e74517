import { commentsOf } from '../../github/comments-of.ts';
import { check, validationDocument } from '../../operations/validate.ts';
import { diagnosticsText } from '../../render/diagnostics-text.ts';
import { validationAnnotations } from '../../render/github/validation-annotations.ts';
import type { Inputs } from '../inputs.ts';
import { PLAIN } from '../log.ts';
import type { Result, Setting } from '../result.ts';
import { validationAtRoot } from '../workspace-paths.ts';

/** Checks the files, offline. */
export function validateStep(inputs: Inputs, { env, commit }: Setting): Result {
  const { diagnostics, targets } = check({ file: inputs.files, env });
  const document = validationDocument(diagnostics);
  const comments = commentsOf(document, commit);
  const names = targets.map(({ name }) => name).join(', ');
  return {
    code: document.valid ? 0 : 3,
    text: `${diagnosticsText(diagnostics, PLAIN)}${document.valid ? `Valid: ${names}.\n` : ''}`,
    annotations: validationAnnotations(validationAtRoot(document)),
    sections: comments,
    comments,
    changes: 0,
    planPath: null,
    drift: null,
  };
}
