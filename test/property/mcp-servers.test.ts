import fc from 'fast-check';
import { expect } from 'vitest';
import { apply } from '../../src/reconciler/operations/apply.ts';
import { plan } from '../../src/reconciler/operations/plan.ts';
import { leaks } from '../fixture/arbitrary.ts';
import { at } from '../fixture/loop/dialects.ts';
import { requestOf, type Tapped, withTapped } from '../fixture/loop/tapped.ts';
import { describeEach } from '../fixture/long.ts';
import { itHolds } from '../fixture/property-runs.ts';
import type { Json, JsonRecord } from '../fixture/store-server.ts';

/**
 * mcp servers on the dialects that keep them by name, against a model of their own: what a server has after an apply follows from
 * what it had, what the file declares and what somebody else wrote meanwhile. Nothing of the model is taken from src.
 */
const DIALECTS = ['app-server', 'agent-server'] as const;
type Later = (typeof DIALECTS)[number];
const SERVERS = ['agent_settings', 'mcp_config'];
const CANARY = 'cAnArY';
const ENV = { S1: `${CANARY}-s1`, S2: `${CANARY}-s2`, S3: `${CANARY}-s3` };
const names = ['one', 'two', 'x/y', 'files'] as const;
const url = fc.constantFrom(
  'https://a.example.com/mcp',
  'https://a.example.com/sse',
  'https://b.example.com/mcp',
);

/** Some members of a record, absent ones left out. */
function sparse(members: Readonly<Record<string, fc.Arbitrary<Json>>>, required: string[]) {
  return fc
    .record(members, { requiredKeys: required })
    .map((record) => JSON.parse(JSON.stringify(record)) as JsonRecord);
}

/** The ways to authenticate, each with the secret that a name stands for. */
const auths = (secret: fc.Arbitrary<string>): fc.Arbitrary<JsonRecord> =>
  secret.chain((value) =>
    fc.constantFrom<JsonRecord>(
      { strategy: 'none' },
      { strategy: 'api_key', value },
      { strategy: 'api_key', value, header_name: 'X-Own' },
      { strategy: 'bearer', value },
      { strategy: 'basic', username: 'me', password: value },
      { strategy: 'header', headers: { 'X-Key': value } },
    ),
  );

const members = (dialect: Later, secret: fc.Arbitrary<string>) => ({
  transport: fc.constantFrom('http', 'streamable-http', 'sse'),
  auth: auths(secret),
  headers: secret.map((value): Json => ({ 'X-Team': value })),
  description: fc.constantFrom('theirs', 'own'),
  timeout: fc.constantFrom(30, 60, 12.5),
  ...(dialect === 'agent-server' ? { enabled: fc.boolean() } : {}),
});

const program = (secret: fc.Arbitrary<string>) => ({
  command: fc.constantFrom('npx', 'uvx'),
  args: fc.constantFrom<Json>(['-y'], ['-y', 'x']),
  env: secret.map((value): Json => ({ TOKEN: value })),
  cwd: fc.constantFrom('/srv', '/opt'),
});

/** What a server has: every secret in it is its own, so that the model can say where each of them is. */
function storedOn(dialect: Later): fc.Arbitrary<JsonRecord> {
  const secret = fc.constant('(own)');
  const server = fc.oneof(
    { arbitrary: sparse({ url, ...members(dialect, secret) }, ['url']), weight: 3 },
    { arbitrary: sparse(program(secret), ['command']), weight: 1 },
  );
  return fc
    .dictionary(fc.constantFrom(...names), server, { maxKeys: 4 })
    .map((servers) =>
      Object.fromEntries(
        Object.entries(servers).map(([name, one]) => [
          name,
          JSON.parse(JSON.stringify(one).replaceAll('(own)', `${CANARY}-of-${name}`)) as Json,
        ]),
      ),
    );
}

interface Declared {
  readonly settings: JsonRecord;
  /** The lists that the file declares are exhaustive; a map is about all of them. */
  readonly lists: readonly string[];
  /** Entries with the name that they are declared by, null if by their address alone. */
  readonly entries: readonly { readonly name: string | null; readonly members: JsonRecord }[];
}

const reference = fc.constantFrom('${env:S1}', '${env:S2}', '${env:S3}');
const orNull = (member: fc.Arbitrary<Json>) =>
  fc.oneof({ arbitrary: member, weight: 4 }, { arbitrary: fc.constant(null), weight: 1 });

