import { effectiveFile, effectiveValues } from '../desired/effective.ts';
import type { Effective } from '../model/effective.ts';
import { SetpointError } from '../model/error.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import { redactDocument } from '../model/redacted.ts';
import { Redactor } from '../model/redactor.ts';
import { namesListed } from '../model/wording.ts';
import { TOOL } from '../model/version.ts';
import type { Options } from './options.ts';
import { selectTargets } from './select.ts';

/** All blocks of one environment merged, each value with its origin. Offline: no variable is read, nothing is sent. */
export async function effective(options: Options): Promise<Effective> {
  const targets = selectTargets({ ...options, server: undefined });
  const [target] = targets;
  if (target === undefined || targets.length > 1) {
    throw new SetpointError(
      'usage',
      `There are ${targets.length} environments, and an effective file is that of one.`,
      { hint: `Choose one with -e: ${namesListed(targets.map(({ name }) => name))}.` },
    );
  }
  return {
    file: effectiveFile(target),
    document: redactDocument(
      {
        format_version: FORMAT_VERSION,
        kind: 'effective',
        tool: TOOL,
        name: target.name,
        values: effectiveValues(target),
      },
      new Redactor(),
    ),
  };
}
