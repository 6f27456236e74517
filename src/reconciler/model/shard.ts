/** One of `count` equal shares of the environments; `index` counts from 0. */
export interface Shard {
  /** The number of the part, from 0. */
  readonly index: number;
  /** The number of parts there are. */
  readonly count: number;
}

export const MOST_SHARDS = 1000;

/**
 * Reports whether an environment belongs to a shard: of all shards it is the one with the greatest weight for the environment's name, and
 * of equal weights the one with the lowest index. One shard more takes environments from each of the others, and moves none between them.
 * docs/guides/shards.md specifies the weight for other tools, so it never changes.
 */
export function isInShard(name: string, { index, count }: Shard): boolean {
  const named = new TextEncoder().encode(`${name}/`).reduce(hashByte, BASIS);
  const own = weight(named, index);
  for (let other = 0; other < count; other += 1) {
    if (other === index) continue;
    const its = weight(named, other);
    if (its > own || (its === own && other < index)) return false;
  }
  return true;
}

/** A number from 0 to 1 for a name, the same at each start: names that are alike are spread as any others. */
export function placeOfName(name: string): number {
  return mixHash(new TextEncoder().encode(name).reduce(hashByte, BASIS)) / 2 ** 32;
}

/** The weight of a shard for a name whose hash, with a slash behind it, is `named`: 32 bits. */
function weight(named: number, index: number): number {
  let hash = named;
  for (const digit of String(index)) hash = hashByte(hash, digit.charCodeAt(0));
  return mixHash(hash);
}

const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a of 32 bits: the hash with one byte more. */
function hashByte(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, PRIME);
}

/** Finalizes MurmurHash3. Without this step, similar names would stay together. */
function mixHash(hash: number): number {
  let mixing = hash ^ (hash >>> 16);
  mixing = Math.imul(mixing, 0x85ebca6b);
  mixing = Math.imul(mixing ^ (mixing >>> 13), 0xc2b2ae35);
  return (mixing ^ (mixing >>> 16)) >>> 0;
}
