import { usageError } from '../../model/error.ts';
import { parsePath } from '../../model/path.ts';
import { historyText } from '../../render/history-text.ts';
import { visible } from '../../render/visible.ts';
import { history } from '../../watch/journal/history.ts';
import type { Flags } from '../command-table.ts';
import { countOf, namesIn } from '../flags.ts';
import type { Io } from '../io.ts';
import { reportFailure, reporterFor } from '../reporter.ts';
import { DEFAULT_DATA } from '../watch-log.ts';

/** `setpoint history production llm_model`: what was found and written, the latest first. */
export async function historyCommand(
  flags: Flags<'history'>,
  io: Io,
  text?: string,
): Promise<number> {
  try {
    const path = text === undefined ? null : parsePath(text);
    if (path === null && text !== undefined)
      throw usageError(
        `${visible(JSON.stringify(text))} is not a path.`,
        'Write a field, such as llm_model.',
      );
    const document = await history({
      data: flags.data ?? DEFAULT_DATA,
      environments: namesIn(flags.env) ?? null,
      path,
      limit: flags.limit === undefined ? 50 : countOf('--limit', flags.limit),
    });
    return await reporterFor(flags, io).data(document, (style) => historyText(document, style));
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}
