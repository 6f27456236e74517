import { watchToken } from '../../../controller/page/listen-options.ts';
import { createRememberedReport, createWatchedDocument } from '../../../controller/page/api.ts';
import { isOfFilter, isAttentionDue, worstFirst } from '../../../controller/page/listing.ts';
import { readRememberedStates } from '../../../controller/watch/data-folder.ts';
import type {
  EnvironmentWatched,
  WatchedDocument,
} from '../../../reconciler/model/documents.gen.ts';
import { usageError } from '../../../reconciler/model/error.ts';
import { isGlobMatch } from '../../../reconciler/model/matcher.ts';
import { parseSelector, selects } from '../../../reconciler/model/selector.ts';
import { isStateFilter, STATE_FILTERS } from '../../../reconciler/model/verdict.ts';
import { choicesHint } from '../../../reconciler/model/wording.ts';
import { SYSTEM_CLOCK } from '../../../reconciler/host/this-process.ts';
import { statusText } from '../../../reconciler/render/status-text.ts';
import type { Flags } from '../command-table.ts';
import { DEFAULT_DATA, environmentsNamed, parseTimeoutFlag } from '../flags.ts';
import type { Io } from '../io.ts';
import { reportFailure, reporterFor } from '../reporter.ts';
import { credentialText } from '../watch-page.ts';

/** The time limit for the page, in milliseconds. */
const TIMEOUT = 30_000;

/** `setpoint status`: the list of a controller's page, from its data folder or from the page. */
export async function statusCommand(
  flags: Flags<'status'>,
  io: Io,
  state = 'any',
): Promise<number> {
  try {
    const chosen = parseSelection(flags, state);
    const reporter = reporterFor<WatchedDocument>(flags, io);
    const found = await (flags.server === undefined ? fromFolder(flags) : fromPage(flags, io));
    const environments = found.environments.filter(chosen.fits);
    const names = environmentsNamed(flags.env) ?? [];
    const absent = names.find(
      (name) => !found.environments.some((one) => isGlobMatch(one.name, [name])),
    );
    if (absent !== undefined)
      throw usageError(
        `No environment ${absent.includes('*') ? 'matches' : 'is named'} ${JSON.stringify(absent)}.`,
        choicesHint(
          absent,
          found.environments.map(({ name }) => name),
        ),
      );
    const document = { ...found, environments };
    const written = await reporter.data(document, (style) =>
      statusText(document, chosen.isNarrowed, style),
    );
    return written === 0 &&
      flags.exitCode === true &&
      environments.some((one) => isAttentionDue(toFilterSubject(one), one.flapping))
      ? 2
      : written;
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

async function fromFolder({ data = DEFAULT_DATA }: Flags<'status'>): Promise<WatchedDocument> {
  const now = SYSTEM_CLOCK.now();
  const states = worstFirst(await readRememberedStates(data, now));
  return createWatchedDocument(
    null,
    states.map((state) => createRememberedReport(state, now)),
    now,
  );
}

async function fromPage(flags: Flags<'status'>, { env, signal }: Io): Promise<WatchedDocument> {
  const { askPage } = await import('../../../controller/watch/ask-page.ts');
  return askPage({
    url: flags.server ?? '',
    token: watchToken(env, credentialText),
    env,
    timeout: parseTimeoutFlag(flags) ?? TIMEOUT,
    signal,
  });
}

/** Which environments are listed. Throws a usage error. */
function parseSelection(
  { env, selector = [], data, server }: Flags<'status'>,
  state: string,
): {
  readonly isNarrowed: boolean;
  readonly fits: (environment: EnvironmentWatched) => boolean;
} {
  if (data !== undefined && server !== undefined)
    throw usageError('--data and --server exclude each other.', 'Leave one of the two out.');
  if (!isStateFilter(state))
    throw usageError('There is no such state.', choicesHint(state, STATE_FILTERS));
  const names = environmentsNamed(env);
  const requirements = selector.flatMap(parseSelector);
  return {
    isNarrowed: state !== 'any' || names !== undefined || requirements.length > 0,
    fits: (one) =>
      isOfFilter(toFilterSubject(one), state, one.flapping) &&
      (names === undefined || isGlobMatch(one.name, names)) &&
      selects(requirements, new Map(Object.entries(one.labels))),
  };
}

function toFilterSubject(one: EnvironmentWatched): Parameters<typeof isOfFilter>[0] {
  return { status: one.status, stopped: one.healing_stopped, heldBy: one.held_by };
}
