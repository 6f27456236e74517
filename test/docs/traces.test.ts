import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ATTRIBUTES } from '../../src/reconciler/host/spans.ts';
import { ACTIONS, formatActionNoun } from '../../src/reconciler/model/action.ts';
import { RESOURCES } from '../../src/reconciler/resources/resources.ts';
import { folderWith, setpoint } from '../fixture/command.ts';
import { startOtlpReceiver } from '../fixture/otlp-receiver.ts';
import { startStore } from '../fixture/store-server.ts';
import { ROOT, textOfPage } from './pages.ts';

const PAGE = textOfPage('docs/guides/traces.md');

/** The names in the first cells of the table below a heading. */
function namesUnder(heading: string): string[] {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  return own
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)])
    .map(([, name = '']) => name);
}

it('the page on traces lists every attribute and every part of a run, and no other', () => {
  expect(namesUnder('The attributes')).toEqual([...ATTRIBUTES].toSorted(byPage));
  const tasks = namesUnder('The spans').filter((name) => !/^(RUN|SYNC) /.test(name));
  expect(tasks.toSorted()).toEqual(partsOfARun().toSorted());
});

/** What is read and written of every resource. */
function partsOfARun(): readonly string[] {
  const lists = RESOURCES.flatMap((resource) => Object.keys(resource.lists ?? {}));
  const kept = RESOURCES.filter(({ isList }) => isList !== true).map(({ block }) => block);
  const told = ACTIONS.filter((action) => formatActionNoun(action) !== null);
  return [
    'plan',
    'apply',
    ...['settings', ...lists].map((name) => `read ${name}`),
    ...kept.map((block) => `write ${block}`),
    ...told.map((action) => `${action} ${formatActionNoun(action)}`),
  ];
}

/** In the order of the page; what it lacks comes first. */
function byPage(one: string, other: string): number {
  const names = namesUnder('The attributes');
  return names.indexOf(one) - names.indexOf(other);
}

it('its file registers an SDK whose spans arrive, with those of the requests', async () => {
  const store = await startStore({}, { language: 'de' });
  const receiver = await startOtlpReceiver();
  const [, tracing = ''] = /```js\n\/\/ tracing\.mjs\n([^]*?)```/.exec(PAGE) ?? [];
  const folder = folderWith({
    'settings.yaml': `version: 1\nserver: { url: "${store.url}" }\nsettings: { language: en }\n`,
    'tracing.mjs': tracing,
  });
  onTestFinished(async () => {
    folder.remove();
    await receiver.close();
    await store.close();
  });
  symlinkSync(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'));
  const env = {
    NODE_OPTIONS: `--import ${join(folder.path, 'tracing.mjs')}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  };
  const { code, stderr } = await setpoint(['plan'], { cwd: folder.path, env });
  expect([code, stderr]).toEqual([0, '']);
  expect(receiver.spans.map(({ name }) => name).toSorted()).toEqual([
    'GET',
    'GET',
    'RUN setpoint plan',
    'plan',
    'read secrets',
    'read settings',
  ]);
});
