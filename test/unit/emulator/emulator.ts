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

function parsed(text: string): unknown {
  return text.startsWith('{') ? (JSON.parse(text) as unknown) : text;
}
