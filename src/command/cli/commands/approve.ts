import { approvalKey, createApproval } from '../../../reconciler/host/approvals.ts';
import { SYSTEM_CLOCK } from '../../../reconciler/host/this-process.ts';
import { SetpointError, usageError } from '../../../reconciler/model/error.ts';
import type { PlanDocument } from '../../../reconciler/model/plan.ts';
import { namesListed } from '../../../reconciler/model/wording.ts';
import { readSaved } from '../../../reconciler/operations/saved-document.ts';
import { planText } from '../../../reconciler/render/section-text.ts';
import { visible } from '../../../reconciler/render/text.ts';
import { confirmWith } from '../confirm.ts';
import type { Flags } from '../command-table.ts';
import { DEFAULT_DATA, parseUntilFlag } from '../flags.ts';
import { styleFor, writeText, type Io } from '../io.ts';
import { reportFailure } from '../reporter.ts';

const HOUR = 3_600_000;
const LONGEST = 7 * 24 * HOUR;

/** `setpoint approve PLAN.json`: shows the plan, asks on a terminal, and signs an approval of exactly that plan. */
export async function approveCommand(flags: Flags<'approve'>, io: Io, path = ''): Promise<number> {
  try {
    approvalKey(io.env);
    const plan = await readSaved(path, ['plan']);
    refuseIncomplete(plan);
    const now = SYSTEM_CLOCK.now();
    const lifetime =
      flags.until === undefined ? HOUR : Date.parse(parseUntilFlag(flags.until, now)) - now;
    if (lifetime > LONGEST)
      throw usageError('An approval lasts 7 days at most.', 'Approve it again when it is needed.');
    const ask = confirmWith(io, (names) => `Approve these changes to ${names}, for one apply?`);
    if (ask === null)
      throw new SetpointError(
        'confirmation-needed',
        'Not approved: only a person approves, and there is no terminal to ask on.',
        { hint: 'Run it on a terminal.' },
      );
    const style = styleFor(io.stdout, io.env, {
      noColor: flags.color === false,
      verbose: flags.verbose === true,
    });
    await writeText(io.stdout, `${planText(plan, style, 'plan')}\n`);
    const names = plan.environments.map(
      ({ name, origin }) => `${name} (${origin ?? 'no address'})`,
    );
    if (!(await ask(namesListed(names))))
      throw new SetpointError('declined', 'Not approved.', { hint: 'Nothing was written.' });
    const data = flags.data ?? DEFAULT_DATA;
    const approval = await createApproval(data, plan, { now, lifetime, env: io.env });
    await writeText(
      io.stdout,
      `Approved for one apply until ${approval.expires_at}: ${visible(approval.name)}\nGive this name to the agent.\n`,
    );
    return 0;
  } catch (thrown) {
    return reportFailure(thrown, {}, io);
  }
}

/** Throws if a plan cannot be applied: there is nothing to approve then. */
function refuseIncomplete({ environments, salt }: PlanDocument): void {
  const failed = environments.find(
    ({ status, refusals }) => status === 'error' || refusals.length > 0,
  );
  if (failed !== undefined)
    throw usageError(
      `The plan of ${visible(failed.name)} cannot be applied: it failed, or a guard refuses it.`,
      'Plan again without it.',
    );
  if (environments.every(({ changes }) => changes.length === 0))
    throw usageError('The plan has no changes.', 'There is nothing to approve.');
  if (salt === null)
    throw new SetpointError(
      'not-covered',
      'The saved plan does not record which address and which masked values it was made for.',
      { hint: 'Plan again with setpoint plan --out FILE, and approve that plan.' },
    );
}