function declaredMap(dialect: Later): fc.Arbitrary<Declared> {
  const { headers, ...own } = members(dialect, reference);
  const nullable = Object.fromEntries(
    Object.entries(own).map(([name, value]) => [
      name,
      name === 'transport' || name === 'enabled' ? value : orNull(value as fc.Arbitrary<Json>),
    ]),
  );
  const empty = fc.constant<Json>({});
  const remote = { url, ...nullable, headers: fc.oneof(orNull(headers), empty) };
  const { env, cwd, ...rest } = program(reference);
  const local = { ...rest, env: fc.oneof(env, empty), cwd: orNull(cwd) };
  return fc
    .dictionary(
      fc.constantFrom(...names),
      fc.oneof(
        { arbitrary: sparse(remote, ['url']), weight: 3 },
        { arbitrary: sparse(local, ['command']), weight: 1 },
      ),
      { maxKeys: 4 },
    )
    .map((servers) => ({
      settings: { agent_settings: { mcp_config: servers } },
      lists: ['sse_servers', 'stdio_servers', 'shttp_servers'],
      entries: Object.entries(servers).map(([name, one]) => ({ name, members: one })),
    }));
}

/** Entries of the lists: named ones, two of one address among them, and ones without a name, whose address no other has. */
function declaredLists(): fc.Arbitrary<Declared> {
  const key = orNull(reference);
  const unlike = (one: JsonRecord) => JSON.stringify(one['name'] ?? one['url']);
  const remote = (more: Readonly<Record<string, fc.Arbitrary<Json>>>) =>
    fc.uniqueArray(
      sparse({ name: fc.constantFrom('one', 'two', 'x/y'), url, api_key: key, ...more }, ['url']),
      { maxLength: 3, selector: unlike },
    );
  const { command, args, env } = program(reference);
  const local = fc.uniqueArray(
    sparse({ name: fc.constant('files'), command, args, env }, ['name', 'command']),
    { maxLength: 1, selector: unlike },
  );
  const lists = fc.record(
    {
      sse_servers: remote({}),
      shttp_servers: remote({ timeout: fc.constantFrom(30, 60) }),
      stdio_servers: local,
    },
    { requiredKeys: [] },
  );
  return lists
    .map((chosen) => JSON.parse(JSON.stringify(chosen)) as Readonly<Record<string, JsonRecord[]>>)
    .filter((chosen) => Object.keys(chosen).length > 0 && isPlain(Object.values(chosen).flat()))
    .map((chosen) => ({
      settings: { mcp_config: chosen },
      lists: Object.keys(chosen),
      entries: Object.entries(chosen).flatMap(([list, entries]) =>
        entries.map(({ name, api_key: value, ...rest }) => ({
          name: typeof name === 'string' ? name : null,
          members: {
            ...rest,
            ...(list === 'stdio_servers'
              ? {}
              : { transport: list === 'sse_servers' ? 'sse' : 'http' }),
            ...(value === undefined ? {} : { key: value }),
          },
        })),
      ),
    }));
}

/** No name twice, and no address without a name that another entry has: which one is meant would be a guess. */
function isPlain(entries: readonly JsonRecord[]): boolean {
  const called = entries.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const nameless = entries.filter(({ name }) => name === undefined).map((one) => one['url']);
  const urls = entries.map((one) => one['url']);
  return (
    new Set(called).size === called.length &&
    nameless.every((one) => urls.filter((other) => other === one).length === 1)
  );
}

/** Whether an entry without a name has the address of a server whose name another entry declares: the plan refuses the two. */
function isTaken(before: JsonRecord, { entries }: Declared): boolean {
  const nameless = entries
    .filter(({ name }) => name === null)
    .map(({ members: one }) => one['url']);
  return entries.some(({ name }) => {
    const server = name === null ? undefined : before[name];
    return isMap(server) && nameless.includes(server['url']);
  });
}

function resolved(value: Json): Json {
  return JSON.parse(
    JSON.stringify(value).replaceAll(/\$\{env:(S\d)\}/g, (_, name: 'S1') => ENV[name]),
  ) as Json;
}

const isMap = (value: Json | undefined): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a value says nothing: it is absent, null, an empty map, or no way to authenticate. */
function isNothing(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  return isMap(value) && (Object.keys(value).length === 0 || value['strategy'] === 'none');
}

/** Whether a server has what is declared: members of maps one by one, nothing for nothing. */
function holds(stored: Json | undefined, declared: Json, was: Json | undefined): boolean {
  if (isNothing(declared)) return isNothing(stored);
  if (isMap(declared))
    return (
      isMap(stored) &&
      Object.entries(declared).every(([name, one]) =>
        holds(stored[name], one, isMap(was) ? was[name] : undefined),
      )
    );
  return JSON.stringify(stored) === JSON.stringify(declared) || isKept(stored, declared, was);
}

