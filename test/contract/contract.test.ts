/**
 * The recorded exchanges, over HTTP. By default each case runs against an embedded service of its own, fresh and empty.
 *
 * With SETPOINT_CONTRACT_URL the cases of settings.json run against that server instead, with the key of
 * SETPOINT_CONTRACT_KEY (default: contract-key). THIS OVERWRITES WHAT THE SERVER HAS STORED, its API keys included. The
 * server must ask for the key and must own no mcp entries. Since it cannot be emptied:
 *  - each case begins with a store that resets every field that can be reset;
 *  - a case that expects "Settings not found" at any step is skipped by name;
 *  - three fields cannot be brought back to null. Where a case expects null there, llm_model and llm_base_url may also
 *    load as "", user_consents_to_analytics as false, and only so. Everything else is asserted as by default;
 *  - the cases of settings-with-server-mcp.json are skipped.
 */
import { describe, expect, it } from 'vitest';

import { startEmulator, type EmulatorOptions } from '../../src/emulator/start.ts';
import { recordedCases, type RecordedCase, type RecordedStep } from './recorded.ts';
import { send } from './send.ts';

const serverUrl = process.env['SETPOINT_CONTRACT_URL'];
const key = (serverUrl && process.env['SETPOINT_CONTRACT_KEY']) || 'contract-key';

const serverMcp = {
  sse_servers: [{ url: 'https://server-own.example.com/sse', api_key: 'server-own-key' }],
};

const reset = {
  llm_model: '',
  llm_base_url: '',
  llm_api_key: '',
  search_api_key: '',
  user_consents_to_analytics: false,
};

describe('settings', () => {
  for (const recorded of recordedCases('settings.json')) {
    it(recorded.name, async ({ skip }) => {
      if (serverUrl === undefined) return replayOnEmulator(recorded, {});
      skip(
        needsEmptyStore(recorded),
        'needs an empty store, and a running server cannot be emptied',
      );
      await replayOnServer(recorded, serverUrl);
    });
  }
});

describe('settings of a server with mcp entries of its own', () => {
  for (const recorded of recordedCases('settings-with-server-mcp.json')) {
    it(recorded.name, async ({ skip }) => {
      skip(serverUrl !== undefined, 'needs a server that owns the mcp entry of the recording');
      await replayOnEmulator(recorded, { serverMcp });
    });
  }
});

async function replayOnEmulator(recorded: RecordedCase, options: EmulatorOptions): Promise<void> {
  const emulator = await startEmulator({ apiKey: key, ...options });
  try {
    for (const step of recorded.steps) await replay(emulator.url, step, (body) => body);
  } finally {
    await emulator.close();
  }
}

async function replayOnServer(recorded: RecordedCase, url: string): Promise<void> {
  const request = { method: 'POST', path: '/api/settings', auth: true, body: reset };
  const done = await sendRecorded(url, request);
  expect(done.status, 'the reset before the case').toBe(200);
  for (const step of recorded.steps) {
    await replay(url, step, (body) => withNullsForReset(body, step.response.body));
  }
}

async function replay(
  url: string,
  { request, response }: RecordedStep,
  read: (body: unknown) => unknown,
): Promise<void> {
  const received = await sendRecorded(url, request);
  const isJson = received.mediaType === 'application/json';
  const body = isJson ? (JSON.parse(received.text) as unknown) : received.text;
  const seen = response.status === 422 ? typesAndPlaces(body) : read(body);
  const { headers = {}, ...expected } = response;
  expect({ status: received.status, contentType: received.mediaType, body: seen }).toEqual(
    expected,
  );
  expect(received.headers).toMatchObject(headers);
}

function sendRecorded(url: string, { method, path, auth, body, raw }: RecordedStep['request']) {
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const sentKey = auth === 'wrong' ? `${key}-wrong` : key;
  return send(url, {
    method,
    path,
    headers: {
      ...(auth === false ? {} : { 'X-Session-API-Key': sentKey }),
      ...(text === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(text === undefined ? {} : { body: text }),
  });
}

function needsEmptyStore({ steps }: RecordedCase): boolean {
  return steps.some(({ response }) => response.status === 404);
}

function typesAndPlaces(body: unknown): unknown {
  const { detail } = body as { detail: { type: unknown; loc: unknown }[] };
  return { detail: detail.map(({ type, loc }) => ({ type, loc })) };
}

function withNullsForReset(seen: unknown, expected: unknown): unknown {
  if (!isRecord(seen) || !isRecord(expected)) return seen;
  const kept = ['llm_model', 'llm_base_url', 'user_consents_to_analytics'] as const;
  const nulls = kept
    .filter((name) => expected[name] === null && seen[name] === reset[name])
    .map((name) => [name, null] as const);
  return { ...seen, ...Object.fromEntries(nulls) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
