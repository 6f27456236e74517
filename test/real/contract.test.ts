import { stringify } from 'lossless-json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  recordedDialect,
  type Json,
  type RecordedDialectCase,
  type RecordedFile,
} from '../contract/recorded-dialect.ts';
import { recordedCases, type RecordedCase, type RecordedStep } from '../contract/recorded.ts';
import { replayCase } from '../contract/replay-dialect.ts';
import { type Received, send } from '../contract/send.ts';
import type { DialectName } from '../../src/reconciler/model/dialect.ts';
import { theRelease } from './releases.ts';
import { startRealServer, type RealServer } from './real-server.ts';

const { release, venv } = theRelease();
const { dialect, added = [], differs = {} } = release;

/** The entry that the server of settings-with-server-mcp.json owns. It reads it only if it has a key of its own, too. */
const OWN_ENTRY = `[llm]
api_key = "a-key-of-the-server"
[mcp]
sse_servers = [{ url = "https://server-own.example.com/sse", api_key = "server-own-key" }]
`;

/** A recorded case, and how it is replayed on a server whose store is empty. */
interface Case {
  readonly name: string;
  readonly replay: (server: RealServer) => Promise<void>;
}

describe('contract', () => {
  const cases = [
    ...(dialect === 'settings-v0' ? settingsV0('settings.json') : []),
    ...FILES[dialect].flatMap(recordedIn),
  ];
  const own = dialect === 'settings-v0' ? settingsV0('settings-with-server-mcp.json') : [];

  it.each(Object.keys(differs))('is known to differ in a case that is there: %s', (name) => {
    expect([...cases, ...own].map((one) => one.name)).toContain(name);
  });

  describe('on an empty store', () => replayAll(cases));
  if (own.length > 0)
    describe('on a server with mcp entries of its own', () => replayAll(own, OWN_ENTRY));
});

function replayAll(cases: readonly Case[], config?: string): void {
  let server: RealServer;
  beforeAll(async () => {
    server = await startRealServer(release, venv, config === undefined ? {} : { config });
  });
  afterAll(() => server?.close());

  for (const { name, replay } of cases) {
    const reason = differs[name];
    // A difference that is gone is a failure, too: the list says what is so today.
    const test = reason === undefined ? it : it.fails;
    test(reason === undefined ? name : `${name} (${reason})`, async () => {
      server.empty();
      await replay(server);
    });
  }
}

const FILES: Readonly<Record<DialectName, readonly RecordedFile[]>> = {
  'settings-v0': ['collections-settings-v0'],
  'app-server': ['app-server', 'collections-app-server', 'more-app-server'],
  'agent-server': ['agent-server', 'more-agent-server'],
};

function recordedIn(file: RecordedFile): readonly Case[] {
  const recorded = recordedDialect(file);
  // The answers of a release that lacks members of the recorded one are alike only where it was recorded itself.
  const isNamed = ({ releases }: RecordedDialectCase) =>
    releases?.includes(release.release) ?? release.lacks === undefined;
  const cases = recorded.cases.filter((one) => isNamed(one) && !hasGitToken(one));
  return cases.map((one) => ({
    name: one.name,
    async replay(server) {
      let isRestarted = false;
      const restart = async (env: Readonly<Record<string, string>>) => {
        isRestarted = true;
        await server.stop();
        await server.start(variables(env));
      };
      const { url, store: folder } = server;
      const put = (name: string, content: Json) => server.put(name, textOf(content));
      try {
        await replayCase(file, recorded, one, { url, folder, added, restart, put });
      } finally {
        if (isRestarted) await restart({});
      }
    },
  }));
}

/** A server shows such a token to git providers, which nothing stands in for here. */
function hasGitToken(one: RecordedDialectCase): boolean {
  return /"provider_tokens":\{[^}]*"token":"[^"]/.test(stringify(one) ?? '');
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

function textOf(content: Json): string | null {
  return content === null || typeof content === 'string' ? content : (stringify(content) ?? '');
}

function settingsV0(file: string): readonly Case[] {
  return recordedCases(file).map((recorded: RecordedCase) => ({
    name: recorded.name,
    async replay(server) {
      for (const step of recorded.steps) await replayV0(server, step);
    },
  }));
}

async function replayV0(server: RealServer, { request, response }: RecordedStep): Promise<void> {
  const { method, path, auth, body, raw } = request;
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const key = auth === 'wrong' ? `${server.key}-wrong` : server.key;
  const received = await send(server.url, {
    method,
    path,
    headers: {
      ...(auth === false ? {} : { 'X-Session-API-Key': key }),
      ...(text === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(text === undefined ? {} : { body: text }),
  });
  const isJson = received.mediaType === 'application/json';
  const seen: unknown = isJson ? JSON.parse(received.text) : received.text;
  const { headers = {}, ...expected } = response;
  expect({
    status: received.status,
    contentType: received.mediaType,
    body: received.status === 422 ? typesAndPlaces(seen) : withoutAdded(seen, response.body),
  }).toEqual(expected);
  expect(withPath(received.headers, server.url)).toMatchObject(headers);
}

/** A real server names itself where a recording has the path alone. */
function withPath(headers: Received['headers'], url: string): Received['headers'] {
  const { location } = headers;
  return typeof location === 'string'
    ? { ...headers, location: location.replace(url, '') }
    : headers;
}

/** Of a refusal, each detail's type and place: its text is the validator's, and changes with its version. */
function typesAndPlaces(body: unknown): unknown {
  const { detail } = body as { readonly detail: readonly { type: unknown; loc: unknown }[] };
  return { detail: detail.map(({ type, loc }) => ({ type, loc })) };
}

/** A body without the members at its top that this release has added, unless the recording has them, too. */
function withoutAdded(seen: unknown, recorded: unknown): unknown {
  if (typeof seen !== 'object' || seen === null) return seen;
  const known = Object.keys(recorded as object);
  return Object.fromEntries(
    Object.entries(seen).filter(([name]) => known.includes(name) || !added.includes(name)),
  );
}
