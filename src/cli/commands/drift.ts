import type { Flags } from '../flags.ts';
import type { Io } from '../io.ts';
import { look } from './plan.ts';

/** `setpoint drift`: exit 2 where the service is not what the file says; with --strict also where that is not known. */
export async function driftCommand(flags: Flags, io: Io): Promise<number> {
  const strict = flags.strict === true;
  return look(flags, io, {
    voice: strict ? 'strict drift' : 'drift',
    mode: 'reads',
    codeOf: ({ status, unknown }) =>
      status === 'differs' || (strict && unknown.length > 0) ? 2 : 0,
  });
}
