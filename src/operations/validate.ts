import { FORMAT_VERSION } from '../model/plan.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { reported, type ValidationDocument } from '../model/validation.ts';
import { loadTargets } from './load.ts';
import type { Options } from './options.ts';

/** Checks the files, offline: schema, form of references, rules across fields. Variables are not looked up. */
export async function validate(options: Options): Promise<ValidationDocument> {
  return validationDocument((await loadTargets(options)).diagnostics);
}

export function validationDocument(diagnostics: readonly Diagnostic[]): ValidationDocument {
  return {
    format_version: FORMAT_VERSION,
    kind: 'validation',
    valid: !diagnostics.some(({ severity }) => severity === 'error'),
    diagnostics: diagnostics.map(reported),
  };
}
