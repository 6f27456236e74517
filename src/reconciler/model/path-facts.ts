import { fieldNamed, NATIVE_SERVERS } from './field.ts';
import { isMcpList } from './mcp.ts';
import type { Path } from './path.ts';
import { holdsSecretText, isSecretText } from './secret-words.ts';
import type { Code, ListFact, MemberFacts, Safety } from './type-facts.ts';
import { TYPES } from './types.gen.ts';

/**
 * The facts of a path come from the type that it leads to, wherever that type hangs: `agent_settings.llm.api_key`, `llm_api_key` and
 * `llm_profiles.main.api_key` are the `api_key` of an Llm. schemas/servers/facts.json and `x-setpoint` of settings.schema.json declare
 * them; `npm run generate` writes types.gen.ts.
 */
export interface Facts {
  /** True if a document must not show the stored value. */
  readonly secret: boolean;
  /** The code that a value there makes the service run; null if it runs nothing. */
  readonly runs: Code | null;
  /** The way in which a value there protects users; null if it does not. */
  readonly safety: Safety | null;
  /** The credentials that the service sends to a value there; null if it is not an address. */
  readonly address: Address | null;
  /** The rule for names inside: shown whatever they look like, as those of variables, headers and servers, or judged. */
  readonly names: 'shown' | 'judged';
  /** The block whose items a value there names; null if it names none. */
  readonly item: string | null;
  /** The use of a text there by the service. It determines which texts work. */
  readonly use: TextUse;
  /** The texts that a schema names; empty for other places, and for those of secrets. */
  readonly words: readonly string[];
  /** Not false for a list of text: the value of one reference there is split at commas. */
  readonly list: ListFact;
  /** True if only the server writes the value: it is not compared, and a write neither sends nor loses it. */
  readonly served: boolean;
}

/**
 * `url`: an address of a model provider and the like. `endpoint`: the address of an mcp server, which may have a query or userinfo. `host`: a host, with a scheme
 * or without. `header`: the value of a header. `key`: one that is sent in a header. `name`: one line. `prose`: sentences. `free`: any other text.
 */
export type TextUse = 'url' | 'endpoint' | 'host' | 'header' | 'key' | 'name' | 'prose' | 'free';

export interface Address {
  /** `url`: the value is the address. `model`: the service knows the address of its provider. */
  readonly by: 'url' | 'model';
  /** Groups of credentials: of each group, the service sends the first that is stored. */
  readonly sends: readonly (readonly Path[])[];
  /** True if a stored credential goes to a new address even if the same write replaces it. */
  readonly former: boolean;
}

const FREE: MemberFacts = {};

/** Returns the facts about a member of a type; empty for an unknown member. */
export function memberFacts(type: string | undefined, name: string): MemberFacts {
  const members = type === undefined ? undefined : TYPES[type];
  return members !== undefined && Object.hasOwn(members, name) ? (members[name] ?? FREE) : FREE;
}

/** Returns the facts about a value in a map or list. */
export function eachFacts(member: MemberFacts): MemberFacts {
  const { many: _, names: __, runs: ___, list: ____, each, ...shared } = member;
  return { ...shared, ...each };
}

/** The type of a path: an item of a block, or the settings. */
function findPathType(path: Path): readonly [type: string, path: Path] {
  const [first = ''] = path;
  return memberFacts('File', first) === FREE ? ['Settings', toNativePlace(path)] : ['File', path];
}

/** A path with the native place of a field, if later servers have one. Lists of mcp servers stay. */
function toNativePlace(path: Path): Path {
  const [name = '', ...rest] = path;
  const field = fieldNamed(name);
  return field === undefined || name === 'mcp_config' ? path : [...field.place, ...rest];
}

/** Returns the facts about each part of a path, from the first on. */
function listPathFacts([start, path]: readonly [string, Path]): readonly MemberFacts[] {
  const chain: MemberFacts[] = [];
  let above: MemberFacts = { type: start };
  for (const key of path) {
    above = above.many === true ? eachFacts(above) : memberFacts(above.type, key);
    chain.push(above);
  }
  return chain;
}

