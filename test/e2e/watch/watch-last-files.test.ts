import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openController } from '../../../src/controller/watch/open-controller.ts';
import { filesSource, type SettingsSource } from '../../../src/controller/watch/source.ts';
import { SetpointError } from '../../../src/reconciler/model/error.ts';
import { until } from '../../fixture/until.ts';

it('takes the last good commit of a broken branch also if it was out of reach at the start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-last-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'settings.yaml');
  writeFileSync(file, 'version: 1\nserver: { url: "http://127.0.0.1:9" }\nsettings: {}\n');
  const stop = new AbortController();
  const request = { file, env: {}, signal: stop.signal };
  const good = filesSource(request, async () => 'good');
  let asked = 0;
  const source: SettingsSource = {
    ...good,
    kind: 'git',
    stamp: async () => 'broken',
    load: () => Promise.reject(new SetpointError('settings-invalid', 'It is broken.')),
    loadLast: async () => {
      asked += 1;
      if (asked === 1) throw new SetpointError('file-unreadable', 'The disk does not answer.');
      return good.load();
    },
  };
  const controller = openController({ request, data: join(folder, 'data'), source });
  const ended = controller.run();
  await until(() => controller.states().length > 0);
  stop.abort('seen');
  await ended;
  expect(controller.states().map(({ name }) => name)).toEqual(['default']);
});
