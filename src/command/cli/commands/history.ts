import { usageError } from '../../../reconciler/model/error.ts';
import { parsePath } from '../../../reconciler/model/path.ts';
import { historyText } from '../../../reconciler/render/history-text.ts';
import { visible } from '../../../reconciler/render/text.ts';
import { history, selectEnvironmentNames } from '../../../controller/watch/data-folder.ts';
import type { Flags } from '../command-table.ts';
import { environmentsNamed, DEFAULT_DATA } from '../flags.ts';
import { writeText, type Io } from '../io.ts';
import { reportFailure, reporterFor } from '../reporter.ts';

/** `setpoint history -e production llm_model`: what was found and written, the latest first. */
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
    const data = flags.data ?? DEFAULT_DATA;
    const limit = flags.verbose === true ? Number.POSITIVE_INFINITY : 50;
    const asked = environmentsNamed(flags.env);
    const found = await history({ data, environments: asked ?? null, path, limit });
    if (found.records.length === 0) await explainNothing(data, asked, text, io);
    // A row of text may be several records.
    const document = { ...found, records: found.records.slice(0, limit) };
    return await reporterFor(flags, io).data(document, (style) => historyText(found, style, limit));
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

/** Reports on stderr why there may be nothing: a name that is misspelled, or given as a path. */
async function explainNothing(
  data: string,
  asked: readonly string[] = [],
  path: string | undefined,
  io: Io,
): Promise<void> {
  const { unknown, hint } = await selectEnvironmentNames(
    data,
    path === undefined ? asked : [...asked, path],
  );
  const [first] = asked.filter((name) => unknown.includes(name));
  if (first !== undefined)
    await writeText(
      io.stderr,
      visibleLines(`The journal in ${data} has nothing of "${first}".`, hint),
    );
  else if (path !== undefined && !unknown.includes(path))
    await writeText(
      io.stderr,
      visibleLines(`${path} is an environment.`, `Name it with -e ${path}.`),
    );
}

function visibleLines(message: string, hint: string): string {
  return `setpoint: ${visible(message)}\n  ${visible(hint)}\n`;
}
