import { parse, stringify } from 'lossless-json';
import { afterAll, expect, it } from 'vitest';
import { type EmulatorDialect, isEmulatorDialect } from '../../src/emulator/options.ts';
import { embeddedServer, KEY, type ReplayServer } from './replay-server.ts';
import {
  type JsonRecord,
  type RecordedDialect,
  recordedDialect,
  type RecordedDialectCase,
  type RecordedFile,
  type RecordedRequest,
  type RecordedResponse,
  recordThatDiffers,
} from './recorded-dialect.ts';
import { fromEmpty, Placeholders } from './placeholders.ts';
import { LONG } from '../fixture/long.ts';
import { type Received, send } from './send.ts';

/**
 * Runs every recorded case of a file, and prints how many passed. Those named, each with the reason, are not answered as recorded: one
 * that is fails.
 */
export function replayDialect(
  file: RecordedFile,
  leftOut: Readonly<Record<string, string>> = {},
): void {
  const recorded = recordedDialect(file);
  const passed: string[] = [];
  const themes = recorded.cases.map(({ name }) => themeOf(name));
  for (const [index, one] of recorded.cases.entries()) {
    const before = themes.slice(0, index).filter((theme) => theme === themes[index]).length;
    const isShort = themes[index] === OTHERS || before < 3;
    const test = leftOut[one.name] === undefined ? it : it.fails;
    test(one.name, isShort ? {} : LONG, async () => {
      await replayOnEmbedded(file, recorded, one);
      passed.push(one.name);
    });
  }
  it('leaves out no case that is not there', () => {
    const names = recorded.cases.map(({ name }) => name);
    for (const name of Object.keys(leftOut)) expect(names).toContain(name);
  });
  afterAll(() => {
    const list = Object.entries(leftOut).map(([name, reason]) => `  left out: ${name}: ${reason}`);
    const count = `${file}.json: ${passed.length} of ${recorded.cases.length} recorded cases passed`;
    const names = recorded.cases.map(({ name }) => name);
    const themes = [...new Set(names.map(themeOf))].map((theme) => {
      const [done, all] = [passed, names].map((some) =>
        some.filter((one) => themeOf(one) === theme),
      );
      return `${theme} ${done?.length} of ${all?.length}`;
    });
    console.log([count, `  ${themes.join(', ')}`, ...list].join('\n'));
  });
}

const OTHERS = 'others';

/** What a case is about, by the beginning of its name. */
function themeOf(name: string): string {
  return /^[^:]+(?=: )/.exec(name)?.[0] ?? OTHERS;
}

function dialectOf(file: RecordedFile): EmulatorDialect {
  const dialect = file.replace(/^(collections|more)-/, '');
  if (!isEmulatorDialect(dialect)) throw new Error(`no dialect: ${dialect}`);
  return dialect;
}

/** Whether a case restarts the server, or changes files of its own. */
function reachesBehind({ given, steps }: RecordedDialectCase): boolean {
  return given !== undefined || steps.some((step) => 'server' in step || 'file' in step);
}

async function replayOnEmbedded(
  file: RecordedFile,
  recorded: RecordedDialect,
  one: RecordedDialectCase,
): Promise<void> {
  const server = await embeddedServer(dialectOf(file), reachesBehind(one));
  try {
    await replayCase(file, recorded, one, server);
  } finally {
    await server.close();
  }
}

/** Sends what a case has sent, and asserts that each answer is the recorded one. */
export async function replayCase(
  file: RecordedFile,
  { base }: RecordedDialect,
  { given = {}, steps }: RecordedDialectCase,
  server: ReplayServer,
): Promise<void> {
  const answers: unknown[] = [];
  const dialect = dialectOf(file);
  const placeholders = new Placeholders(server.folder, server.shown);
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
      const asIs = await followed(server.url, placeholders.filled(step.request), dialect, answers);
      const isJson = asIs.mediaType === 'application/json' && asIs.text !== '';
      const answer: unknown = isJson ? parse(asIs.text) : null;
      answers.push(answer);
      placeholders.learn(answer, step.response.differs ?? step.response.body);
      const received = { ...asIs, text: placeholders.put(asIs.text) };
      if (step.request.path === '/openapi.json') expectOpenApi(received, step.response);
      else expectAnswer(received, step.response, { base, dialect, added: server.added ?? [] });
    }
  }
}

