import type { Diagnostic } from '../model/diagnostic.ts';
import { SetpointError } from '../model/error.ts';
import { formatCount } from '../model/wording.ts';

/** Settings files with problems, all of them. */
export class InvalidSettings extends SetpointError {
  /** Its name, in traces. */
  static override readonly name = 'InvalidSettings';
  /** Every problem, also those that are only warnings. */
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
    super('settings-invalid', `The settings have ${formatCount(errors, 'problem')}.`);
    this.diagnostics = diagnostics;
  }
}
