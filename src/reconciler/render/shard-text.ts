import type { Shard } from '../model/shard.ts';
import { formatCount, groupThousands } from '../model/wording.ts';

/** `shard 0/4`, as the flag takes it. */
export function shardName({ index, count }: Shard): string {
  return `shard ${index}/${count}`;
}

/** The line that shows which part of the environments a run is about. */
export function shardText({ index, count }: Shard, own: number, chosen: number): string {
  const name = `Shard ${index}/${count}`;
  const of = `of ${formatCount(chosen, 'environment')}`;
  return own === 0
    ? `${name}: none ${of}, nothing to do.\n`
    : `${name}: ${groupThousands(own)} ${of}.\n`;
}
