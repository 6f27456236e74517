import type { FileEdit } from '../../../reconciler/model/pulled.ts';
import { pull } from '../../../reconciler/operations/pull.ts';
import { patchText, pulledText } from '../../../reconciler/render/pulled-text.ts';
import type { Flags } from '../command-table.ts';
import { optionsFrom } from '../flags.ts';
import type { Io } from '../io.ts';
import { conclude, reportFailure, reporterFor } from '../reporter.ts';

/** `setpoint pull`: edits the files; with --check shows the patch, and exits 2 if there is one. */
export async function pullCommand(flags: Flags<'pull'>, io: Io): Promise<number> {
  try {
    const reporter = reporterFor(flags, io);
    const check = flags.check === true;
    const onEdit = (edit: FileEdit): Promise<void> =>
      check ? reporter.preview((style) => `${patchText(edit, style)}\n`, false) : Promise.resolve();
    const document = await pull({
      ...optionsFrom(flags, io, 'reads'),
      adopt: flags.adopt,
      check,
      force: flags.force,
      onEdit,
    });
    const written = await reporter.data(document, (style) => pulledText(document, style));
    const differs = document.files.some(({ status }) => status === 'differs');
    return await conclude(reporter, document.environments, written, () => (differs ? 2 : 0));
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}