interface Recording {
  readonly base: JsonRecord;
  readonly dialect: EmulatorDialect;
  readonly added: readonly string[];
}

function expectAnswer(
  received: Received,
  response: RecordedResponse,
  { base, dialect, added }: Recording,
): void {
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
  const whole = differs === undefined ? fromEmpty(body, base) : recordThatDiffers(base, differs);
  const isBare = dialect === 'settings-v0' && received.status === 422;
  const compared = isBare ? typesAndPlaces(seen) : withoutAdded(seen, whole, added);
  expect(alike(compared, whole)).toEqual(exactOf(whole));
}

/** Of a refusal, each detail's type and place: its text is the validator's, and changes with its version. */
function typesAndPlaces(body: unknown): unknown {
  const { detail } = body as { readonly detail: readonly { type: unknown; loc: unknown }[] };
  return { detail: detail.map(({ type, loc }) => ({ type, loc })) };
}

/** A body without the members at its top that a release has added, unless the recording has them, too. */
function withoutAdded(seen: unknown, recorded: unknown, added: readonly string[]): unknown {
  if (!isRecord(seen) || !isRecord(recorded)) return seen;
  const isKnown = (name: string) => Object.hasOwn(recorded, name) || !added.includes(name);
  return Object.fromEntries(Object.entries(seen).filter(([name]) => isKnown(name)));
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

const VOLATILE = /^\((?:time|unix time|seconds|error id|encrypted|python)\)$/;

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
  '{llm: config} of the last answer': (answers) => ({ llm: answers.at(-1)?.config }),
  '{llm: agent_settings.llm} of the last answer': (answers) => ({
    llm: answers.at(-1)?.agent_settings.llm,
  }),
  'profile of the last answer': (answers) => answers.at(-1)?.profile,
  'profile of the last answer, system_message_suffix: be brief': briefProfile,
  'profile of the last answer (none: llm_profile_ref one), system_message_suffix: be brief':
    briefProfile,
  '{agent_settings_diff: {mcp_config: agent_settings.mcp_config}} of the last answer': (
    answers,
  ) => ({
    agent_settings_diff: { mcp_config: answers.at(-1)?.agent_settings.mcp_config },
  }),
  '{agent_settings_diff: {mcp_config: {o: null, p: agent_settings.mcp_config.o}}} of the last answer':
    (answers) => ({
      agent_settings_diff: {
        mcp_config: { o: null, p: answers.at(-1)?.agent_settings.mcp_config['o'] },
      },
    }),
  '{agent_settings_diff: {mcp_config: {http1: agent_settings.mcp_config.http1}}} of the last answer':
    (answers) => ({
      agent_settings_diff: {
        mcp_config: { http1: answers.at(-1)?.agent_settings.mcp_config['http1'] },
      },
    }),
};

function briefProfile(answers: readonly Resource[]): unknown {
  const profile = answers.at(-1)?.profile ?? { llm_profile_ref: 'one' };
  return { ...profile, system_message_suffix: 'be brief' };
}

interface Resource {
  readonly agent_settings: {
    readonly llm: JsonRecord;
    readonly mcp_config: JsonRecord;
  };
  readonly conversation_settings: JsonRecord;
  readonly misc_settings: JsonRecord;
  /** An LLM profile, and one of an agent. */
  readonly config?: JsonRecord;
  readonly profile?: JsonRecord;
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
  dialect: EmulatorDialect,
  answers: readonly unknown[],
): Promise<Received> {
  const received = await sendStep(url, request, answers);
  const { location } = received.headers;
  if (dialect !== 'app-server' || typeof location !== 'string') return received;
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