/** Returns the facts about a place, whichever way its path is spelled. Values inside a place share its facts. */
export function findPathFacts(path: Path): Facts {
  const [start, place] = findPathType(path);
  const chain = listPathFacts([start, place]);
  const own = chain.at(-1) ?? FREE;
  const code = chain.flatMap(({ runs }) => runs ?? []);
  const isSecret = chain.some(({ secret }) => secret === true);
  return {
    secret: isSecret,
    runs: code.length === 0 ? null : { what: '', replaced: false, ...Object.assign({}, ...code) },
    safety: own.safety ?? null,
    address: resolveAddress(own, start, place),
    names: own.names === true ? 'shown' : 'judged',
    item: own.item ?? null,
    use: findTextUse(chain),
    words: isSecret ? [] : (own.words ?? []),
    list: own.list ?? false,
    served: chain.some(({ served }) => served === true),
  };
}

/** Forms of text that have one line. */
const ONE_LINE: ReadonlySet<string> = new Set(['name', 'id', 'source']);

function findTextUse(chain: readonly MemberFacts[]): TextUse {
  const { address, shows = '' } = chain.at(-1) ?? FREE;
  const declared = chain.findLast(({ text }) => text !== undefined)?.text;
  if (declared === 'header' || declared === 'host') return declared;
  if (declared !== undefined) return 'free';
  if (address?.by === 'url') return shows === 'address' ? 'endpoint' : 'url';
  if (chain.some(({ secret }) => secret === true)) return 'key';
  if (shows === 'prose' || shows === 'text') return 'prose';
  return ONE_LINE.has(shows) ? 'name' : 'free';
}

function resolveAddress({ address }: MemberFacts, start: string, place: Path): Address | null {
  if (address === undefined || address === null) return null;
  const at = (relative: string): Path => {
    const up = relative.split('../').length - 1;
    const inner = relative.slice(up * '../'.length).split('.');
    return [...place.slice(0, place.length - 1 - up), ...inner];
  };
  // Not every type around one has what its members name.
  const isThere = (path: Path): boolean =>
    listPathFacts([start, path.slice(0, -1)]).at(-1) !== FREE;
  const sends = address.sends.map((group) => group.split('|').map(at).filter(isThere));
  const { by, former = false } = address;
  return { by: by === 'model' ? 'model' : 'url', sends, former };
}

/**
 * The one form of a path that facts are known by: of a field of the specification its native place, if later servers have one; an mcp
 * entry under its identity, whatever list it is in.
 */
export function normalPath(path: Path): Path {
  const [name = '', ...rest] = path;
  if (name === 'mcp_servers') return [...NATIVE_SERVERS, ...rest];
  if (name === 'marketplaces') return ['registered_marketplaces', ...rest];
  if (name !== 'mcp_config') return toNativePlace(path);
  return [...NATIVE_SERVERS, ...(isMcpList(rest[0]) ? rest.slice(1) : rest)];
}

/**
 * The places inside a part of the settings, or inside an item of a block, with known facts that a write is judged by. The content of a map
 * or list there has no places: its names are not known.
 */
export function placesWithin(path: Path): readonly Path[] {
  const whole = normalPath(path);
  const [start] = findPathType(whole);
  const chain = listPathFacts([start, whole]);
  const isEntry = start === 'Settings' && chain.slice(0, -1).some(({ many }) => many === true);
  return isEntry ? [] : listRelevantPlaces(chain.at(-1) ?? FREE, whole);
}

function listRelevantPlaces({ type, many = false }: MemberFacts, above: Path): readonly Path[] {
  if (many || type === undefined) return [];
  return Object.entries(TYPES[type] ?? {}).flatMap(([name, member]) => {
    const path = [...above, name];
    const { secret, runs, safety, address } = member;
    const isJudged = secret === true || (runs ?? safety ?? address ?? null) !== null;
    return [...(isJudged ? [path] : []), ...listRelevantPlaces(member, path)];
  });
}

/** The visible part of a path: free JSON may have a secret for a key. */
export function maskFreeKeys(path: Path): Path {
  const hidden = path.findIndex(
    (name, index) =>
      (isSecretText(name) || holdsSecretText(name)) &&
      findPathFacts(path.slice(0, index)).names === 'judged',
  );
  return hidden < 1 ? path : path.slice(0, hidden);
}
