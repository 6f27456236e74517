import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import { startEmulator, type EmulatorOptions } from '../../src/emulator/start.ts';
import type { EmulatorDialect } from '../../src/emulator/options.ts';
import type { Json } from './recorded-dialect.ts';
import { send } from './send.ts';

export const KEY = 'contract-key';

/** A server that is asked what another was recorded to answer: it holds nothing when a case begins. */
export interface ReplayServer {
  /** Its address now; a restart may change it. */
  readonly url: string;
  /** The folder of its store, which recordings name `(store)`; null if it has none. */
  readonly folder: string | null;
  restart(env: Readonly<Record<string, string>>): Promise<void>;
  /** Puts a file into the folder of its store, as text or as JSON; null removes it. */
  put(name: string, content: Json): void | Promise<void>;
}

/** An embedded service of its own; `isKept`: its store is a file, so that it can be restarted. */
export async function embeddedServer(
  dialect: EmulatorDialect,
  isKept: boolean,
): Promise<ReplayServer & { readonly close: () => Promise<void> }> {
  const folder = isKept ? mkdtempSync(join(tmpdir(), 'setpoint-contract-')) : undefined;
  const options = folder === undefined ? {} : { data: join(folder, 'store.json') };
  let running = await startEmulator({ dialect, apiKey: KEY, ...options });
  return {
    get url() {
      return running.url;
    },
    folder: null,
    async restart(env) {
      await running.close();
      running = await startEmulator({ dialect, apiKey: env['KEY'] ?? KEY, ...options });
    },
    async put(name, content) {
      if (name !== 'secrets.json')
        throw new Error('a case that needs other files is skipped by its name');
      await storeSecrets(dialect, content, options);
    },
    async close() {
      await running.close();
      if (folder !== undefined) rmSync(folder, { recursive: true });
    },
  };
}

/**
 * Stores the custom secrets of a server's file by requests; settings-v0 takes every name that such a file of an app server may
 * have.
 */
async function storeSecrets(
  dialect: EmulatorDialect,
  content: Json,
  options: EmulatorOptions,
): Promise<void> {
  const [before, method, path] =
    dialect === 'agent-server'
      ? ([dialect, 'PUT', '/api/settings/secrets'] as const)
      : (['settings-v0', 'POST', '/api/secrets'] as const);
  const { custom_secrets } = JSON.parse(stringify(content) ?? '') as {
    readonly custom_secrets: Readonly<Record<string, { secret: string; description: unknown }>>;
  };
  const emulator = await startEmulator({ dialect: before, apiKey: KEY, ...options });
  const headers = { 'X-Session-API-Key': KEY, 'Content-Type': 'application/json' };
  for (const [name, { secret: value, description }] of Object.entries(custom_secrets)) {
    const body = JSON.stringify({ name, value, description });
    const { status, text } = await send(emulator.url, { method, path, headers, body });
    if (status > 201) throw new Error(`${method} ${path}: ${text}`);
  }
  await emulator.close();
}
