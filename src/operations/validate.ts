import { SetpointError } from '../model/error.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { reported, type ValidationDocument } from '../model/validation.ts';
import { loadTargets, unreadable, type Loaded } from './load.ts';
import { DEFAULT_FILE, type Options } from './options.ts';
import { targetNamed } from './select.ts';

/** Checks the files, offline: schema, form of references, rules across fields. Variables are not looked up. */
export async function validate(options: Options): Promise<ValidationDocument> {
  return validationDocument(check(options).diagnostics);
}

/** The same with the targets that were found, or those of them that are named. A file that cannot be read is a problem like any other. */
export function check(options: Options): Loaded {
  try {
    const loaded = loadTargets(options);
    if (options.targets === undefined || loaded.targets.length === 0) return loaded;
    const targets = options.targets.map((name) =>
      targetNamed(name, loaded.targets, options.targetsFrom),
    );
    return { ...loaded, targets };
  } catch (thrown) {
    if (!(thrown instanceof SetpointError) || thrown.code !== 'file-unreadable') throw thrown;
    const [file = DEFAULT_FILE] = [options.file ?? DEFAULT_FILE].flat();
    return { targets: [], diagnostics: [unreadable(file, thrown.message, thrown.hint)] };
  }
}

export function validationDocument(diagnostics: readonly Diagnostic[]): ValidationDocument {
  return {
    format_version: FORMAT_VERSION,
    kind: 'validation',
    valid: !diagnostics.some(({ severity }) => severity === 'error'),
    diagnostics: diagnostics.map(reported),
  };
}
