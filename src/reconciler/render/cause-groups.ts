import type { WatchStatus } from '../model/verdict.ts';

interface Failing {
  readonly name: string;
  readonly status: WatchStatus;
  readonly origin: string | null;
}

/** Environments that cannot be read for one cause, told as one. */
export interface CauseGroup<S extends Failing> {
  /** Where they are: the host of all, or the domain that their hosts are in. */
  readonly place: string;
  readonly members: readonly [S, ...S[]];
}

/** As many that fail for one cause are told as one. */
const FEWEST = 3;

/** Environments that fail alike behind one place become one, at the place of the first. `codeOf` is the code of an error. */
export function groupedByCause<S extends Failing>(
  all: readonly S[],
  codeOf: (one: S) => string | undefined,
): readonly (S | CauseGroup<S>)[] {
  const causes = new Map<string, { hosts: Set<string>; members: [S, ...S[]] }>();
  const causeOf = new Map<S, string>();
  for (const one of all) {
    const host = one.status === 'error' ? failingHost(one) : '';
    if (host === '') continue;
    const cause = `${codeOf(one)} ${domainOf(host)}`;
    causeOf.set(one, cause);
    const known = causes.get(cause);
    known?.members.push(one);
    known?.hosts.add(host);
    if (known === undefined) causes.set(cause, { hosts: new Set([host]), members: [one] });
  }
  return all.flatMap((one): readonly (S | CauseGroup<S>)[] => {
    const { members, hosts } = causes.get(causeOf.get(one) ?? '') ?? { members: [one] };
    if (members.length < FEWEST) return [one];
    if (members[0] !== one) return [];
    const [host = ''] = hosts ?? [];
    return [{ place: hosts?.size === 1 ? host : domainOf(host), members }];
  });
}

function failingHost({ origin }: Failing): string {
  return origin !== null && URL.canParse(origin) ? new URL(origin).hostname : '';
}

/** The domain that a host is in, such as a gateway's; of an address of numbers, that address. */
function domainOf(host: string): string {
  const parts = host.split('.');
  const isName = parts.length > 2 && !/^[\d.]+$|:/.test(host);
  return isName ? parts.slice(1).join('.') : host;
}
