import type { Diagnostic } from '../model/diagnostic.ts';
import {
  type Check,
  failedCheck,
  type MachineCheck,
  passedCheck,
  warnedCheck,
} from '../model/doctor.ts';
import { ERRORS, SetpointError } from '../model/error.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import { reported } from '../model/diagnostic.ts';
import type { ValidationDocument } from '../model/documents.gen.ts';
import { namesListed } from '../model/wording.ts';
import type { Loaded } from '../desired/target.ts';
import { filesOf, loadTargets, unreadable } from './load.ts';
import { DEFAULT_FILE, type Options } from './options.ts';
import { defaultFiles } from './files-beside.ts';
import { chosenTargets } from './select.ts';
import { unknownCommands } from './unknown-commands.ts';

/** Checks the files offline: schema, form of references, rules across fields. Variables are not read. */
export async function validate(options: Options): Promise<ValidationDocument> {
  return validationDocument(targetsAndProblems(options).diagnostics);
}

/** The problems in the files, and the environments that were found, or those that are named. An unreadable file is a problem, too. */
export function targetsAndProblems(options: Options): Pick<Loaded, 'targets' | 'diagnostics'> {
  try {
    const loaded = loadTargets(options);
    if (loaded.targets.length === 0) return loaded;
    const targets = chosenTargets(loaded.targets, options);
    const unknown = unknownCommands(targets, options.env);
    return { targets, diagnostics: [...loaded.diagnostics, ...unknown] };
  } catch (thrown) {
    if (!(thrown instanceof SetpointError) || thrown.code !== 'file-unreadable') throw thrown;
    const [file = DEFAULT_FILE] = [options.file ?? defaultFiles()].flat();
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

/** Whether the settings files are valid, with the first problem; `setpoint validate` shows all of them. */
export function checkFiles(options: Options): Check<MachineCheck> {
  const { targets, diagnostics } = targetsAndProblems(options);
  const files = filesOf(options);
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first !== undefined) {
    const { file, line, column, message, hint } = first;
    const others = errors.length === 1 ? '' : ` (the first of ${errors.length} problems)`;
    return failedCheck('file', {
      code: 'settings-invalid',
      message: `${file}:${line}:${column}: ${message}${others}`,
      hint: errors.length === 1 ? hint : `${hint} ${ERRORS['settings-invalid'].hint}`,
    });
  }
  const verb = files.length === 1 ? 'is' : 'are';
  const names = `${namesListed(files)} ${verb} valid, for ${namesListed(targets.map(({ name }) => name))}`;
  const [warning] = diagnostics;
  return warning === undefined
    ? passedCheck('file', names)
    : warnedCheck('file', `${names}; ${warning.message}`, warning.hint);
}
