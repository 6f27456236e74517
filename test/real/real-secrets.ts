import { send } from '../contract/send.ts';
import type {
  LoopServer,
  StoredSecret,
  StoredSecrets,
  StoredToken,
} from '../fixture/loop/server.ts';
import type { JsonRecord } from '../fixture/store-server.ts';

/**
 * The custom secrets of a real server, by the text of the file that it keeps them in. An Agent Server encrypts the values there, each time
 * anew, and answers one at its own path.
 */
export async function realSecrets(server: LoopServer, text: string | null): Promise<StoredSecrets> {
  const { custom_secrets: stored = {}, ...besides } = JSON.parse(text ?? '{}') as {
    readonly custom_secrets?: Readonly<Record<string, StoredEntry>>;
  } & JsonRecord;
  const entries = Object.entries(stored).map(async ([name, { secret, description }]) => {
    const value = server.dialect === 'agent-server' ? await valueOf(server, name) : secret;
    return [name, { value, description: description ?? '' } satisfies StoredSecret] as const;
  });
  return { custom: Object.fromEntries(await Promise.all(entries)), besides };
}

/** The tokens of git providers in the same file. */
export function realTokens(text: string | null): Readonly<Record<string, StoredToken>> {
  const { provider_tokens: stored = {} } = JSON.parse(text ?? '{}') as {
    readonly provider_tokens?: Readonly<Record<string, StoredToken>>;
  };
  return Object.fromEntries(
    Object.entries(stored).map(([name, { token, host }]) => [name, { token, host: host ?? null }]),
  );
}

interface StoredEntry {
  readonly secret: string;
  readonly description: string | null;
}

async function valueOf({ url, key }: LoopServer, name: string): Promise<string> {
  const received = await send(url, {
    path: `/api/settings/secrets/${name}`,
    headers: { 'X-Session-API-Key': key },
  });
  if (received.status !== 200) throw new Error(`The value of ${name}: ${received.status}`);
  return received.text;
}
