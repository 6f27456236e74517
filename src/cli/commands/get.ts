import '../quick-end.ts';
import { didYouMean } from '../../model/suggest.ts';
import { getSettings } from '../../operations/get-settings.ts';
import { settingsText } from '../../render/settings-text.ts';
import { exitCodeOf, worstExitCode } from '../exit-code.ts';
import { optionsFrom, usage, type Flags } from '../flags.ts';
import type { Io } from '../io.ts';
import { reporterFor, reportFailure } from '../reporter.ts';

const RESOURCES = ['settings'];

/** `setpoint get settings`: what each service has, masked. */
export async function getCommand(flags: Flags, io: Io, what = ''): Promise<number> {
  try {
    if (!RESOURCES.includes(what))
      throw usage('get takes what to show.', didYouMean(what, RESOURCES) || 'There is settings.');
    const reporter = reporterFor(flags, io);
    const document = await getSettings(optionsFrom(flags, io, 'reads'));
    const written = await reporter.data(document, (style) => settingsText(document, style));
    for (const { name, error } of document.environments) {
      if (error !== null) await reporter.error(error, name);
    }
    return worstExitCode([written, ...document.environments.map(({ error }) => exitCodeOf(error))]);
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}
