import '../../host/quick-end.ts';
import { SetpointError } from '../../model/error.ts';
import { smoke } from '../../operations/smoke.ts';
import { smokeText } from '../../render/smoke-text.ts';
import { conclude } from '../conclude.ts';
import { confirmWith } from '../confirm.ts';
import { optionsFrom, type Flags } from '../flags.ts';
import type { Io } from '../io.ts';
import { progressView } from '../progress-view.ts';
import { reporterFor, reportFailure } from '../reporter.ts';

const COST =
  'This starts a conversation: it costs a call to the model, and leaves a conversation and a sandbox behind.';

/** `setpoint smoke`: starts a conversation, shows every step, and claims no more than that one can start. */
export async function smokeCommand(flags: Flags, io: Io): Promise<number> {
  try {
    const reporter = reporterFor(flags, io);
    const ask = flags.yes === true ? null : confirmWith(io, (target) => `Start one on ${target}?`);
    if (flags.yes !== true && ask === null) {
      throw new SetpointError(
        'confirmation-needed',
        `There is no terminal to ask on, and --yes is not given. ${COST}`,
        { hint: 'If that is intended, run it with --yes.' },
      );
    }
    const progress = progressView(io.stderr);
    const document = await smoke({
      ...optionsFrom(flags, io, 'writes'),
      all: flags.all,
      message: flags.message,
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
      abandon: io.abandon,
    }).finally(progress.end);
    const written = await reporter.data(document, (style) => smokeText(document, style));
    return await conclude(reporter, document.environments, written);
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}
