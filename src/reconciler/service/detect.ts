import type { DialectName } from '../model/dialect.ts';
import type { SetpointError } from '../model/error.ts';
import { isRecord } from '../model/value.ts';
import type { Ask } from './ask.ts';
import type { Connection } from './connect.ts';
import { DIALECTS, type DialectModule } from './dialects.ts';
import { headerOf } from './exchange.ts';
import { jsonOf, type Reply } from './json-reply.ts';
import { ServiceError } from './service-error.ts';
import type { ObservedState } from '../model/state.ts';

const [FIRST, ...LATER] = [DIALECTS['settings-v0'], DIALECTS['app-server']] as const;

/** The dialects that have the path which is asked first, and tell by the answer. */
const AT_FIRST_PATH = Object.values(DIALECTS).filter(({ path }) => path === FIRST.path);

/** The dialect that a service is asked in first: the declared one, or the specification's. */
export function firstDialect({ dialect }: Connection): DialectModule {
  return dialect === 'auto' ? FIRST : DIALECTS[dialect];
}

/**
 * Reads the settings in whatever dialect the service speaks. The specification's is asked first; another path is tried only if
 * the answer is that of a server which does not have the path. A declared dialect is the only one that is asked, and
 * so is one that the service has spoken before.
 */
export async function readAnyDialect(
  connection: Connection,
  ask: Ask,
  spoken: DialectName | null = null,
): Promise<ObservedState | SetpointError> {
  const first = spoken === null ? firstDialect(connection) : DIALECTS[spoken];
  const { place, reply } = await ask(first.path);
  const isKnown = spoken !== null || connection.dialect !== 'auto';
  if (!isMissingPath(place, reply)) {
    const claiming = isKnown ? undefined : claimedBy(place, reply);
    return (claiming ?? first).read(connection, place, reply, ask);
  }
  if (spoken !== null) return first.read(connection, place, reply, ask);
  if (isKnown) return notSpoken(connection, place, reply);
  for (const later of LATER) {
    const other = await ask(later.path);
    if (!isMissingPath(other.place, other.reply))
      return later.read(connection, other.place, other.reply, ask);
  }
  return first.read(connection, place, reply, ask);
}

/** The dialect whose tell-tale the answer of the first path has. */
function claimedBy(place: string, reply: Reply): DialectModule | undefined {
  if (reply.status !== 200) return undefined;
  const read = jsonOf(place, reply);
  if ('error' in read || !isRecord(read.json)) return undefined;
  const body = read.json;
  return AT_FIRST_PATH.find(({ claims }) => claims?.(body) === true);
}

/**
 * Whether a server of this kind has no such path: it says Not Found, or answers with its web page. An empty store is told by
 * another sentence; a 404 of anything else is not the service's.
 */
export function isMissingPath(place: string, reply: Reply): boolean {
  const type = headerOf(reply.headers, 'content-type') ?? '';
  if (reply.status === 200) return /^text\/html\b/i.test(type);
  if (reply.status !== 404) return false;
  const read = jsonOf(place, reply);
  return 'json' in read && isRecord(read.json) && read.json['detail'] === 'Not Found';
}

function notSpoken({ dialect }: Connection, place: string, { status }: Reply): ServiceError {
  return new ServiceError(
    'dialect-not-spoken',
    `${place} is unknown to the server (status ${status}): it does not speak ${dialect}, which server.dialect names.`,
    { hint: 'Remove server.dialect, so that setpoint finds out; or check server.url.' },
  );
}
