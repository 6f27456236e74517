import { parse, stringify } from 'lossless-json';
import { afterAll, expect, it } from 'vitest';
import { embeddedServer, KEY, type ReplayServer } from './replay-server.ts';
import {
  type JsonRecord,
  type RecordedDialect,
  recordedDialect,
  type RecordedDialectCase,
  type RecordedDialectName,
  type RecordedRequest,
  type RecordedResponse,
  recordThatDiffers,
} from './recorded-dialect.ts';
import { type Received, send } from './send.ts';

/** Runs every recorded case of a dialect but those named, each with the reason why it is not run, and prints how many were. */
export function replayDialect(
  dialect: RecordedDialectName,
  skipped: Readonly<Record<string, string>>,
): void {
  const recorded = recordedDialect(dialect);
  const run: string[] = [];
  for (const one of recorded.cases) {
    it(one.name, async ({ skip }) => {
      const reason = skipped[one.name];
      if (reason !== undefined) {
        expect(reachesBehind(one), 'only what reaches behind the server may be skipped').toBe(true);
        skip(reason);
      }
      await replayOnEmbedded(dialect, recorded, one);
      run.push(one.name);
    });
  }
  it('skips no case that is not there', () => {
    const names = recorded.cases.map(({ name }) => name);
    for (const name of Object.keys(skipped)) expect(names).toContain(name);
  });
  afterAll(() => {
    const list = Object.entries(skipped).map(([name, reason]) => `  skipped: ${name}: ${reason}`);
    const count = `${dialect}: ${run.length} of ${recorded.cases.length} recorded cases passed`;
    console.log([count, ...list].join('\n'));
  });
}

/** Whether a case restarts the server, or changes files of its own. */
function reachesBehind({ given, steps }: RecordedDialectCase): boolean {
  return given !== undefined || steps.some((step) => 'server' in step || 'file' in step);
}

async function replayOnEmbedded(
  dialect: RecordedDialectName,
  recorded: RecordedDialect,
  one: RecordedDialectCase,
): Promise<void> {
  const server = await embeddedServer(dialect, reachesBehind(one));
  try {
    await replayCase(dialect, recorded, one, server);
  } finally {
    await server.close();
  }
}

/** Sends what a case has sent, and asserts that each answer is the recorded one. */
export async function replayCase(
  dialect: RecordedDialectName,
  { base }: RecordedDialect,
  { given = {}, steps }: RecordedDialectCase,
  server: ReplayServer,
): Promise<void> {
  const answers: unknown[] = [];
  for (const [name, content] of Object.entries(given)) await server.put(name, content);
  for (const step of steps) {
    if ('server' in step) await server.restart(step.env ?? {});
    else if ('file' in step) await server.put(step.file, step.content);
    else if ('parallel' in step) {
      const received = await Promise.all(
        step.parallel.map((request) => sendStep(server.url, request, answers)),
      );
      expect(received.map(({ status }) => status)).toEqual(step.statuses.map(Number));
    } else {
      const asIs = await followed(server.url, step.request, dialect, answers);
      const received = {
        ...asIs,
        text: asIs.text.replaceAll(server.folder ?? '(store)', '(store)'),
      };
      const isJson = received.mediaType === 'application/json' && received.text !== '';
      answers.push(isJson ? parse(received.text) : null);
      if (step.request.path === '/openapi.json') expectOpenApi(received, step.response);
      else expectAnswer(received, step.response, base);
    }
  }
}

function expectAnswer(received: Received, response: RecordedResponse, base: JsonRecord): void {
  const { status, contentType, headers = {}, differs, body } = response;
  const type =
    contentType?.includes(';') === true ? received.headers['content-type'] : received.mediaType;
  expect({ status: received.status, contentType: type }, received.text).toEqual({
    status: Number(status),
    contentType: contentType ?? '',
  });
  expect(received.headers).toMatchObject(headers);
  const isJson = received.mediaType === 'application/json' && received.text !== '';
  const seen = isJson ? exact(received.text) : received.text;
  const whole = differs === undefined ? body : recordThatDiffers(base, differs);
  expect(alike(seen, whole)).toEqual(exactOf(whole));
}

/** A recording holds the methods of each path; the embedded service has some of the paths, and these with the same methods. */
function expectOpenApi(received: Received, { status, body }: RecordedResponse): void {
  expect(received.status).toBe(Number(status));
  const seen = JSON.parse(received.text) as { readonly paths: Readonly<Record<string, object>> };
  const { paths, ...rest } = JSON.parse(stringify(body) ?? '') as {
    readonly paths: Readonly<Record<string, readonly string[]>>;
  };
  expect(seen).toMatchObject(rest);
  const named = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');
  const recorded = Object.entries(paths).map(([path, methods]) => [named(path), methods] as const);
  const there = Object.entries(seen.paths).map(
    ([path, methods]) => [named(path), methods] as const,
  );
  expect(there.length).toBeGreaterThan(5);
  for (const [path, methods] of there)
    expect(Object.keys(methods).map((name) => name.toUpperCase())).toEqual(
      recorded.find(([other]) => other === path)?.[1],
    );
}

