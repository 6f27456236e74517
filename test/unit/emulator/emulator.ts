import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { onTestFinished } from 'vitest';

import { startEmulator, type Emulator, type EmulatorOptions } from '../../../src/emulator/start.ts';
import { send } from '../../contract/send.ts';

/** An embedded service that ends with the test. */
export async function emulatorForTest(options?: EmulatorOptions): Promise<Emulator> {
  const emulator = await startEmulator(options);
  onTestFinished(() => emulator.close());
  return emulator;
}

/** An empty folder that ends with the test. */
export async function folderForTest(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'setpoint-emulator-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Stores a body, given as a value or as JSON text, and answers with the status and the parsed answer. */
export async function post(url: string, body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { status, text: answer } = await send(url, { method: 'POST', body: text });
  return { status, body: parsed(answer) };
}

export async function load(url: string): Promise<Record<string, unknown>> {
  const { text } = await send(url);
  return parsed(text) as Record<string, unknown>;
}

/** An embedded service whose time stops until a test moves it. */
export async function emulatorAtRest(options?: EmulatorOptions) {
  let time = Date.parse('2026-01-02T03:04:05.000Z');
  const now = () => time;
  const { url } = await emulatorForTest({ now, ...options });
  return { url, now, pass: (ms: number) => void (time += ms) };
}

/** One call of the part under /api/v1, such as `POST /sandboxes`, with the status and the parsed answer. */
export async function call(url: string, what: string, body?: unknown, key?: string) {
  const [method = '', path = ''] = what.split(' ');
  const { status, mediaType, text } = await send(url, {
    method,
    path: `/api/v1${path}`,
    ...(key === undefined ? {} : { headers: { 'x-session-api-key': key } }),
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status, mediaType, body: parsed(text) };
}

/** The answer to a call that comes out well. */
export async function good<T>(url: string, what: string, body?: unknown): Promise<T> {
  const answer = await call(url, what, body);
  if (answer.status !== 200) throw new Error(`${what}: ${answer.status}`);
  return answer.body as T;
}

export interface Sandbox {
  readonly id: string;
  readonly sandbox_spec_id: string;
  readonly status: string;
  readonly session_api_key: string | null;
  readonly exposed_urls: readonly { readonly name: string; readonly url: string }[] | null;
  readonly created_at: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly next_page_id: string | null;
}

/** The status of each sandbox, the oldest first. */
export async function statuses(url: string): Promise<readonly string[]> {
  const { items } = await good<Page<Sandbox>>(url, 'GET /sandboxes/search');
  return items.map(({ status }) => status).toReversed();
}

function parsed(text: string): unknown {
  return /^[[{]/.test(text) ? (JSON.parse(text) as unknown) : text;
}
