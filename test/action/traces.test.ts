import { expect, it, onTestFinished } from 'vitest';
import { folderWith } from '../fixture/command.ts';
import { startOtlpReceiver, tracedBy } from '../fixture/otlp-receiver.ts';
import { bench, settingsFor } from './bench.ts';
import { MERGE } from './runner.ts';

const on = bench({ language: 'en' });

it('a step whose job registers an SDK is one trace below TRACEPARENT, which arrives before it ends', async () => {
  const receiver = await startOtlpReceiver();
  const folder = folderWith({});
  onTestFinished(async () => {
    folder.remove();
    await receiver.close();
  });
  on.commit({ 'settings.yaml': settingsFor(on.store.url, '  language: de') });
  const trace = '0af7651916cd43dd8448eb211c80319c';
  const env = {
    ...tracedBy(folder.path, receiver),
    TRACEPARENT: `00-${trace}-b7ad6b7169203331-01`,
  };
  const applied = await on.step({ inputs: { command: 'apply' }, env, built: true });
  expect([applied.code, on.store.stored]).toEqual([0, expect.objectContaining({ language: 'de' })]);
  expect(new Set(receiver.spans.map((span) => span.trace))).toEqual(new Set([trace]));
  expect(receiver.spans.find(({ kind }) => kind === 2)).toMatchObject({
    name: 'SYNC setpoint apply',
    parent: 'b7ad6b7169203331',
    attributes: { 'cicd.pipeline.result': 'success', 'vcs.ref.head.revision': MERGE },
  });
  expect(receiver.spans.map(({ name }) => name)).toContain('write settings');
});
