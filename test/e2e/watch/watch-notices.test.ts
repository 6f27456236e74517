import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { SYSTEM_CLOCK } from '../../../src/reconciler/host/this-process.ts';
import { fileLocks } from '../../../src/controller/watch/locks/file-locks.ts';
import { Notices } from '../../../src/controller/watch/notices/notices.ts';
import { httpSender } from '../../../src/controller/watch/notices/send.ts';
import { lockFolder, openController } from '../../../src/controller/watch/open-controller.ts';
import { folderWith } from '../../fixture/command.ts';
import { dedent } from '../../fixture/dedent.ts';
import { onLoopback } from '../../fixture/on-loopback.ts';
import { receiver } from '../../fixture/receivers.ts';
import { startStore } from '../../fixture/store-server.ts';

/** Time of which a sleep takes nothing. */
function quickClock() {
  let passed = 0;
  return {
    now: () => SYSTEM_CLOCK.now() + passed,
    monotonic: () => SYSTEM_CLOCK.monotonic() + passed,
    sleep: async (milliseconds: number, signal?: AbortSignal) => {
      await turn();
      if (signal?.aborted !== true) passed += milliseconds;
    },
  };
}

it('a controller tells what it finds, once, also after a restart, and what is resolved', async () => {
  const store = await startStore({}, { language: 'fr' });
  onTestFinished(() => store.close());
  const got: string[] = [];
  const chat = await onLoopback((_, response, body) => {
    got.push(body);
    response.end('ok');
  });
  onTestFinished(() => chat.close());
  const folder = folderWith({
    'settings.yaml': dedent`
      version: 1
      server: { url: ${store.url} }
      settings: { language: en }
    `,
  });
  onTestFinished(() => folder.remove());
  const data = join(folder.path, 'data');
  const clock = quickClock();
  const warnings: string[] = [];

  /** Runs a controller with its notices until a condition holds. */
  const watchUntil = async (isOver: () => boolean): Promise<void> => {
    const stop = new AbortController();
    const controller = openController({
      request: { file: [join(folder.path, 'settings.yaml')], env: {}, signal: stop.signal },
      data,
      clock,
      interval: 60_000,
      parallel: 8,
      approved: undefined,
      abandon: new AbortController().signal,
      locks: fileLocks(lockFolder(data), SYSTEM_CLOCK),
      report: ({ severity, message }) => {
        if (severity === 'warning') warnings.push(message);
      },
    });
    await controller.begin();
    const to = { form: 'slack' as const, url: new Secret(chat.url), headers: new Map() };
    const notices = new Notices({
      watching: controller,
      journal: controller.notices,
      settings: { page: null, receivers: [receiver({ to })], heartbeat: null },
      sender: httpSender({}, clock),
      issues: async () => ({ kind: 'sent' }),
      clock,
      report: ({ message }) => warnings.push(message),
    });
    const telling = notices.run(stop.signal);
    const running = controller.run();
    while (!isOver()) await turn();
    stop.abort();
    await Promise.all([running, telling]);
  };

  const reads = () => store.requests.length;
  await watchUntil(() => got.length > 0);
  expect(got[0]).toContain('has drift: it was changed on the service');
  const before = reads();
  await watchUntil(() => reads() > before + 20);
  expect(got).toHaveLength(1);
  store.stored = { language: 'en' };
  await watchUntil(() => got.length > 1);
  expect(got[1]).toContain('is in sync again');
  const after = reads();
  await watchUntil(() => reads() > after + 20);
  expect(got).toHaveLength(2);
  expect(warnings).toEqual([]);
});
