import { onceFor } from '../model/cache.ts';
import type { ErrorReport } from '../model/error.ts';
import type { WatchStatus } from '../model/verdict.ts';
import { formatCount } from '../model/wording.ts';

type Failure = Pick<ErrorReport, 'code' | 'message'>;

interface Environment {
  readonly name: string;
  readonly status: WatchStatus;
  readonly origin: string | null;
}

/** Environments that failed for one cause. */
export interface CauseGroup<S extends Environment> {
  /** Equal for failures of one cause. */
  readonly key: string;
  /** In words, without what differs between the members. */
  readonly cause: string;
  readonly members: readonly [S, ...S[]];
}

/** As many that failed for one cause become one group. */
const FEWEST = 3;

/** Groups environments that failed for one cause, at the place of the first of them. `errorOf` returns the error of an environment. */
export function groupByCause<S extends Environment>(
  all: readonly S[],
  errorOf: (one: S) => Failure | null | undefined,
): readonly (S | CauseGroup<S>)[] {
  const groups = new Map<string, [S, ...S[]]>();
  const keyOf = (one: S): string => (one.status === 'error' ? causeKey(errorOf(one)) : '');
  for (const one of all) {
    const key = keyOf(one);
    if (key === '') continue;
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [one]);
    else members.push(one);
  }
  return all.flatMap((one): readonly (S | CauseGroup<S>)[] => {
    const key = keyOf(one);
    const members = groups.get(key);
    if (members === undefined || members.length < FEWEST) return [one];
    if (members[0] !== one) return [];
    const causes = new Set(members.map((member) => causeText(errorOf(member))));
    const [first = ''] = causes;
    return [{ key, cause: causes.size === 1 ? first : maskCauseDetails(first), members }];
  });
}

/** Equal for failures of one cause, whatever their service, environment, request and times are. Empty without an error. */
export function causeKey(error: Failure | null | undefined): string {
  return error === null || error === undefined ? '' : createCauseKey(error);
}

const createCauseKey = onceFor(
  (error: Failure) => `${error.code} ${maskCauseDetails(causeText(error))}`,
);

const REQUEST = String.raw`(?:GET|HEAD|POST|PUT|PATCH|DELETE) \S+`;
const AT_END = new RegExp(String.raw`: ${REQUEST}(?:, \d+ tries in all)?\.?$`);
const AT_START = new RegExp(`^${REQUEST} (?:failed: )?(.)`);

/** Describes a failure without its request: `The connection was refused`. */
export function causeText(error: Failure | null | undefined): string {
  const message = (error?.message ?? '').replace(AT_END, '').replace(/\.$/, '');
  return message.replace(AT_START, (_, letter: string) => letter.toUpperCase());
}

/** The parts of a message that belong to one environment: addresses, hosts, references, variables, quoted names, ids and times. */
const OWN =
  /\b[a-z][a-z\d+.-]*:\/\/\S+|\$\{[^}]*\}|"[^"]*"|\b[A-Z][A-Z\d]*_[A-Z\d_]+\b|\b[\w-]+(?:\.[\w-]+)+(?::\d+)?|\b[\da-f]{8}[\da-f-]*\b|\b\d+(?:\.\d+)? (?:ms|s|m|h)\b/g;

function maskCauseDetails(cause: string): string {
  return cause.replaceAll(OWN, '…');
}

/** Describes the hosts of a group: `at gateway.example.com`, `behind example.com (12 services)`, `at 17 services`. */
export function describeHosts(members: readonly Pick<Environment, 'origin'>[]): string {
  const hosts = new Set(
    members.map(({ origin }) => readOriginHost(origin)).filter((host) => host !== ''),
  );
  const [first = ''] = hosts;
  if (hosts.size === 0) return '';
  if (hosts.size === 1) return `at ${first}`;
  const services = formatCount(hosts.size, 'service');
  const domains = new Set([...hosts].map(findParentDomain));
  return domains.size === 1 ? `behind ${findParentDomain(first)} (${services})` : `at ${services}`;
}

function readOriginHost(origin: string | null): string {
  return origin !== null && URL.canParse(origin) ? new URL(origin).host : '';
}

/** The domain that a host is in, such as a gateway's; of an address of numbers, that address. */
function findParentDomain(host: string): string {
  const [name = ''] = host.split(':', 1);
  const parts = name.split('.');
  const isName = parts.length > 2 && !/^[\d.]+$/.test(name);
  return isName ? parts.slice(1).join('.') : name;
}
