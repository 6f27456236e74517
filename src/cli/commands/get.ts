import '../../host/quick-end.ts';
import { RESOURCES, type Resource } from '../../model/observed.ts';
import { choicesHint } from '../../model/suggest.ts';
import { get } from '../../operations/get.ts';
import { observedText } from '../../render/observed-text.ts';
import { conclude } from '../conclude.ts';
import { asksForJson, optionsFrom, usage, type Flags } from '../flags.ts';
import type { Io } from '../io.ts';
import { reporterFor, reportFailure } from '../reporter.ts';

/** `setpoint get settings,sandboxes`: what each service has, masked. */
export async function getCommand(flags: Flags, io: Io, what = ''): Promise<number> {
  try {
    const resources = [...new Set(what.split(',').map(resourceNamed))];
    const reporter = reporterFor(flags, io);
    const options = optionsFrom(flags, io, 'reads');
    const document = await get({ ...options, resources, digests: asksForJson(flags, io.env) });
    const written = await reporter.data(document, (style) => observedText(document, style));
    return await conclude(reporter, document.environments, written);
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

function resourceNamed(text: string): Resource {
  const resource = RESOURCES.find((known) => known === text.trim());
  if (resource !== undefined) return resource;
  throw usage('get takes what to show, comma-separated.', choicesHint(text, RESOURCES));
}