/** Whether a secret that is declared is the one that was there: which one is stored cannot be seen. */
function isKept(stored: Json | undefined, declared: Json, was: Json | undefined): boolean {
  const isSecret = typeof declared === 'string' && declared.startsWith(CANARY);
  return isSecret && typeof was === 'string' && stored === was;
}

const listOf = (server: JsonRecord): string => {
  const { command, url: address, transport } = server;
  if (command !== undefined && command !== null) return 'stdio_servers';
  const isStream =
    transport === 'sse' ||
    (transport === undefined && typeof address === 'string' && address.endsWith('/sse'));
  return isStream ? 'sse_servers' : 'shttp_servers';
};

/** A server with the transport that it means if it says none. */
function meant(server: JsonRecord | undefined): JsonRecord | undefined {
  if (server === undefined) return undefined;
  const list = listOf(server);
  const usual =
    list === 'stdio_servers' ? {} : { transport: list === 'sse_servers' ? 'sse' : 'http' };
  const { transport = null, ...rest } = server;
  const own = transport === null ? usual : { transport };
  return Object.fromEntries(
    Object.entries({ ...rest, ...own }).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

const originOf = (server: JsonRecord): string =>
  typeof server['url'] === 'string' ? new URL(server['url']).origin : 'program';

/** The one value by which a server is authenticated, whatever header it goes into; null if there is none or it is none. */
function keyOf({ auth }: JsonRecord): Json {
  if (!isMap(auth) || (auth['strategy'] !== 'api_key' && auth['strategy'] !== 'bearer'))
    return null;
  return auth['value'] ?? null;
}

/** What is wrong with the servers after an apply; nothing if it is as the model says. */
function faults(before: JsonRecord, declared: Declared, after: JsonRecord): string[] {
  const found: string[] = [];
  const isList = declared.settings['mcp_config'] !== undefined;
  const left = new Map(Object.entries(after) as [string, JsonRecord][]);
  // Entries without a name stand for the server of their address that no declared name is.
  const named = new Set(declared.entries.map(({ name }) => name));
  for (const { name, members: wanted } of declared.entries.toSorted(
    (one, other) => Number(one.name === null) - Number(other.name === null),
  )) {
    const key =
      name ??
      [...left.keys()].find(
        (one) =>
          !named.has(one) &&
          left.get(one)?.['url'] === wanted['url'] &&
          listOf(left.get(one) ?? {}) === listOf(wanted),
      );
    const server = key === undefined ? undefined : left.get(key);
    if (key === undefined || server === undefined) {
      found.push(`${name ?? JSON.stringify(wanted['url'])} is not there`);
      continue;
    }
    left.delete(key);
    for (const [member, value] of Object.entries(wanted)) {
      const own = resolved(value);
      const old = before[key] as JsonRecord | undefined;
      if (member === 'key') {
        const had = old === undefined ? null : keyOf(old);
        if (keyOf(server) !== own && !isKept(keyOf(server), own, had))
          found.push(`${key} has not the key that is declared`);
        continue;
      }
      const same = member === 'transport' && listOf(server) === listOf(wanted) && isList;
      if (!same && !holds(meant(server)?.[member], own, old?.[member]))
        found.push(`${key}.${member} is not as declared`);
    }
    const was = before[key] as JsonRecord | undefined;
    // One that moves to another list is removed there and new here, as the plan says.
    if (was === undefined || originOf(was) !== originOf(server) || listOf(was) !== listOf(server))
      continue;
    for (const [member, value] of Object.entries(was)) {
      const isDeclared =
        member in wanted || member === 'transport' || (member === 'auth' && 'key' in wanted);
      if (!isDeclared && JSON.stringify(server[member]) !== JSON.stringify(value))
        found.push(`${key}.${member} is not as it was`);
    }
  }
  for (const [key, server] of left) {
    const was = before[key] as JsonRecord | undefined;
    if (declared.lists.includes(listOf(server))) found.push(`${key} should be gone`);
    else if (JSON.stringify(meant(was)) !== JSON.stringify(meant(server)))
      found.push(`${key} was changed`);
  }
  for (const key of Object.keys(before)) {
    const was = before[key] as JsonRecord;
    if (!declared.lists.includes(listOf(was)) && !named.has(key) && !(key in after))
      found.push(`${key} is gone`);
  }
  return [...found, ...travelled(before, after)];
}

/** Stored secrets that are now where another machine gets them. */
function travelled(before: JsonRecord, after: JsonRecord): string[] {
  return Object.entries(before).flatMap(([name, one]) => {
    const secret = `"${CANARY}-of-${name}"`;
    return Object.entries(after)
      .filter(
        ([, other]) =>
          JSON.stringify(other).includes(secret) &&
          originOf(other as JsonRecord) !== originOf(one as JsonRecord),
      )
      .map(([other]) => `the secret of ${name} went to another origin as ${other}`);
  });
}

const inSettings = (servers: JsonRecord): JsonRecord => ({
  agent_settings_diff: { mcp_config: servers },
});

/** A service that has these servers. */
function withServers(
  dialect: Later,
  stored: JsonRecord,
  use: (world: Tapped) => Promise<void>,
): Promise<void> {
  return withTapped(dialect, async (world) => {
    // An address of its own, so that no store infers another one.
    const llm = { model: 'own/three', base_url: 'https://llm.example.com' };
    await world.write({ agent_settings_diff: { llm } });
    await world.write(inSettings(stored));
    await use(world);
  });
}

async function serversOf({ server }: Tapped): Promise<JsonRecord> {
  return (at(await server.record(), SERVERS) ?? {}) as JsonRecord;
}

describeEach(DIALECTS, (dialect) => dialect === 'agent-server')('%s', (dialect) => {
  const declared = fc.oneof(declaredMap(dialect), declaredLists());

  itHolds(
    'has the servers that are declared, keeps what is not, and sends no secret to another origin',
    12,
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(
          storedOn(dialect),
          fc.array(declared, { minLength: 1, maxLength: 3 }),
          async (stored, edits) => {
            await withServers(dialect, stored, async (world) => {
              for (const edit of edits) {
                const asked = requestOf(world, edit.settings, ENV);
                const before = await serversOf(world);
                if (isTaken(before, edit)) continue;
                world.tap.forget();
                const planned = await plan(asked);
                const outcome = await apply(asked);
                expect(leaks(JSON.stringify([planned, outcome]))).toBe(false);
                expect(world.tap.sent()).not.toContain('*****');
                const [looked] = planned.environments;
                const [environment] = outcome.environments;
                const after = await serversOf(world);
                // What an apply refuses, the plan has refused.
                expect(environment?.refusals).toEqual(looked?.refusals);
                if (environment?.status === 'refused') {
                  expect(world.tap.writes).toEqual([]);
                  expect(after).toEqual(before);
                  continue;
                }
                expect(environment).toMatchObject({ error: null, remaining: [] });
                expect(faults(before, edit, after)).toEqual([]);
                expect(world.tap.writes).toHaveLength(looked?.changes.length === 0 ? 0 : 1);
                world.tap.forget();
                const [again] = (await apply(asked)).environments;
                expect(again).toMatchObject({ status: 'in-sync', changes: [] });
                expect(world.tap.writes).toEqual([]);
              }
            });
          },
        ),
        { numRuns },
      );
    },
  );

  itHolds('never loses or blesses what somebody else writes beside it', 8, async (numRuns) => {
    const theirs = fc.constantFrom<JsonRecord>(
      { intruder: { url: 'https://evil.example.com/mcp' } },
      { one: { url: 'https://a.example.com/mcp', description: 'theirs too' } },
      { files: { command: 'uvx', args: ['theirs'] } },
    );
    await fc.assert(
      fc.asyncProperty(storedOn(dialect), declared, theirs, async (stored, edit, foreign) => {
        const [[name, server]] = Object.entries(foreign) as [[string, Json]];
        const was = stored[name];
        fc.pre(!isMap(was) || (isMap(server) && 'url' in was === 'url' in server));
        await withServers(dialect, stored, async (world) => {
          const asked = requestOf(world, edit.settings, ENV);
          if (isTaken(stored, edit)) return;
          let written: JsonRecord | null = null;
          world.tap.once('before a write', async () => {
            await world.write(inSettings(foreign));
            written = await serversOf(world);
            return 'goes on';
          });
          const [environment] = (await apply(asked)).environments;
          if (written === null) return;
          const after = await serversOf(world);
          // A server that we did not know of is still there, said, and not recommended.
          const unknown = Object.keys(foreign).filter((name) => !(name in stored));
          const declaredNames = new Set(edit.entries.map(({ name }) => name));
          for (const name of unknown.filter((one) => !declaredNames.has(one))) {
            // An app-server takes the servers as one value, so that the last writer has them all.
            if (dialect === 'app-server' && !(name in after)) continue;
            expect(environment?.status).toBe('not-converged');
            expect(JSON.stringify(environment)).not.toMatch(/unmanaged: \[|adds it automatically/);
          }
          // The next run has the file's way and is quiet.
          const before = await serversOf(world);
          const [next] = (await apply(asked)).environments;
          if (next?.status === 'refused') return;
          expect(next).toMatchObject({ error: null, remaining: [] });
          expect(faults(before, edit, await serversOf(world))).toEqual([]);
          const [last] = (await apply(asked)).environments;
          expect(last).toMatchObject({ status: 'in-sync', changes: [] });
        });
      }),
      { numRuns },
    );
  });
});
