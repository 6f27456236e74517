import { usageError, SetpointError } from '../model/error.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import { isRecord, valueAt, type Json, type Value } from '../model/value.ts';
import { TOOL } from '../model/version.ts';
import { SYSTEM_CLOCK } from '../host/this-process.ts';
import { isThere, writeAside, writePlace } from '../host/write-aside.ts';
import type { Connection } from '../service/connect.ts';
import { headerOf, isJson } from '../service/exchange.ts';
import { decode } from '../service/json.ts';
import { KEY_PATH, membersPath, SAAS_PATH, USER_PATH } from '../service/organization.ts';
import { fileOrServer } from './load.ts';
import { withTarget } from './open-target.ts';
import type { Options } from './options.ts';
import { prepareTargets } from './prepare.ts';
import { stands, type Stands } from './recording-masks.ts';
import { redacting, type Running } from './redacting.ts';
import { selectTargets } from './select.ts';

/** A request to write down what a service answers: into which file, and whether one that is there is replaced. */
export interface RecordRequest extends Options {
  readonly record: string;
  readonly replace?: boolean;
}

/** One answer, masked; the status is null if there was none. */
interface Exchange {
  readonly method: 'GET';
  readonly path: string;
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  /** What was answered as JSON; null if that was something else. */
  readonly body: Json;
}

/**
 * Writes what a service answers about organisations and settings into a file: GETs alone, every text masked that is not a word of the
 * service's own. Returns how many answers there were. Throws a SetpointError if the file is there, or there are several environments.
 */
export function recordService(request: RecordRequest): Promise<{ readonly answers: number }> {
  if (isThere(request.record) && request.replace !== true)
    throw usageError(`${request.record} is there already.`, 'Name another file, or add --force.');
  return redacting(request, recorded);
}

async function recorded(request: Running<RecordRequest>): Promise<{ readonly answers: number }> {
  const targets = selectTargets(fileOrServer(request));
  const [prepared, ...others] = await prepareTargets(targets, request);
  if (prepared === undefined || others.length > 0)
    throw usageError('--record takes one environment.', 'Choose one with -e.');
  if (prepared.server instanceof SetpointError) throw prepared.server;
  const exchanges = await withTarget(prepared, request, (open) => exchangesOf(open.connection));
  const now = (request.clock ?? SYSTEM_CLOCK).now();
  const document = {
    format_version: FORMAT_VERSION,
    kind: 'recording',
    tool: TOOL,
    recorded_at: new Date(now).toISOString(),
    exchanges,
  };
  await writeAside(writePlace(request.record), `${JSON.stringify(document, null, 2)}\n`);
  return { answers: exchanges.filter(({ status }) => status !== null).length };
}

/** The paths that are asked of any service. */
const PATHS = [
  SAAS_PATH,
  KEY_PATH,
  '/api/auth/capabilities',
  '/api/organizations',
  '/api/organizations/app',
  USER_PATH,
  '/api/v1/settings',
  '/openapi.json',
];

function pathsOf(id: string): readonly string[] {
  const within = `/api/organizations/${encodeURIComponent(id)}`;
  return [`${within}/me`, membersPath(id), `${within}/settings`, `${within}/profiles`];
}

async function exchangesOf(connection: Connection): Promise<readonly Exchange[]> {
  const masks = stands();
  const exchanges: Exchange[] = [];
  let id: string | null = null;
  const ask = async (path: string): Promise<void> => {
    const { exchange, body } = await exchangeAt(connection, path, masks, id);
    exchanges.push(exchange);
    const found = valueAt(body, ['org_id']);
    if (path === KEY_PATH || path === USER_PATH)
      id ??= typeof found === 'string' && found !== '' ? found : null;
  };
  for (const path of PATHS) await ask(path);
  if (id !== null) for (const path of pathsOf(id)) await ask(path);
  return exchanges;
}

const LARGEST = 8 * 1024 * 1024;

async function exchangeAt(
  connection: Connection,
  path: string,
  masks: Stands,
  id: string | null,
): Promise<{ readonly exchange: Exchange; readonly body: Value }> {
  const asked = id === null ? path : path.replace(encodeURIComponent(id), masks.ofId(id));
  const answer = await connection.send({
    method: 'GET',
    path,
    body: null,
    timeout: connection.timeout,
    largestBody: LARGEST,
    wantsBody: () => true,
  });
  const exchange = { method: 'GET', path: asked } as const;
  if (answer.kind === 'fault')
    return { exchange: { ...exchange, status: null, headers: {}, body: null }, body: null };
  const { status, headers } = answer;
  const shown = ['content-type', 'allow', 'retry-after'].flatMap((name) => {
    const value = headerOf(headers, name);
    return value !== undefined && PLAIN.test(value) ? [[name, value] as const] : [];
  });
  const read =
    isJson(answer) && answer.body instanceof Uint8Array ? decode(answer.body) : undefined;
  const body = read?.kind === 'value' ? read.value : null;
  const masked = path === '/openapi.json' ? described(body) : masks.of(body);
  return {
    exchange: { ...exchange, status, headers: Object.fromEntries(shown), body: masked },
    body,
  };
}

/** A header that says what is known beforehand. */
const PLAIN = /^[a-z0-9/+.;=, -]{1,80}$/i;

/** Of the description of an API its release and its paths. */
function described(body: Value): Json {
  const version = valueAt(body, ['info', 'version']);
  const paths = valueAt(body, ['paths']);
  return {
    version: typeof version === 'string' && PLAIN.test(version) ? version : null,
    paths: isRecord(paths) ? Object.keys(paths).filter((path) => /^\/[\w{}/.:-]*$/.test(path)) : [],
  };
}
