import { usageError } from '../../../reconciler/model/error.ts';
import { readPackageFile } from '../../../reconciler/host/read-text.ts';
import { choicesHint } from '../../../reconciler/model/wording.ts';
import type { PulledSchemas } from '../../../reconciler/model/pulled.ts';
import { formatPulledSchema } from '../../../reconciler/render/pulled-schema-text.ts';
import type { Flags } from '../command-table.ts';
import { writeText, type Io } from '../io.ts';
import { conclude, reporterFor, reportFailure } from '../reporter.ts';
import { SCHEMAS } from '../words.ts';

/** `setpoint schema`: prints a published schema; `setpoint schema pull` writes the additional schemas of servers. */
export async function schemaCommand(
  flags: Flags<'schema'>,
  io: Io,
  name = 'settings',
): Promise<number> {
  try {
    if (name === 'pull') return await pullLock(flags, io);
    const { file, env, selector, server } = flags;
    if ([file, env, selector, server].some((value) => value !== undefined))
      throw usageError('Only setpoint schema pull takes -f, -e, -l and --server.');
    const schema = name === PULLED ? 'pull' : SCHEMAS.find((known) => known === name);
    if (schema === undefined)
      throw usageError('No schema of that name.', choicesHint(name, [...SCHEMAS, PULLED]));
    await writeText(io.stdout, readPackageFile(`schemas/${schema}.schema.json`));
    return 0;
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

/** The schema of what `setpoint pull` prints: `schema pull` is about servers. */
const PULLED = 'pulled';

async function pullLock(flags: Flags<'schema'>, io: Io): Promise<number> {
  const { pullSchema } = await import('../../../reconciler/operations/pull-schema.ts');
  const { parseOperationOptions: optionsFrom } = await import('../flags.ts');
  const reporter = reporterFor<PulledSchemas>(flags, io);
  const document = await pullSchema(optionsFrom(flags, io));
  const written = await reporter.data(document, (style) => formatPulledSchema(document, style));
  return conclude(reporter, document.environments, written);
}