/** JSON whose numbers are texts that tell whole ones from others, and every digit of whole ones. */
function exact(text: string): unknown {
  return parse(text, null, (digits) =>
    /[.e]/i.test(digits) ? `number ${Number(digits)}` : `whole number ${digits}`,
  );
}

function exactOf(value: unknown): unknown {
  return typeof value === 'string' ? value : exact(stringify(value) ?? '');
}

const VOLATILE = /^\((?:time|unix time|seconds|id \d+|encrypted|python)\)$/;

/** What was seen, with the values that change from run to run as the recording writes them. */
function alike(seen: unknown, recorded: unknown): unknown {
  if (typeof recorded === 'string' && VOLATILE.test(recorded)) {
    expect(seen, recorded).toMatch(recorded === '(encrypted)' ? /^gAAAA/ : /./);
    return recorded;
  }
  if (Array.isArray(seen) && Array.isArray(recorded))
    return seen.map((one, index) => alike(one, recorded[index]));
  if (!isRecord(seen) || !isRecord(recorded)) return seen;
  return Object.fromEntries(
    Object.entries(seen).map(([name, one]) => [name, alike(one, recorded[name])]),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a body that is written as a sentence takes from the answers before it. */
const FROM_ANSWERS: Readonly<Record<string, (answers: readonly Resource[]) => unknown>> = {
  '{agent_settings_diff: agent_settings, conversation_settings_diff: conversation_settings, misc_settings_diff: misc_settings} of the last answer':
    (answers) => diffsOf(answers.at(-1)),
  'the same, from the last answer': (answers) => diffsOf(answers.at(-1)),
  'the last answer': (answers) => answers.at(-1),
  '{agent_settings_diff: {llm: agent_settings.llm}} of the second answer': (answers) => ({
    agent_settings_diff: { llm: answers[1]?.agent_settings.llm },
  }),
  '{agent_settings_diff: {llm: {api_key: the encrypted one}}}': (answers) => ({
    agent_settings_diff: { llm: { api_key: answers.at(-1)?.agent_settings.llm['api_key'] } },
  }),
  '{name: A, value: the encrypted llm.api_key of the last answer}': (answers) => ({
    name: 'A',
    value: answers.at(-1)?.agent_settings.llm['api_key'],
  }),
  '{agent_settings_diff: {mcp_config: {http1: agent_settings.mcp_config.http1}}} of the last answer':
    (answers) => ({
      agent_settings_diff: {
        mcp_config: { http1: answers.at(-1)?.agent_settings.mcp_config['http1'] },
      },
    }),
};

interface Resource {
  readonly agent_settings: {
    readonly llm: JsonRecord;
    readonly mcp_config: JsonRecord;
  };
  readonly conversation_settings: JsonRecord;
  readonly misc_settings: JsonRecord;
}

function diffsOf(answer: Resource | undefined): unknown {
  return {
    agent_settings_diff: answer?.agent_settings,
    conversation_settings_diff: answer?.conversation_settings,
    misc_settings_diff: answer?.misc_settings,
  };
}

/** What recorded the app server followed redirects, and kept only where they led. */
async function followed(
  url: string,
  request: RecordedRequest,
  dialect: RecordedDialectName,
  answers: readonly unknown[],
): Promise<Received> {
  const received = await sendStep(url, request, answers);
  const { location } = received.headers;
  if (dialect === 'agent-server' || typeof location !== 'string') return received;
  expect(received.status).toBe(307);
  return sendStep(url, { ...request, path: location }, answers);
}

async function sendStep(
  url: string,
  { method, path, auth = true, type, headers = {}, body, raw, rawHex }: RecordedRequest,
  answers: readonly unknown[],
): Promise<Received> {
  const taken = typeof body === 'string' ? FROM_ANSWERS[body] : undefined;
  const sent = taken === undefined ? body : taken(answers as readonly Resource[]);
  const bytes = rawHex === undefined ? undefined : Buffer.from(rawHex, 'hex');
  const text = bytes ?? raw ?? (sent === undefined ? undefined : stringify(sent));
  const contentType = type === undefined ? 'application/json' : type;
  const received = await send(url, {
    method,
    path,
    headers: {
      ...keyHeader(auth),
      ...(text === undefined || contentType === null ? {} : { 'Content-Type': contentType }),
      ...headers,
    },
    ...(text === undefined ? {} : { body: text }),
  });
  // A real server names itself where the recording has the path alone.
  const { location, ...others } = received.headers;
  return typeof location !== 'string'
    ? received
    : { ...received, headers: { ...others, location: location.replace(url, '') } };
}

function keyHeader(auth: boolean | 'wrong' | 'bearer'): Readonly<Record<string, string>> {
  if (auth === 'bearer') return { Authorization: `Bearer ${KEY}` };
  if (auth === false) return {};
  return { 'X-Session-API-Key': auth === 'wrong' ? `${KEY}-wrong` : KEY };
}
