import { choicesHint } from '../../model/suggest.ts';
import { readPackageFile } from '../../host/package-file.ts';
import { usage, type Flags } from '../flags.ts';
import type { Io } from '../io.ts';
import { reportFailure, write } from '../reporter.ts';

export const SCHEMAS = [
  'settings',
  'plan',
  'outcome',
  'validation',
  'observed',
  'smoke',
  'explain',
  'doctor',
  'pull',
  'init',
];

/** `setpoint schema`: prints a schema as it is published. */
export async function schemaCommand(flags: Flags, io: Io, name = 'settings'): Promise<number> {
  try {
    if (!SCHEMAS.includes(name)) {
      throw usage('No schema of that name.', choicesHint(name, SCHEMAS));
    }
    await write(io.stdout, await readPackageFile(`schemas/${name}.schema.json`));
    return 0;
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}
