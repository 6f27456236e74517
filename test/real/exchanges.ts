import { isLosslessNumber, parse, stringify } from 'lossless-json';
import { readFileSync } from 'node:fs';
import { recordedAppServer, recordWith } from '../contract/recorded-app-server.ts';
import {
  recordThatDiffers,
  type RecordedDialect,
  type RecordedDialectCase,
  type RecordedRequest,
  type RecordedResponse,
} from '../contract/recorded-dialect.ts';
import { recordedCases } from '../contract/recorded.ts';
import type { Release } from './releases.ts';

/** A recorded case in one form for all dialects: what happens, and what each answer must be. */
export interface Case {
  readonly name: string;
  /** Files in the store before the case begins. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly steps: readonly CaseStep[];
}

type CaseStep =
  | { readonly kind: 'exchange'; readonly request: RecordedRequest; readonly answer: Answer }
  | { readonly kind: 'restart'; readonly env: Readonly<Record<string, string>> }
  | { readonly kind: 'file'; readonly name: string; readonly content: unknown }
  | {
      readonly kind: 'parallel';
      readonly requests: readonly RecordedRequest[];
      readonly statuses: readonly number[];
    };

export interface Answer {
  readonly status: number;
  readonly mediaType: string;
  /** Undefined if the body is not part of the recording. */
  readonly body?: unknown;
  /** Of a body, only these members are part of the recording. */
  readonly part?: object;
}

/** The recorded cases of a release's dialect. */
export function casesOf({ dialect }: Release): readonly Case[] {
  switch (dialect) {
    case 'settings-v0':
      return settingsV0('settings.json');
    case 'app-server':
      return appServer();
    case 'agent-server':
      return agentServer();
  }
}

/** Cases of a server that owns mcp entries. */
export function casesWithServerMcp(): readonly Case[] {
  return settingsV0('settings-with-server-mcp.json');
}

function settingsV0(file: string): readonly Case[] {
  return recordedCases(file).map(({ name, steps }) => ({
    name,
    given: {},
    steps: steps.map(({ request, response: { status, contentType, body } }) => ({
      kind: 'exchange',
      request: request as RecordedRequest,
      answer: { status, mediaType: contentType, body },
    })),
  }));
}

function appServer(): readonly Case[] {
  const { base, cases } = recordedAppServer();
  return cases.map(({ name, steps }) => ({
    name,
    given: {},
    steps: steps.map(({ request, response: { status, contentType, body, differs, mcp } }) => ({
      kind: 'exchange',
      request: request as RecordedRequest,
      answer: {
        status,
        mediaType: contentType,
        ...(mcp === undefined
          ? { body: differs === undefined ? body : recordWith(base, differs) }
          : { part: { agent_settings: { mcp_config: mcp } } }),
      },
    })),
  }));
}

function agentServer(): readonly Case[] {
  const url = new URL('../contract/agent-server.json', import.meta.url);
  const { base, cases } = parseExactly(readFileSync(url, 'utf8')) as RecordedDialect;
  const plainBase = comparable(base) as RecordedDialect['base'];
  const answerOf = ({ status, contentType, body, differs }: RecordedResponse): Answer => ({
    status,
    mediaType: contentType ?? '',
    body: differs === undefined ? body : recordThatDiffers(plainBase, differs),
  });
  const stepOf = (step: RecordedDialectCase['steps'][number]): CaseStep => {
    if ('server' in step) return { kind: 'restart', env: step.env ?? {} };
    if ('file' in step) return { kind: 'file', name: step.file, content: step.content };
    if ('parallel' in step)
      return {
        kind: 'parallel',
        requests: step.parallel,
        statuses: comparable(step.statuses) as readonly number[],
      };
    return {
      kind: 'exchange',
      request: step.request,
      answer: answerOf(comparable(step.response) as RecordedResponse),
    };
  };
  return cases.map(({ name, given = {}, steps }) => ({ name, given, steps: steps.map(stepOf) }));
}

/**
 * The body of a request. Some are recorded as a sentence that says from which answers of the case they were made, because they hold
 * what is new in every run.
 */
export function bodyFrom(body: unknown, answers: readonly string[]): unknown {
  const make = typeof body === 'string' ? MADE[body] : undefined;
  return make === undefined ? body : make(answers.map(parseExactly) as Record<string, never>[]);
}

type Made = (answers: readonly Readonly<Record<string, never>>[]) => unknown;

const patchedBack: Made = (answers) => {
  const last = answers.at(-1);
  return {
    agent_settings_diff: last?.['agent_settings'],
    conversation_settings_diff: last?.['conversation_settings'],
    misc_settings_diff: last?.['misc_settings'],
  };
};

const MADE: Readonly<Record<string, Made>> = {
  '{agent_settings_diff: agent_settings, conversation_settings_diff: conversation_settings, misc_settings_diff: misc_settings} of the last answer':
    patchedBack,
  'the same, from the last answer': patchedBack,
  'the last answer': (answers) => answers.at(-1),
  '{agent_settings_diff: {llm: agent_settings.llm}} of the second answer': (answers) => ({
    agent_settings_diff: { llm: answers[1]?.['agent_settings']?.['llm'] },
  }),
  '{agent_settings_diff: {llm: {api_key: the encrypted one}}}': (answers) => ({
    agent_settings_diff: {
      llm: { api_key: answers.at(-1)?.['agent_settings']?.['llm']?.['api_key'] },
    },
  }),
  '{agent_settings_diff: {mcp_config: {http1: agent_settings.mcp_config.http1}}} of the last answer':
    (answers) => ({
      agent_settings_diff: {
        mcp_config: { http1: answers.at(-1)?.['agent_settings']?.['mcp_config']?.['http1'] },
      },
    }),
};

/** JSON whose numbers keep every digit, where JavaScript would not. */
export function parseExactly(text: string): unknown {
  return parse(text);
}

export function stringifyExactly(value: unknown): string {
  return stringify(value) ?? '';
}

/** The same with plain numbers, but for integers that a plain number cannot be: those are text. */
export function comparable(value: unknown): unknown {
  if (isLosslessNumber(value)) {
    const number = Number(value.value);
    const isExact = Number.isSafeInteger(number) || !/^-?\d+$/.test(value.value);
    return isExact ? number : value.value;
  }
  if (Array.isArray(value)) return value.map(comparable);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, comparable(one)]));
}

/** What was answered, each value that changes from run to run replaced by the word that the recording has in its place. */
export function likeRecorded(seen: unknown, recorded: unknown): unknown {
  if (typeof recorded === 'string' && VOLATILE.test(recorded))
    return seen === null || typeof seen === 'object' ? seen : recorded;
  if (Array.isArray(seen) && Array.isArray(recorded))
    return seen.map((item, index) => likeRecorded(item, recorded[index]));
  if (isMap(seen) && isMap(recorded))
    return Object.fromEntries(
      Object.entries(seen).map(([name, value]) => [name, likeRecorded(value, recorded[name])]),
    );
  return seen;
}

const VOLATILE = /^\((?:time|seconds|encrypted|python|id \d+)\)$/;

/** A body without the members at its top that later releases have added, unless the recording has them, too. */
export function withoutAdded(
  seen: unknown,
  recorded: unknown,
  added: readonly string[] = [],
): unknown {
  if (!isMap(seen)) return seen;
  const isKnown = (name: string) => isMap(recorded) && name in recorded;
  return Object.fromEntries(
    Object.entries(seen).filter(([name]) => isKnown(name) || !added.includes(name)),
  );
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
