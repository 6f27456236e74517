import { asSetpointError, usageError } from '../../../reconciler/model/error.ts';
import { choicesHint } from '../../../reconciler/model/wording.ts';
import { definitions, type KubeObject } from '../../../reconciler/kubernetes/crd.ts';
import type { Diagnostic } from '../../../reconciler/model/diagnostic.ts';
import { readResourceList } from '../../../reconciler/kubernetes/krm.ts';
import { jsonList, yamlStream } from '../../../reconciler/kubernetes/objects.ts';
import { checkWritable, writeAside } from '../../../reconciler/host/write-aside.ts';
import { render, type RenderRequest } from '../../../reconciler/operations/render.ts';
import { diagnosticsText } from '../../../reconciler/render/error-text.ts';
import { renderJson } from '../../../reconciler/render/json.ts';
import type { Flags } from '../command-table.ts';
import {
  readNamedOutputs,
  parseOperationOptions,
  parseReportOutputs,
  type Output,
} from '../flags.ts';
import { readInput } from '../input.ts';
import { styleFor, writeText, type Io } from '../io.ts';
import { checkNames } from '../object-names.ts';
import { reporterFor, reportFailure } from '../reporter.ts';

const WHAT = ['crd', 'krm'] as const;
const FORMATS = ['kubernetes', 'json'] as const;

/** `setpoint render`: the files as objects of Kubernetes; `setpoint render crd` prints the definitions alone, `setpoint render krm` is a KRM function. */
export async function renderCommand(
  flags: Flags<'render'>,
  io: Io,
  what?: string,
): Promise<number> {
  try {
    if (what !== undefined && !WHAT.some((one) => one === what))
      throw usageError('Only crd and krm can be named.', choicesHint(what, WHAT));
    if (what === 'krm') return await runKrmFunction(flags, io);
    const outputs = parseRenderOutputs(flags);
    for (const { path } of outputs) if (path !== null) checkWritable(path);
    const objects =
      what === 'crd'
        ? definitions()
        : await renderKubeObjects(createRenderRequest(flags, io), flags, io);
    return await printObjects(objects, outputs, flags, io);
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

/** Warnings go to stderr: they stop nothing. */
async function renderKubeObjects(
  request: RenderRequest,
  flags: Flags<'render'>,
  io: Io,
): Promise<readonly KubeObject[]> {
  const { objects, warnings } = render(request);
  if (warnings.length > 0 && flags.quiet !== true) {
    const style = styleFor(io.stderr, io.env, { noColor: flags.color === false, verbose: false });
    await writeText(io.stderr, `${diagnosticsText(warnings, style)}\n`);
  }
  return objects;
}

/** Objects go to stdout unless each format has a file. */
function parseRenderOutputs(flags: Flags<'render'>): readonly Output[] {
  if (readNamedOutputs(flags).some(({ name }) => name === 'text'))
    throw usageError('Objects have no text format.', `Available: ${FORMATS.join(', ')}.`);
  const outputs = parseReportOutputs(flags, FORMATS).filter(({ format }) => format !== 'text');
  return readNamedOutputs(flags).length === 0 ? [{ format: 'kubernetes', path: null }] : outputs;
}

function createRenderRequest(flags: Flags<'render'>, io: Io): RenderRequest {
  checkNames(flags);
  return {
    ...parseOperationOptions(flags, io),
    namespace: flags.namespace,
    secret: flags.secret,
  };
}

/** As a KRM function: a ResourceList from stdin to stdout, with the objects among its items. */
async function runKrmFunction(flags: Flags<'render'>, io: Io): Promise<number> {
  const { file, output } = flags;
  if (file !== undefined || output !== undefined)
    throw usageError('render krm takes the settings from stdin, and prints to stdout.', KRM_ALONE);
  const list = readResourceList(
    await readInput(io, 'render krm reads a ResourceList', 'Have kustomize or kpt call it.'),
  );
  const { text, environments, ...config } = list.config;
  checkNames(config, 'functionConfig: ');
  const own = createRenderRequest(flags, io);
  try {
    const request: RenderRequest = {
      ...own,
      text,
      targets: environments ?? own.targets,
      targetsFrom: environments === undefined ? undefined : 'the functionConfig',
      namespace: config.namespace ?? own.namespace,
      secret: config.secret ?? own.secret,
      crd: config.crd === true,
    };
    const objects = await renderKubeObjects(request, flags, io);
    await writeText(io.stdout, list.withObjects(objects));
    return 0;
  } catch (thrown) {
    const { diagnostics } = thrown as { readonly diagnostics?: readonly Diagnostic[] };
    if (diagnostics !== undefined) await writeText(io.stdout, list.withProblems(diagnostics));
    throw thrown;
  }
}

const KRM_ALONE = 'Leave out -f and -o: the settings file is in the functionConfig.';
async function printObjects(
  objects: readonly KubeObject[],
  outputs: readonly Output[],
  flags: Flags<'render'>,
  io: Io,
): Promise<number> {
  let code = 0;
  for (const { format, path } of outputs) {
    const text = format === 'json' ? renderJson(jsonList(objects)) : yamlStream(objects);
    if (path === null) {
      await writeText(io.stdout, text);
      continue;
    }
    try {
      await writeAside(path, text);
    } catch (thrown) {
      const { code: name, message, hint, exitCode } = asSetpointError(thrown);
      await reporterFor(flags, io).error({ code: name, message, hint });
      code = exitCode;
    }
  }
  return code;
}
