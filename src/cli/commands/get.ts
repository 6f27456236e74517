import '../quick-end.ts';
import { didYouMean } from '../../model/suggest.ts';
import { getSettings } from '../../operations/get-settings.ts';
import { settingsText } from '../../render/settings-text.ts';
import { conclude } from '../conclude.ts';
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
    return await conclude(reporter, document.environments, written);
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}
