import { expect, it } from 'vitest';

import { startEmulator } from '../../src/emulator/start.ts';
import { Secret } from '../../src/reconciler/model/secret.ts';
import { writeOf } from '../fixture/observed.ts';
import { failure, KEY, serviceAt } from './service.ts';

it('an empty store is written, and read back with its secrets wrapped', async () => {
  const emulator = await startEmulator({ apiKey: KEY });
  try {
    const service = serviceAt(emulator.url);
    await expect(service.observer.observe()).resolves.toMatchObject({ stored: false });
    const url = 'https://u:p@mcp.example/sse?token=t';
    const entry = { url: new Secret(url), api_key: new Secret('k') };
    await expect(
      service.store(
        writeOf({
          language: 'en',
          llm_api_key: new Secret('canary-llm'),
          mcp_config: { sse_servers: [entry] },
        }),
      ),
    ).resolves.toEqual({ kind: 'stored' });
    const { stored, answer } = await service.observer.observe();
    expect(stored).toBe(true);
    expect(answer).toMatchObject({ language: 'en', llm_api_key: null, llm_api_key_set: true });
    expect(JSON.stringify(answer['mcp_config'])).toContain(
      '{"url":"(sensitive)","api_key":"(sensitive)"}',
    );
    await expect(
      service.store(writeOf({ mcp_config: { sse_servers: [{ api_key: new Secret('canary') }] } })),
    ).resolves.toMatchObject({
      kind: 'not-applied',
      retry: false,
      error: { message: expect.stringContaining('mcp_config.sse_servers[0]') },
    });
    await service.connection.close();
  } finally {
    await emulator.close();
  }
});

it('another key is refused', async () => {
  const emulator = await startEmulator({ apiKey: 'another' });
  try {
    const service = serviceAt(emulator.url);
    expect((await failure(service)).code).toBe('unauthorized');
    await service.connection.close();
  } finally {
    await emulator.close();
  }
});
