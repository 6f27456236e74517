import type { PlanRequest } from '../operations/options.ts';
import type { Inputs } from './inputs.ts';
import type { Setting } from './result.ts';

/** The inputs as operations take them. */
export function optionsFor(inputs: Inputs, { env, signal }: Setting): PlanRequest {
  const { files, environments, base, policy, rotate } = inputs;
  return {
    file: files,
    env,
    targets: environments,
    targetsFrom: 'the input environments',
    base: base ?? undefined,
    policy: policy ?? undefined,
    rotate,
    signal,
  };
}
