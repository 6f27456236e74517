import { SetpointError } from '../../model/error.ts';
import {
  isEmpty,
  isList,
  isRecord,
  readPath,
  WireNumber,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import { formatPath } from '../../model/path.ts';
import { AUTOMATION_PATH } from '../../service/connect.ts';
import { ServiceError } from '../../service/service-error.ts';
import type { Asking, Get, RequestRefusal } from '../collections/wire.ts';

/* What the lists of an automation service have in common. */

/** The path of automations, and below it of what starts them. */
export const AUTOMATIONS_PATH = `${AUTOMATION_PATH}/v1`;

const PAGE = 100;
const TRIES = 3;

/**
 * The entries of a list; null if the server has no such path. Its pages are counted from the newest: a list that moves in between is read again.
 */
export async function listAllPages(
  { get, unlike }: Pick<Asking, 'get' | 'unlike'>,
  path: string,
  key: string,
): Promise<readonly ValueRecord[] | null> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const found = new Map<string, ValueRecord>();
    let total = 0;
    let isMoved = false;
    do {
      const json = await get(`${path}?limit=${PAGE}&offset=${found.size}`);
      if (typeof json === 'symbol') return null;
      const entries = readPath(json, [key]);
      const count = readPath(json, ['total']);
      if (!isList(entries) || !isCount(count)) throw unlike(path);
      isMoved = total !== 0 && Number(count) !== total;
      total = Number(count);
      const before = found.size;
      for (const entry of entries) {
        const id = isRecord(entry) ? entry['id'] : null;
        if (!isRecord(entry) || typeof id !== 'string') throw unlike(path);
        found.set(id, entry);
      }
      isMoved ||= found.size === before && found.size < total;
    } while (found.size < total && !isMoved);
    if (!isMoved && found.size === total) return [...found.values()];
  }
  throw unlike(path);
}

/** The ids of the entries of a list of which a member has a value, read right before a write. */
export async function findIds(
  get: Get,
  [path, key]: readonly [path: string, key: string],
  member: string,
  value: string,
): Promise<readonly string[]> {
  const unlike = () =>
    new ServiceError('bad-response', `GET ${path} was answered with a list that does not end.`);
  const entries = (await listAllPages({ get, unlike }, path, key)) ?? [];
  return entries.flatMap((one) => (one[member] === value ? [readListedId(one)] : []));
}

/** Why the rest of a new item is not sent: the service does not list it. */
export function createLostItemRefusal(name: string): RequestRefusal {
  return {
    why: `The service does not list ${name}, which was created right before: another client may have removed it.`,
    hint: 'Run setpoint plan to see what the service has now.',
  };
}

function isCount(value: Value | undefined): boolean {
  const text = value instanceof WireNumber ? value.token : value;
  return (typeof text === 'string' || typeof text === 'number') && /^\d{1,9}$/.test(`${text}`);
}

/** The id of an entry that `listAllPages` has read. */
export function readListedId({ id }: ValueRecord): string {
  return typeof id === 'string' ? id : '';
}

/** The last release without the members that `refuseLaterMembers` is given. */
const EARLIER = [1, 13] as const;

/**
 * Throws if a service is of an earlier release than members of the file. The lists of a service show that by their items: this is for one that
 * has none yet.
 */
export async function refuseLaterMembers(
  { get, declared }: Asking,
  block: string,
  later: readonly string[],
): Promise<void> {
  const [first] = declared.flatMap(({ name, members, source }) => {
    const own = later.filter((member) => !isEmpty(members?.[member] ?? null));
    return own.length === 0 ? [] : [{ name, own, source }];
  });
  if (first === undefined) return;
  const info = await get(`${AUTOMATION_PATH}/server_info`);
  const release = typeof info === 'symbol' ? null : readPath(info, ['package_version']);
  const [, major, minor] = /^(\d+)\.(\d+)\./.exec(typeof release === 'string' ? release : '') ?? [];
  if (Number(major) !== EARLIER[0] || !(Number(minor) <= EARLIER[1])) return;
  const { file, line } = first.source;
  throw new SetpointError(
    'unfit-for-service',
    `${formatPath([block, first.name])} (${file}:${line}) declares ${first.own.join(', ')}, which the release of this server does not have. Later releases have it. Nothing was sent.`,
    { hint: 'Remove it for this environment, or use such a release.' },
  );
}

/** Throws if the service itself is kept as a git repository says, which would undo what is written here, or the other way round. */
export async function refuseGitSync({ get, declared }: Asking): Promise<void> {
  const status = await get(`${AUTOMATIONS_PATH}/git-sync/status`);
  if (typeof status === 'symbol' || readPath(status, ['enabled']) !== true) return;
  const [first] = declared;
  const at = first === undefined ? '' : ` (${first.source.file}:${first.source.line})`;
  throw new SetpointError(
    'unfit-for-service',
    `The automation service has its git sync enabled, and the file declares automations${at}: each would undo the other. Nothing was sent.`,
    {
      hint: 'Switch the git sync of the service off, or remove automations from the file.',
    },
  );
}

/**
 * Why a request is refused: the members that the service names, by the names of the file. What it quotes of them is not shown, as it may be
 * a secret.
 */
export function refusedMembers(
  named: Readonly<Record<string, string>>,
): (answer: Value) => RequestRefusal | null {
  return (answer) => {
    const problems = isRecord(answer) ? answer['detail'] : null;
    if (!isList(problems)) return null;
    const places = problems.map((one) => readPath(one, ['loc']));
    const names = places.flatMap((loc) => (isList(loc) ? loc : [])).map(String);
    const members = [...new Set(names)].flatMap((name) => named[name] ?? []);
    const what = members.length === 0 ? 'what it was sent' : [...new Set(members)].join(', ');
    return {
      why: `it does not accept ${what}`,
      hint: 'Correct the value, or use a release of the automation service that has the member.',
    };
  };
}
