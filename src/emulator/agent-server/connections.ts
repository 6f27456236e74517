import { randomUUID } from 'node:crypto';
import type { Routes } from '../call.ts';
import { type Answer, detail, createJsonAnswer } from '../http/answer.ts';
import {
  isJsonObject,
  type JsonObject,
  readOwnMember,
  readObjectMember,
  readTextMember,
} from '../json.ts';
import { fitScalar } from '../native/fit-scalar.ts';
import { MASK } from '../native/secret-places.ts';
import { refuseValue, checkObject, nullable, type Rule, textRule } from '../rules.ts';
import { type ServerContent, readableThings, findThing, withoutThing, withThing } from './held.ts';
import type { LoadResult } from './named.ts';
import type { AgentServerKind } from './record.ts';
import { createHeldRoute, type HeldRequest } from './requests.ts';

const HELD = 'provider_connections';
const PATH = '/api/llm/provider-connections';
const MOST = 64;

/**
 * /api/llm/provider-connections: a key and an address that LLM profiles share. The server names them itself; the names that are
 * shown need not differ. Source: contract "connections: the order, two with one name", "connections: changed".
 */
export function connectionRoutes(kind: AgentServerKind): Routes {
  const ids = { PATCH: changing, DELETE: removing };
  return [
    createHeldRoute(kind, PATH, { GET: listing, POST: creating }),
    createHeldRoute(kind, `${PATH}/{id}`, ids),
  ];
}

function createTextRule(minLength: number, maxLength: number): Rule {
  const node = { type: 'string', minLength, maxLength };
  return (value, at) => fitScalar(node, { isNamed: false }, value, at);
}

const name = createTextRule(1, 128);
const address = nullable(createTextRule(0, 2048));

/** Source: contract "connections: least and most members", "connections: keys that are none". */
const newKey: Rule = (value, at) => {
  if (value !== '') return textRule(value, at);
  const msg = 'Value should have at least 1 item after validation, not 0';
  const ctx = { field_type: 'Value', min_length: 1n, actual_length: 0n };
  return { kind: 'bad', problems: [{ type: 'too_short', loc: at, msg, input: value, ctx }] };
};

const listing: HeldRequest = {
  does: (held) =>
    createJsonAnswer(
      200,
      readableThings(held, HELD).map(([, one]) => createConnectionListing(one)),
    ),
};

const creating: HeldRequest = {
  takes: (body, at) =>
    checkObject(
      [
        { name: 'display_name', rule: name },
        { name: 'provider', rule: name, absent: 'custom' },
        { name: 'api_key', rule: newKey },
        { name: 'base_url', rule: address, absent: null },
      ],
      'refused',
      body,
      at,
    ),
  does: (held, { body, now }) => {
    if (Object.keys(held.things[HELD]).length >= MOST)
      return detail(
        409,
        `Provider connection limit reached (${MOST}). Delete one before adding another.`,
      );
    const key = readTextMember(body, 'api_key');
    const id = randomUUID().replaceAll('-', '');
    const connection = {
      id,
      ...(isJsonObject(body) ? body : {}),
      api_key: key.trim() === '' || key === MASK ? null : key,
      created_at: wholeSeconds(now),
      updated_at: wholeSeconds(now),
    };
    const answer = createJsonAnswer(201, createConnectionListing(connection));
    return { held: withThing(held, HELD, id, connection), answer };
  },
};

const KEPT = ['display_name', 'provider'];

