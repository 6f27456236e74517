import type { Path } from '../model/path.ts';
import type { Put } from './edit-text.ts';
import type { Placed } from './placed.ts';
import { settled, settledText, variableName, type Stub } from './stub.ts';

/** A secret of the service for which the file reads a variable from now on. */
export interface NamedStub {
  readonly name: string;
  readonly path: Path;
  readonly at: Path;
  /** The scalar as the file writes it. */
  readonly written: string;
}

/** What is put into each file, and for each target the variables that come with it. */
export interface NamedPuts {
  readonly puts: ReadonlyMap<string, readonly Put[]>;
  readonly stubs: ReadonlyMap<string, readonly NamedStub[]>;
}

/**
 * The values with their variables called by names that no file reads yet. `prefixed`: a variable in an environment's block
 * starts with the environment's name; otherwise it does so only where the name is taken.
 */
export function namedPuts(
  placed: readonly Placed[],
  read: ReadonlySet<string>,
  prefixed: boolean,
): NamedPuts {
  const taken = new Set(read);
  const numbers = new Map<string, number>();
  const puts = new Map<string, Put[]>();
  const stubs = new Map<string, NamedStub[]>();
  for (const { block, slot, targets } of placed) {
    const [, environment = null] = block.prefix;
    const names = new Map<string, string>();
    for (const stub of slot.stubs) {
      const name = freeName(candidates(stub, environment, prefixed), taken, numbers);
      taken.add(name);
      names.set(stub.marker, name);
    }
    const nameOf = (marker: string): string => names.get(marker) ?? marker;
    const put = { path: [...block.prefix, ...slot.path], value: settled(slot.value, nameOf) };
    puts.set(block.file, [...(puts.get(block.file) ?? []), put]);
    const named = slot.stubs.map(({ marker, path, at, written }) => ({
      name: nameOf(marker),
      path,
      at,
      written: settledText(written, nameOf),
    }));
    for (const target of targets) stubs.set(target, [...(stubs.get(target) ?? []), ...named]);
  }
  return { puts, stubs };
}

function candidates({ names }: Stub, environment: string | null, prefixed: boolean): string[] {
  const own = environment === null ? [] : names.map((name) => variableName(environment, name));
  return prefixed ? [...own, ...names] : [...names, ...own];
}

/** `numbers` are the ones that were given to names last, so that none is tried twice. */
function freeName(
  names: readonly string[],
  taken: ReadonlySet<string>,
  numbers: Map<string, number>,
): string {
  const free = names.find((name) => !taken.has(name));
  if (free !== undefined) return free;
  const [first = ''] = names;
  let number = (numbers.get(first) ?? 1) + 1;
  while (taken.has(`${first}_${number}`)) number += 1;
  numbers.set(first, number);
  return `${first}_${number}`;
}
