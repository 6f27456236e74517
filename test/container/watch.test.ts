import { chmodSync } from 'node:fs';
import { Wait, getContainerRuntimeClient } from 'testcontainers';
import { expect, inject, it } from 'vitest';
import { folderWith } from '../fixture/command.ts';
import { ReadOnlyContainer } from './read-only-container.ts';
import { endOf } from './run-to-end.ts';

it('watch runs with a read-only root, is alive and ready, and keeps its journal in /data until SIGTERM', async () => {
  const settings = `version: 1
server: { url: "http://127.0.0.1:1" }
settings: { language: en }
`;
  const folder = folderWith({ 'settings.yaml': settings });
  const data = folderWith({});
  chmodSync(folder.path, 0o755);
  chmodSync(data.path, 0o777);
  const said: string[] = [];
  const running = await new ReadOnlyContainer(inject('image'))
    .withBindMounts([
      { source: folder.path, target: '/work', mode: 'ro' },
      { source: data.path, target: '/data', mode: 'rw' },
    ])
    .withLogConsumer((stream) => stream.on('data', (line) => said.push(String(line))))
    .withCommand(['watch', '--data', '/data', '--interval', '10s', '--listen', '127.0.0.1:8080'])
    .withWaitStrategy(Wait.forLogMessage(/default: failed/))
    .start()
    .catch((thrown: unknown) => {
      throw new Error(said.join(''), { cause: thrown });
    });
  try {
    const ask = (path: string): Promise<{ output: string }> =>
      running.exec([
        'node',
        '-e',
        `fetch('http://127.0.0.1:8080${path}').then((answer) => console.log(answer.status))`,
      ]);
    expect((await ask('/healthz')).output.trim()).toBe('200');
    expect((await ask('/readyz')).output.trim()).toBe('200');
    const { output } = await running.exec([
      'node',
      '-p',
      "fs.readFileSync('/data/journal.jsonl', 'utf8')",
    ]);
    expect(output).toContain('"kind":"state"');
    const { container } = await getContainerRuntimeClient();
    await container.getById(running.getId()).kill({ signal: 'SIGTERM' });
    const { code, stderr } = await endOf(running.getId());
    expect([code, stderr]).toEqual([0, 'setpoint: The page is at http://127.0.0.1:8080\n']);
  } finally {
    await running.stop();
    folder.remove();
    data.remove();
  }
});
