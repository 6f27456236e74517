import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordedRequest } from '../contract/recorded-dialect.ts';
import { send, type Received } from '../contract/send.ts';
import {
  bodyFrom,
  casesOf,
  casesWithServerMcp,
  comparable,
  isMap,
  likeRecorded,
  parseExactly,
  stringifyExactly,
  withoutAdded,
  type Answer,
  type Case,
} from './exchanges.ts';
import { theRelease } from './releases.ts';
import { startRealServer, type RealServer } from './real-server.ts';

const { release, venv } = theRelease();
const { added = [], differs = {} } = release;

/** The entry that the server of settings-with-server-mcp.json owns. It reads it only if it has a key of its own, too. */
const OWN_ENTRY = `[llm]
api_key = "a-key-of-the-server"
[mcp]
sse_servers = [{ url = "https://server-own.example.com/sse", api_key = "server-own-key" }]
`;

describe('contract', () => {
  const names = [...casesOf(release), ...ownEntryCases()].map(({ name }) => name);
  it.each(Object.keys(differs))('is known to differ in a case that exists: %s', (name) => {
    expect(names).toContain(name);
  });

  describe('on an empty store', () => replayAll(casesOf(release)));
  if (release.dialect === 'settings-v0')
    describe('on a server with mcp entries of its own', () =>
      replayAll(casesWithServerMcp(), OWN_ENTRY));
});

function ownEntryCases(): readonly Case[] {
  return release.dialect === 'settings-v0' ? casesWithServerMcp() : [];
}

function replayAll(cases: readonly Case[], config?: string): void {
  let server: RealServer;
  beforeAll(async () => {
    server = await startRealServer(release, venv, config);
  });
  afterAll(() => server?.close());

  for (const recorded of cases) {
    const reason = differs[recorded.name];
    // A difference that is gone is a failure, too: the list says what is so today.
    const test = reason === undefined ? it : it.fails;
    test(reason === undefined ? recorded.name : `${recorded.name} (${reason})`, async () => {
      server.empty();
      for (const [name, content] of Object.entries(recorded.given)) server.put(name, content);
      await replay(server, recorded);
    });
  }
}

async function replay(server: RealServer, { steps }: Case): Promise<void> {
  const answers: string[] = [];
  let isRestarted = false;
  try {
    for (const step of steps) {
      switch (step.kind) {
        case 'exchange': {
          const received = await request(server, step.request, answers);
          answers.push(received.text);
          compare(server, received, step.answer);
          break;
        }
        case 'restart':
          isRestarted = true;
          await server.stop();
          await server.start(variables(step.env));
          break;
        case 'file':
          server.put(step.name, step.content);
          break;
        case 'parallel': {
          const all = step.requests.map((one) => request(server, one, []));
          expect((await Promise.all(all)).map(({ status }) => status)).toEqual(step.statuses);
          break;
        }
      }
    }
  } finally {
    if (isRestarted) {
      await server.stop();
      await server.start();
    }
  }
}

/** The variables that a recording names for a restart, as the server reads them. */
function variables({ KEY, SERVER_ENV = '', ...others }: Readonly<Record<string, string>>) {
  const more = SERVER_ENV.split(' ').filter((one) => one !== '');
  return {
    ...others,
    ...(KEY === undefined ? {} : { OH_SESSION_API_KEYS_0: KEY }),
    ...Object.fromEntries(more.map((one) => one.split('=', 2) as [string, string])),
  };
}

function compare(
  { store }: RealServer,
  { status, mediaType, text }: Received,
  expected: Answer,
): void {
  const isJson = mediaType === 'application/json' && text !== '';
  const body = isJson ? comparable(parseExactly(text.replaceAll(store, '(store)'))) : text;
  const shown = withoutAdded(inOutline(body), expected.body, added);
  const seen = likeRecorded(status === 422 ? typesAndPlaces(shown) : shown, expected.body);
  expect({ status, mediaType }).toEqual({ status: expected.status, mediaType: expected.mediaType });
  if (expected.part !== undefined) expect(body).toMatchObject(expected.part);
  else if (expected.body !== undefined)
    expect(seen).toEqual(status === 422 ? typesAndPlaces(expected.body) : expected.body);
}

/** Of openapi.json, the paths with their methods, as it is recorded. */
function inOutline(body: unknown): unknown {
  if (!isMap(body) || !isMap(body['paths']) || !isMap(body['info'])) return body;
  const paths = Object.entries(body['paths']).map(
    ([path, methods]) =>
      [path, Object.keys(methods as object).map((method) => method.toUpperCase())] as const,
  );
  return { openapi: body['openapi'], info: body['info'], paths: Object.fromEntries(paths) };
}

/** Of a refusal with details, each one's type and place: their texts are the validator's, and change with its version. */
function typesAndPlaces(body: unknown): unknown {
  if (!isMap(body) || !Array.isArray(body['detail'])) return body;
  const detail = body['detail'] as readonly { type: unknown; loc: unknown }[];
  return { detail: detail.map(({ type, loc }) => ({ type, loc })) };
}

function request(
  server: RealServer,
  asked: RecordedRequest,
  answers: readonly string[],
): Promise<Received> {
  const { method, path, auth = true, type = 'application/json', headers, body, raw } = asked;
  const made = bodyFrom(body, answers);
  const sent = asked.rawHex === undefined ? raw : Buffer.from(asked.rawHex, 'hex');
  const bytes = sent ?? (made === undefined ? undefined : stringifyExactly(made));
  return send(server.url, {
    method,
    path,
    headers: {
      ...keyHeader(server.key, auth),
      ...(bytes === undefined || type === null ? {} : { 'Content-Type': type }),
      ...headers,
    },
    ...(bytes === undefined ? {} : { body: bytes }),
  });
}

function keyHeader(key: string, auth: boolean | 'wrong' | 'bearer'): Record<string, string> {
  if (auth === false) return {};
  if (auth === 'bearer') return { Authorization: `Bearer ${key}` };
  return { 'X-Session-API-Key': auth === 'wrong' ? `${key}-wrong` : key };
}
