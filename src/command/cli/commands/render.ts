import { asSetpointError, usageError } from '../../../reconciler/model/error.ts';
import { choicesHint } from '../../../reconciler/model/wording.ts';
import { definition, type KubeObject } from '../../../reconciler/kubernetes/crd.ts';
import { jsonList, yamlStream } from '../../../reconciler/kubernetes/stream.ts';
import { checkWritable, writeAside } from '../../../reconciler/host/write-aside.ts';
import { render, type RenderRequest } from '../../../reconciler/operations/render.ts';
import { json } from '../../../reconciler/render/json.ts';
import type { Flags } from '../command-table.ts';
import {
  environmentsNamed,
  namedOutputs,
  optionsFrom,
  outputsFrom,
  type Output,
} from '../flags.ts';
import { write, type Io } from '../io.ts';
import { reporterFor, reportFailure } from '../reporter.ts';

const CRD = 'crd';
const FORMATS = ['kubernetes', 'json'] as const;

/** `setpoint render`: the files as objects of Kubernetes; `setpoint render crd` prints the definition alone. */
export async function renderCommand(
  flags: Flags<'render'>,
  io: Io,
  what?: string,
): Promise<number> {
  try {
    if (what !== undefined && what !== CRD)
      throw usageError('Only crd can be named.', choicesHint(what, [CRD]));
    const outputs = outputsOf(flags, io);
    for (const { path } of outputs) if (path !== null) checkWritable(path);
    const objects = what === CRD ? [definition()] : render(requestFrom(flags, io));
    return await printed(objects, outputs, flags, io);
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

/** Objects go to stdout unless each format has a file. */
function outputsOf(flags: Flags<'render'>, io: Io): readonly Output[] {
  const outputs = outputsFrom(flags, io.env, FORMATS).filter(({ format }) => format !== 'text');
  return namedOutputs(flags, io.env).length === 0
    ? [{ format: 'kubernetes', path: null }]
    : outputs;
}

function requestFrom(flags: Flags<'render'>, io: Io): RenderRequest {
  return {
    ...optionsFrom(flags, io, 'reads'),
    targets: environmentsNamed(flags.env),
    selector: flags.selector,
    selectorFrom: undefined,
    namespace: flags.namespace,
    secret: flags.secret,
    crd: flags.crd,
  };
}

async function printed(
  objects: readonly KubeObject[],
  outputs: readonly Output[],
  flags: Flags<'render'>,
  io: Io,
): Promise<number> {
  let code = 0;
  for (const { format, path } of outputs) {
    const text = format === 'json' ? json(jsonList(objects)) : yamlStream(objects);
    if (path === null) {
      await write(io.stdout, text);
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
