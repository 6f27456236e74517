import { SetpointError } from '../../../reconciler/model/error.ts';
import { smoke } from '../../../reconciler/operations/smoke.ts';
import { smokeText } from '../../../reconciler/render/smoke-text.ts';
import { confirmWith } from '../confirm.ts';
import type { Flags } from '../command-table.ts';
import { parseOperationOptions } from '../flags.ts';
import type { Io } from '../io.ts';
import { progressView, startingView } from '../progress-view.ts';
import { conclude, reportFailure, reporterFor } from '../reporter.ts';

const COST =
  'A smoke test starts a conversation: it costs a model call. The conversation and the sandbox started for it are removed afterwards.';

/** `setpoint smoke`: starts a conversation and shows every step; success means that one can start, no more. */
export async function smokeCommand(flags: Flags<'smoke'>, io: Io): Promise<number> {
  try {
    const reporter = reporterFor(flags, io);
    const ask =
      flags.yes === true ? null : confirmWith(io, (target) => `Start a conversation on ${target}?`);
    if (flags.yes !== true && ask === null) {
      throw new SetpointError(
        'confirmation-needed',
        `No conversation was started: there is no terminal for the confirmation, and --yes is not set. ${COST}`,
        { hint: 'If this is intended, run it with --yes.' },
      );
    }
    const progress = progressView(io);
    const document = await smoke({
      ...parseOperationOptions(flags, io),
      all: flags.all,
      confirm:
        ask === null
          ? undefined
          : async (target) => {
              await reporter.words(() => `${COST}\n`);
              return ask(target);
            },
      onStep: (target, { status }) => {
        const done = status === 'READY' || status === 'ERROR';
        if (flags.quiet !== true)
          progress.update(target, [{ name: 'starting a conversation', status, done }]);
      },
      onStarting: startingView(io, progress, flags.quiet === true),
      abandon: io.abandon,
    }).finally(progress.end);
    const written = await reporter.data(document, (style) => smokeText(document, style));
    return await conclude(reporter, document.environments, written);
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}
