import type { Flags } from '../flags.ts';
import type { Io } from '../io.ts';
import { look } from './plan.ts';

/** `setpoint drift`: exit 2 where the service is not what the file says; with --strict also where that is not known. */
export async function driftCommand(flags: Flags, io: Io): Promise<number> {
  return look(flags, io, 'drift', (status, { unknown }) =>
    status === 'differs' || (flags.strict === true && unknown.length > 0) ? 2 : 0,
  );
}
