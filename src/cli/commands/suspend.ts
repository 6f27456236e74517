import { usageError } from '../../model/error.ts';
import type { JournalEvent, Suspension } from '../../model/watch.ts';
import { namesListed } from '../../model/wording.ts';
import { SYSTEM_CLOCK } from '../../host/system-clock.ts';
import { visible } from '../../render/visible.ts';
import { Journal } from '../../watch/journal/journal.ts';
import { SuspensionFile } from '../../watch/suspension-file.ts';
import { chosenNames } from '../../watch/known-names.ts';
import type { Flags } from '../command-table.ts';
import { namesIn, untilOf } from '../flags.ts';
import { write, type Io } from '../io.ts';
import { reportFailure } from '../reporter.ts';
import { DEFAULT_DATA } from '../watch-log.ts';

/** `setpoint suspend`: a running controller follows within seconds. */
export async function suspendCommand(flags: Flags<'suspend'>, io: Io): Promise<number> {
  try {
    const now = SYSTEM_CLOCK.now();
    const { reason = '' } = flags;
    if (reason.trim() === '')
      throw usageError('A suspension needs a reason.', 'Add --reason "…": others will read it.');
    const until = flags.until === undefined ? null : untilOf(flags.until, now);
    const suspension = { at: new Date(now).toISOString(), reason, until };
    return await change(
      flags,
      io,
      suspension,
      until === null ? 'until it is resumed' : `until ${until}`,
    );
  } catch (thrown) {
    return reportFailure(thrown, {}, io);
  }
}

/** `setpoint resume`: also lets a controller heal again that had stopped healing. */
export async function resumeCommand(flags: Flags<'resume'>, io: Io): Promise<number> {
  try {
    return await change(flags, io, null, '');
  } catch (thrown) {
    return reportFailure(thrown, {}, io);
  }
}

async function change(
  flags: Flags<'resume'>,
  io: Io,
  suspension: Suspension | null,
  until: string,
): Promise<number> {
  const asked = namesIn(flags.env) ?? [];
  if (asked.length === 0) throw usageError('Which environment?', 'Name it with -e.');
  const data = flags.data ?? DEFAULT_DATA;
  const { names, unknown, hint } = await chosenNames(data, asked);
  const now = SYSTEM_CLOCK.now();
  const journal = new Journal(data, () => now);
  const events = names.map((environment): JournalEvent =>
    suspension === null
      ? { kind: 'resumed', environment }
      : { kind: 'suspended', environment, reason: suspension.reason, until: suspension.until },
  );
  const keep = (): Promise<unknown> => Promise.all(events.map((event) => journal.append(event)));
  // Nothing is healed that should not be, also if the journal cannot be written.
  if (suspension === null) await keep();
  await new SuspensionFile(data).change(names, suspension, now);
  if (suspension !== null) await keep();
  const listed = visible(namesListed(names));
  const done = suspension === null ? `Resumed ${listed}.` : `Suspended ${listed} ${until}.`;
  if (flags.quiet !== true) await write(io.stdout, `${done}\n`);
  if (unknown.length > 0) {
    const about = `No controller of ${data} has read ${namesListed(unknown)} yet.`;
    await write(io.stderr, `setpoint: ${visible(about)}\n  ${visible(hint)}\n`);
  }
  return 0;
}
