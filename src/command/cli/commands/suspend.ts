import { usageError } from '../../../reconciler/model/error.ts';
import type { JournalEvent } from '../../../reconciler/model/watch.ts';
import { nameGiven } from '../../../controller/watch/watching.ts';
import { namesListed } from '../../../reconciler/model/wording.ts';
import { runInfo, SYSTEM_CLOCK } from '../../../reconciler/host/this-process.ts';
import { visible } from '../../../reconciler/render/text.ts';
import { Journal } from '../../../controller/watch/journal/journal.ts';
import { SuspensionFile } from '../../../controller/watch/suspension-file.ts';
import { namesToChange } from '../../../controller/watch/data-folder.ts';
import type { Flags } from '../command-table.ts';
import { environmentsNamed, parseUntilFlag, DEFAULT_DATA } from '../flags.ts';
import { writeText, type Io } from '../io.ts';
import { reportFailure } from '../reporter.ts';

/** `setpoint suspend`: a running controller follows within seconds. */
export async function suspendCommand(
  flags: Flags<'suspend'>,
  io: Io,
  reason = '',
): Promise<number> {
  try {
    const now = SYSTEM_CLOCK.now();
    const { force = false } = flags;
    if (reason.trim() === '')
      throw usageError(
        'A suspension needs a reason.',
        'Write it as the argument: others will read it.',
      );
    const until = flags.until === undefined ? null : parseUntilFlag(flags.until, now);
    const who = resolveCommandActor(flags, io);
    const data = flags.data ?? DEFAULT_DATA;
    const also = ' Add --force to suspend one that no controller has read.';
    const { names, unknown, hint } = await namesToChange(data, environmentsGiven(flags), {
      force,
      also,
    });
    // Nothing is healed that should not be, also if the journal cannot be written.
    const what = { reason, until, ...who };
    await new SuspensionFile(data).change(names, { at: new Date(now).toISOString(), ...what }, now);
    await keepRecords(data, now, names, (environment) => ({
      kind: 'suspended',
      environment,
      ...what,
    }));
    const end = until === null ? 'until it is resumed' : `until ${until}`;
    await say(flags, io, `Suspended ${namesListed(names)} ${end}.`);
    if (unknown.length > 0) {
      const about = `No controller of ${data} has read ${namesListed(unknown)} yet.`;
      await writeText(io.stderr, `setpoint: ${visible(about)}\n  ${visible(hint)}\n`);
    }
    return 0;
  } catch (thrown) {
    return reportFailure(thrown, {}, io);
  }
}

/** `setpoint resume`: also lets a controller heal again that had stopped healing. */
export async function resumeCommand(flags: Flags<'resume'>, io: Io): Promise<number> {
  try {
    const now = SYSTEM_CLOCK.now();
    const data = flags.data ?? DEFAULT_DATA;
    const who = resolveCommandActor(flags, io);
    const chosen = await namesToChange(data, environmentsGiven(flags), { force: false, also: '' });
    const { names, resumable } = chosen;
    if (resumable.length > 0) {
      await keepRecords(data, now, resumable, (environment) => ({
        kind: 'resumed',
        environment,
        ...who,
      }));
      await new SuspensionFile(data).change(resumable, null, now, who.by);
      await say(flags, io, `Resumed ${namesListed(resumable)}.`);
    }
    const others = names.filter((name) => !resumable.includes(name));
    if (others.length > 0) {
      const verb = others.length === 1 ? 'is' : 'are';
      await say(flags, io, `${namesListed(others)} ${verb} not suspended; nothing to resume.`);
    }
    return 0;
  } catch (thrown) {
    return reportFailure(thrown, {}, io);
  }
}

/** Returns the actor as the page and the history show it. Throws a usage error. */
function resolveCommandActor(
  { by }: Pick<Flags<'resume'>, 'by'>,
  { env }: Io,
): { readonly by?: string } {
  const name = nameGiven(by ?? runInfo(env).actor);
  return name === '' ? {} : { by: name };
}

function environmentsGiven(flags: Pick<Flags<'resume'>, 'env'>): readonly string[] {
  const names = environmentsNamed(flags.env) ?? [];
  if (names.length === 0) throw usageError('Which environment?', 'Name it with -e.');
  return names;
}

async function keepRecords(
  data: string,
  now: number,
  names: readonly string[],
  event: (environment: string) => JournalEvent,
): Promise<void> {
  const journal = new Journal(data, () => now);
  await Promise.all(names.map((name) => journal.append(event(name))));
}

async function say({ quiet }: Pick<Flags<'resume'>, 'quiet'>, io: Io, text: string): Promise<void> {
  if (quiet !== true) await writeText(io.stdout, `${visible(text)}\n`);
}
