import { usageError } from '../../model/error.ts';
import { readPackageFile } from '../../host/package-file.ts';
import { choicesHint } from '../../model/wording.ts';
import type { Flags } from '../command-table.ts';
import { write, type Io } from '../io.ts';
import { reportFailure } from '../reporter.ts';
import { SCHEMAS } from '../words.ts';

/** `setpoint schema`: prints a schema as it is published. */
export async function schemaCommand(
  flags: Flags<'schema'>,
  io: Io,
  name = 'settings',
): Promise<number> {
  try {
    const schema = SCHEMAS.find((known) => known === name);
    if (schema === undefined)
      throw usageError('No schema of that name.', choicesHint(name, SCHEMAS));
    await write(io.stdout, await readPackageFile(`schemas/${schema}.schema.json`));
    return 0;
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}
