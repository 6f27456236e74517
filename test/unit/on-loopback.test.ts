import { expect, it } from 'vitest';
import { onLoopback } from '../fixture/on-loopback.ts';

it('an answer that fails cuts its connection, and is told when the server closes', async () => {
  const server = await onLoopback(async () => {
    throw new Error('no answer');
  });
  await expect(fetch(server.url)).rejects.toThrow('fetch failed');
  await expect(server.close()).rejects.toThrow('no answer');
});

it('what closing a server cuts is no failure', async () => {
  const open: (() => void)[] = [];
  const server = await onLoopback(async () => {
    await new Promise<void>((proceed) => open.push(proceed));
    throw new Error('the service is gone');
  });
  const asked = fetch(server.url).catch((error: Error) => error.message);
  await expect.poll(() => open.length).toBe(1);
  const closed = server.close();
  for (const proceed of open) proceed();
  await closed;
  expect(await asked).toBe('fetch failed');
});