const changing: HeldRequest = {
  takes: (body, at) => {
    const members = [...KEPT, 'api_key', 'base_url'].map((member) => ({
      name: member,
      rule:
        member === 'api_key'
          ? nullable(textRule)
          : member === 'base_url'
            ? address
            : nullable(name),
      absent: null,
    }));
    const verdict = checkObject(members, 'refused', body, at);
    if (verdict.kind !== 'good' || !isJsonObject(body)) return verdict;
    const emptied = KEPT.find((member) => readOwnMember(body, member) === null);
    if (emptied !== undefined) return refuseValue(`${emptied} cannot be set to null`, at, body);
    return { kind: 'good', value: body };
  },
  does: (held, { sent, body, now }) => {
    const changes = isJsonObject(body) ? body : {};
    if (Object.keys(changes).length === 0)
      return detail(422, 'Provide at least one provider connection field to update');
    const before = findThing(held, HELD, sent);
    if (before === undefined) return answerNoConnection(sent);
    if (readOwnMember(changes, 'api_key') === null)
      return detail(422, 'api_key cannot be cleared; provide a new key to rotate it');
    const after = { ...before, ...changes, updated_at: wholeSeconds(now) };
    return {
      held: withThing(held, HELD, sent, after),
      answer: createJsonAnswer(200, createConnectionListing(after)),
    };
  },
};

/** Source: contract "connections: in use by two profiles and the settings". */
const removing: HeldRequest = {
  does: (held, { sent }) => {
    const found = findThing(held, HELD, sent);
    if (found === undefined) return answerNoConnection(sent);
    const users = listProfilesOnConnection(held, sent);
    if (users.length > 0)
      return detail(
        409,
        `Provider connection cannot be deleted while it is ${users.join(' and ')}. Update those references before deleting it.`,
      );
    const answer = createJsonAnswer(200, { ...createConnectionListing(found), api_key_set: false });
    return { held: withoutThing(held, HELD, sent), answer };
  },
};

function answerNoConnection(id: string): Answer {
  return detail(404, `Provider connection '${id}' not found`);
}

function listProfilesOnConnection(held: ServerContent, id: string): readonly string[] {
  const names = readableThings(held, 'llm_profiles')
    .filter(([, profile]) => readOwnMember(profile, 'provider_connection_id') === id)
    .map(([profile]) => profile)
    .toSorted();
  const llm = readObjectMember(readObjectMember(held.record ?? {}, 'agent_settings'), 'llm');
  return [
    ...(names.length === 0 ? [] : [`referenced by LLM profile(s): ${names.join(', ')}`]),
    ...(readOwnMember(llm, 'provider_connection_id') === id
      ? ['referenced by the active agent settings']
      : []),
  ];
}

function createConnectionListing(connection: JsonObject): JsonObject {
  const { api_key: _, ...shown } = connection;
  return { ...shown, api_key_set: connectionKey(connection) !== null };
}

/** The key of a connection; null if it has no usable one. */
export function connectionKey(connection: JsonObject): string | null {
  const key = readOwnMember(connection, 'api_key');
  return typeof key === 'string' && key.trim() !== '' ? key : null;
}

/** The connection that an llm names, if it is there. */
export function findConnection(held: ServerContent, llm: JsonObject): JsonObject | undefined {
  const id = readOwnMember(llm, 'provider_connection_id');
  return typeof id === 'string' ? findThing(held, HELD, id) : undefined;
}

/** A stored llm: where a connection has them, it has no key and no address of its own. */
export function ownLlm(llm: JsonObject): JsonObject {
  const isLinked = readTextMember(llm, 'provider_connection_id') !== '';
  return isLinked ? { ...llm, api_key: null, base_url: null } : llm;
}

/** An llm with the key and the address of its connection. Source: contract "connections: an id that is not there". */
export function linkLlmConnection(
  held: ServerContent,
  profile: string,
  llm: JsonObject,
): LoadResult {
  const id = readTextMember(llm, 'provider_connection_id');
  if (id === '') return { thing: llm };
  const connection = findConnection(held, llm);
  if (connection === undefined) {
    const sentence = `Profile '${profile}' references provider connection '${id}', which does not exist.`;
    return { refused: detail(422, `${sentence} Update the profile or recreate the connection.`) };
  }
  const key = connectionKey(connection);
  const base_url = readOwnMember(connection, 'base_url') ?? null;
  return { thing: { ...llm, base_url, ...(key === null ? {} : { api_key: key }) } };
}

function wholeSeconds(now: number): bigint {
  return BigInt(Math.floor(now / 1000));
}
