import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stringify } from 'lossless-json';
import { startEmulator, type EmulatorOptions } from '../../src/emulator/start.ts';
import { isGitProduct } from '../../src/emulator/collections/git-check.ts';
import { FOLDER } from '../../src/emulator/agent-server/requests.ts';
import type { EmulatorDialect } from '../../src/emulator/options.ts';
import type { Json } from './recorded-dialect.ts';
import { send } from './send.ts';
import { putStoredFile } from './stored-files.ts';

export const KEY = 'contract-key';

/** A server that is asked what another was recorded to answer: it holds nothing when a case begins. */
export interface ReplayServer {
  /** Its address now; a restart may change it. */
  readonly url: string;
  /** The folder of its store, which recordings name `(store)`; null if it has none. */
  readonly folder: string | null;
  /** The folder that it tells of in its place, if that is another. */
  readonly shown?: string;
  /** Members at the top of an answer that its release has, and that the recorded one need not have. */
  readonly added?: readonly string[];
  restart(env: Readonly<Record<string, string>>): Promise<void>;
  /** Puts a file into the folder of its store, as text or as JSON; null removes it. */
  put(name: string, content: Json): void | Promise<void>;
}

/** What stood in for git providers when collections were recorded. */
const GIT_PROVIDERS = ['git.example.com', 'git2.example.com'].flatMap((host) =>
  (['github', 'gitlab', 'forgejo'] as const).map((product) => ({
    product,
    host,
    accepts: `good-${product}`,
  })),
);

/** An embedded service of its own; `isKept`: its store is a file, so that it can be restarted. */
export async function embeddedServer(
  dialect: EmulatorDialect,
  isKept: boolean,
): Promise<ReplayServer & { readonly close: () => Promise<void> }> {
  const folder = isKept ? mkdtempSync(join(tmpdir(), 'setpoint-contract-')) : undefined;
  const data = folder && join(folder, 'store.json');
  const options: EmulatorOptions = {
    gitProviders: GIT_PROVIDERS,
    ...(data === undefined ? {} : { data }),
  };
  let running = await startEmulator({ dialect, apiKey: KEY, ...options });
  return {
    get url() {
      return running.url;
    },
    folder: folder ?? null,
    shown: FOLDER,
    async restart(env) {
      await running.close();
      running = await startEmulator({ dialect, apiKey: env['KEY'] ?? KEY, ...options });
    },
    async put(name, content) {
      const { data } = options;
      if (folder === undefined || data === undefined) throw new Error('the service has no file');
      const isText = typeof content === 'string' || content === null;
      // What the service keeps secrets in is its one file.
      if (name === 'secrets.json' && isText) writeFileSync(data, content ?? '');
      else if (name === 'secrets.json') await storeSecrets(dialect, content, options);
      else if (name.startsWith('src/')) putFile(join(folder, name), content);
      else if (dialect === 'agent-server') putStoredFile(data, KEY, name, content);
      else if (name === 'settings.json' && !isText) writeFileSync(data, storeOf(content));
      else throw new Error('a case that needs other files is left out by its name');
    },
    async close() {
      await running.close();
      if (folder !== undefined) rmSync(folder, { recursive: true });
    },
  };
}

/** A store that holds the settings of a server's file and nothing else. */
function storeOf(record: Json): string {
  const written = { written_by: "setpoint's embedded service", format_version: 1 };
  return stringify({ ...written, settings: { dialect: 'app-server', record } }) ?? '';
}

function putFile(path: string, content: Json): void {
  mkdirSync(dirname(path), { recursive: true });
  if (typeof content === 'string') writeFileSync(path, content);
  else rmSync(path);
}

/**
 * Stores the custom secrets and the git tokens of a server's file by requests; settings-v0 takes every name of a secret that such a file of
 * an app server may have.
 */
async function storeSecrets(
  dialect: EmulatorDialect,
  content: Json,
  options: EmulatorOptions,
): Promise<void> {
  const { custom_secrets, provider_tokens = {} } = JSON.parse(stringify(content) ?? '') as {
    readonly custom_secrets: Readonly<Record<string, { secret: string; description: unknown }>>;
    readonly provider_tokens?: Readonly<Record<string, { token: string; host: string | null }>>;
  };
  const [before, request] =
    dialect === 'agent-server'
      ? ([dialect, 'PUT /api/settings/secrets'] as const)
      : (['settings-v0', 'POST /api/secrets'] as const);
  const bodies = Object.entries(custom_secrets).map(([name, { secret: value, description }]) => ({
    name,
    value,
    description,
  }));
  await askAll({ ...options, dialect: before }, request, bodies);
  const gitProviders = Object.entries(provider_tokens).flatMap(([product, { token, host }]) =>
    isGitProduct(product) ? [{ product, ...(host === null ? {} : { host }), accepts: token }] : [],
  );
  if (gitProviders.length === 0) return;
  const app = { ...options, dialect: 'app-server', gitProviders } as const;
  await askAll(app, 'POST /api/v1/secrets/git-providers', [{ provider_tokens }]);
}

/** The same request with one body after the other. */
async function askAll(
  options: EmulatorOptions,
  request: string,
  bodies: readonly object[],
): Promise<void> {
  const emulator = await startEmulator({ apiKey: KEY, ...options });
  const [method = '', path = ''] = request.split(' ');
  const headers = { 'X-Session-API-Key': KEY, 'Content-Type': 'application/json' };
  for (const body of bodies) {
    const sent = { method, path, headers, body: JSON.stringify(body) };
    const { status, text } = await send(emulator.url, sent);
    if (status > 201) throw new Error(`${request}: ${text}`);
  }
  await emulator.close();
}
