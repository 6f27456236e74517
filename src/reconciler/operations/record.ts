import { usageError, SetpointError } from '../model/error.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import { isRecord, valueAt, type Json, type Value, isList, WireNumber } from '../model/value.ts';
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
import { redacting, type Running } from './redacting.ts';
import { selectRun } from './select.ts';
import { isSensitiveName } from '../model/secret-words.ts';

/** A request to write down what a service answers: into which file, and whether one that is there is replaced. */
interface RecordRequest extends Options {
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
  const run = selectRun(fileOrServer(request));
  const [prepared, ...others] = await prepareTargets(run, request);
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

/** What stands in a recording for texts that were answered: the same id, name or email has the same number everywhere in it. */
interface Stands {
  /** What an answer is recorded as. */
  readonly of: (value: Value) => Json;
  readonly ofId: (id: string) => string;
}

/** Members whose words are the service's own. Any other text is masked. */
const WORDS: ReadonlySet<string> = new Set([
  'role',
  'permissions',
  'global_permissions',
  'auth_type',
  'mode',
  'agent_kind',
  'sandbox_grouping_strategy',
  'security_analyzer',
  'reconciliation_state',
  'status',
  'scope',
  'detail',
  'error',
]);
const WORD = /^[A-Za-z][A-Za-z_]{0,39}$/;

/** Maps whose keys somebody has chosen. */
const FREE =
  /^(mcp_config|mcpservers|profiles|headers|extra_headers|env|metadata|secrets|custom_secrets|provider_tokens(_set)?|connections|litellm_extra_body|overrides)$/i;
const KEY = /^[a-z][a-z_]{0,63}$/;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

export function stands(): Stands {
  const known = new Map<string, string>();
  const numbered = (kind: 'id' | 'email' | 'name', text: string): string => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const count = [...known.values()].filter((one) => one.startsWith(`${kind}-`)).length;
    known.set(text, `${kind}-${count + 1}`);
    return `${kind}-${count + 1}`;
  };
  const textOf = (text: string, name: string): string => {
    if (text === '') return '';
    if (WORDS.has(name) && WORD.test(text)) return text;
    if (isSensitiveName(name) || /key|token|secret|password/i.test(name)) return '(secret)';
    if (UUID.test(text) || /(^|_)id$/.test(name)) return numbered('id', text);
    if (text.includes('@')) return numbered('email', text);
    return name.endsWith('name') ? numbered('name', text) : '(text)';
  };
  const valueOf = (value: Value, name: string): Json => {
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'string') return textOf(value, name);
    if (typeof value === 'number' || value instanceof WireNumber)
      return /(^|_)id$/.test(name) || isSensitiveName(name)
        ? numbered('id', String(value instanceof WireNumber ? value.token : value))
        : Number(value instanceof WireNumber ? value.token : value);
    if (isList(value)) return value.map((item) => valueOf(item, name));
    if (!isRecord(value)) return '(secret)';
    const isFree = FREE.test(name);
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        isFree || !KEY.test(key) ? numbered('name', key) : key,
        valueOf(inner, key),
      ]),
    );
  };
  return { of: (value) => valueOf(value, ''), ofId: (id) => numbered('id', id) };
}
