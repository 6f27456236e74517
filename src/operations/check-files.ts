import {
  failedCheck,
  passedCheck,
  warnedCheck,
  type Check,
  type MachineCheck,
} from '../model/doctor.ts';
import { ERRORS } from '../model/error.ts';
import { DEFAULT_FILE, type Options } from './options.ts';
import { check } from './validate.ts';

/** Whether the settings files are right; the first problem is told, validate tells them all. */
export function checkFiles(options: Options): Check<MachineCheck> {
  const { targets, diagnostics } = check(options);
  const files = [options.file ?? DEFAULT_FILE].flat();
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
  const names = `${files.join(', ')} ${verb} valid, for ${targets.map(({ name }) => name).join(', ')}`;
  const [warning] = diagnostics;
  return warning === undefined
    ? passedCheck('file', names)
    : warnedCheck('file', `${names}; ${warning.message}`, warning.hint);
}
