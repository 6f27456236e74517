import { usageError } from '../../reconciler/model/error.ts';
import type { Variables } from '../../reconciler/model/ports.ts';
import type { Shard } from '../../reconciler/model/shard.ts';
import { parseShard } from '../../reconciler/operations/flag-values.ts';
import type { Options } from '../../reconciler/operations/options.ts';
import { counted } from '../../reconciler/model/wording.ts';
import { shardText } from '../../reconciler/render/shard-text.ts';
import { visible } from '../../reconciler/render/text.ts';
import type { FlagValues } from './flag-table.ts';
import type { Io } from './io.ts';

/**
 * The shard of a run, as options: --shard, else SETPOINT_SHARD, else the number that Kubernetes gave this pod. That one counts only
 * if the manifest gives the number of shards, too: a host name that ends in a number chooses nothing. stderr says which part of the
 * environments it is, because a run that finds nothing has not looked at the others.
 */
export function shardOptions(
  flags: FlagValues<'--shard' | '--quiet'>,
  env: Variables,
  { stderr }: Pick<Io, 'stderr'>,
): Pick<Options, 'shard' | 'onSelected'> {
  const chosen = namedShard(flags.shard, env) ?? shardOfPod(env);
  if (chosen === null) return givenIn(env['JOB_COMPLETION_INDEX']) ? { onSelected: refuseAll } : {};
  return {
    shard: chosen.shard,
    onSelected: (own, all) => {
      if (flags.quiet !== true) stderr.write(shardText(chosen.shard, own, all, chosen.from));
    },
  };
}

interface Chosen {
  readonly shard: Shard;
  /** The variables that chose it, unless a flag did. */
  readonly from: string | null;
}

function namedShard(flag: string | undefined, env: Variables): Chosen | null {
  if (flag !== undefined) return { shard: parseShard('--shard', flag), from: null };
  const variable = env['SETPOINT_SHARD'];
  if (!givenIn(variable)) return null;
  return { shard: parseShard('SETPOINT_SHARD', variable), from: 'SETPOINT_SHARD' };
}

/** The shard of a pod of an Indexed Job or a StatefulSet; null if nothing says how many there are. */
function shardOfPod(env: Variables): Chosen | null {
  const [shards, completions] = [env['SETPOINT_SHARDS'], env['JOB_COMPLETIONS']];
  if (givenIn(shards) && givenIn(completions) && shards !== completions)
    throw usageError(
      `SETPOINT_SHARDS is ${visible(shards)}, and JOB_COMPLETIONS is ${visible(completions)}.`,
      'Set one of them, to the number of shards.',
    );
  const count = givenIn(shards) ? shards : completions;
  if (!givenIn(count)) return null;
  const index = givenIn(shards) ? (indexOfJob(env) ?? ordinal(env)) : indexOfJob(env);
  const named = givenIn(shards) ? 'SETPOINT_SHARDS' : 'JOB_COMPLETIONS';
  if (index === null)
    throw usageError(
      `${named} is set, and nothing says which of the shards this is.`,
      givenIn(shards)
        ? 'Set POD_NAME or POD_INDEX, or name the shard: --shard 0/4.'
        : 'Set completionMode: Indexed in the Job, which sets JOB_COMPLETION_INDEX.',
    );
  const from = `${index.name} and ${named}`;
  return { shard: parseShard(from, `${index.text}/${count}`), from };
}

interface Numbered {
  readonly name: string;
  readonly text: string;
}

function indexOfJob(env: Variables): Numbered | null {
  const text = env['JOB_COMPLETION_INDEX'];
  return givenIn(text) ? { name: 'JOB_COMPLETION_INDEX', text } : null;
}

/** A StatefulSet gives a pod's ordinal as a label, which a manifest can hand on, and at the end of its name, the host name. */
function ordinal(env: Variables): Numbered | null {
  const index = env['POD_INDEX'];
  if (givenIn(index)) return { name: 'POD_INDEX', text: index };
  const name = givenIn(env['POD_NAME']) ? 'POD_NAME' : 'HOSTNAME';
  const [, text] = /-(0|[1-9]\d{0,3})$/.exec(env[name] ?? '') ?? [];
  return text === undefined ? null : { name, text };
}

function givenIn(variable: string | undefined): variable is string {
  return variable !== undefined && variable !== '';
}

/** An Indexed Job sets the index by itself, and not the count. */
function refuseAll(_own: number, all: number): void {
  if (all <= 1) return;
  throw usageError(
    `JOB_COMPLETION_INDEX is set, and JOB_COMPLETIONS is not: every pod would take all ${counted(all, 'environment')}.`,
    'Set JOB_COMPLETIONS, too; or choose one with -e, or all with --shard 0/1.',
  );
}
