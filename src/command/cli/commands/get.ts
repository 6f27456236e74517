import { NAMED_SETTINGS } from '../../../reconciler/desired/named-settings.ts';
import { usageError } from '../../../reconciler/model/error.ts';
import {
  OBSERVABLE,
  resolveResourceName,
  PROFILES,
  type Resource,
} from '../../../reconciler/model/observed.ts';
import { choicesHint } from '../../../reconciler/model/wording.ts';
import { get } from '../../../reconciler/operations/get.ts';
import { formatObserved } from '../../../reconciler/render/observed-text.ts';
import { visible } from '../../../reconciler/render/text.ts';
import type { Flags } from '../command-table.ts';
import { hasJsonOutput, parseOperationOptions } from '../flags.ts';
import type { Io } from '../io.ts';
import { progressView, startingView } from '../progress-view.ts';
import { conclude, reportFailure, reporterFor } from '../reporter.ts';

/** `setpoint get WHAT`: what each service has, masked. */
export async function getCommand(flags: Flags<'get'>, io: Io, what = ''): Promise<number> {
  try {
    const resources = [...new Set(what.split(',').flatMap(resourcesNamed))];
    const reporter = reporterFor(flags, io);
    const options = parseOperationOptions(flags, io);
    const progress = progressView(io);
    const onStarting = startingView(io, progress, flags.quiet === true);
    const digests = hasJsonOutput(flags);
    const document = await get({ ...options, resources, digests, onStarting }).finally(
      progress.end,
    );
    const written = await reporter.data(document, (style) => formatObserved(document, style));
    return await conclude(reporter, document.environments, written);
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

function resourcesNamed(text: string): readonly Resource[] {
  const resources = resolveResourceName(text.trim());
  if (resources.length > 0) return resources;
  const isOfSettings = NAMED_SETTINGS.some((block) => block === text.trim());
  throw usageError(
    `get does not know ${visible(JSON.stringify(text.trim()))}.`,
    isOfSettings
      ? 'A service keeps them in its settings: setpoint get settings.'
      : choicesHint(text, [...OBSERVABLE, PROFILES]),
  );
}
