import type { PullDocument } from '../../../reconciler/model/documents.gen.ts';
import type { FileEdit } from '../../../reconciler/model/pulled.ts';
import type { Target } from '../../../reconciler/desired/target.ts';
import { hasNoFile } from '../../../reconciler/operations/load.ts';
import { pull, type PullRun } from '../../../reconciler/operations/pull.ts';
import { patchText, formatPulled } from '../../../reconciler/render/pulled-text.ts';
import type { Flags } from '../command-table.ts';
import { readNamedOutputs, parseOperationOptions } from '../flags.ts';
import type { Io } from '../io.ts';
import { checkNames } from '../object-names.ts';
import type { Renderers } from '../printer.ts';
import { conclude, reportFailure, reporterFor } from '../reporter.ts';

/** `setpoint pull`: edits the files; with --check shows the patch, and exits 2 if there is one. */
export async function pullCommand(flags: Flags<'pull'>, io: Io): Promise<number> {
  try {
    let pulled: readonly Target[] = [];
    const renderers: Renderers<PullDocument> = {
      kubernetes: async () => {
        const { renderTargets } = await import('../../../reconciler/operations/render.ts');
        const { yamlStream } = await import('../../../reconciler/kubernetes/objects.ts');
        return () => yamlStream(renderTargets(pulled, flags).objects);
      },
    };
    const reporter = reporterFor(flags, io, renderers);
    const check = flags.check === true;
    const onEdit = (edit: FileEdit): Promise<void> =>
      check ? reporter.preview((style) => `${patchText(edit, style)}\n`, false) : Promise.resolve();
    checkNames(flags);
    const request = parsePullFlags(flags, io);
    const document = await pull({
      ...request,
      check,
      force: flags.force,
      onEdit,
      onPulled: (targets) => {
        pulled = targets;
      },
    });
    const written = await reporter.data(document, (style) => formatPulled(document, style));
    // Without a file there is nothing that could differ.
    const differs =
      request.text === undefined && document.files.some(({ status }) => status === 'differs');
    return await conclude(reporter, document.environments, written, () => (differs ? 2 : 0));
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

/** Without a file, objects of Kubernetes can still be made of all that the service of --server has. */
function parsePullFlags(flags: Flags<'pull'>, io: Io): PullRun {
  const options = parseOperationOptions(flags, io);
  const { server, env } = options;
  const isRendered = readNamedOutputs(flags).some(({ name }) => name === 'kubernetes');
  if (!isRendered || server === undefined || !hasNoFile(options))
    return { ...options, adopt: flags.adopt };
  const hasKey = (env['SETPOINT_API_KEY'] ?? '') !== '';
  const key = hasKey ? { api_key: '${env:SETPOINT_API_KEY}' } : {};
  const text = JSON.stringify({ version: 1, server: { url: server, ...key }, settings: {} });
  return { ...options, server: undefined, text, adopt: flags.adopt ?? ['all'] };
}
