import { expect, it } from 'vitest';
import { BOT, PULLS_TOKEN } from '../fixture/fake-github.ts';
import { bench, settingsFor } from './bench.ts';
import type { Finished } from './runner.ts';

const on = bench({ language: 'en', llm_model: 'a-model' });
const DRIFT = {
  command: 'drift',
  'open-pull-request': 'true',
  comment: 'false',
  'github-token': PULLS_TOKEN,
};
const BRANCH = 'setpoint-drift/default';
const MARKER = '<!-- setpoint:drift-pull environment=default -->';

/** Somebody changes the service, or changes it back. */
function change(settings: Record<string, string | number | null>): void {
  on.store.stored = { ...on.store.stored, ...settings };
}

/** Commits files, and checks them out. */
function commit(files: Readonly<Record<string, string>>): void {
  on.github.git.push('main', files);
  on.commit(files);
}

function commitInSync(): string {
  const text = settingsFor(on.store.url, '  # of the team\n  language: en');
  commit({ 'settings.yaml': text });
  return text;
}

function run(inputs: Readonly<Record<string, string>> = {}): Promise<Finished> {
  return on.step({ inputs: { ...DRIFT, ...inputs } });
}

it('opens a pull request that writes the drift into the file, updates it, and closes it', async () => {
  const before = commitInSync();
  const clean = await run();
  expect(clean.outputs).toMatchObject({ drift: 'false', 'pull-requests': '' });
  expect(on.github.writes()).toEqual([]);

  change({ language: 'fr' });
  const drifted = await run();
  expect(drifted.log).not.toContain('::error');
  expect(drifted.outputs).toMatchObject({ exit_code: '2', drift: 'true', 'pull-requests': '1' });
  expect(on.github.git.read(BRANCH, 'settings.yaml')).toBe(
    before.replace('language: en', 'language: fr'),
  );
  expect(on.github.git.read('main', 'settings.yaml')).toBe(before);
  const [pull] = on.github.issues;
  expect(pull).toMatchObject({ author: BOT, pull: true, head: BRANCH, base: 'main' });
  expect(pull?.body.split('\n')[0]).toBe(MARKER);
  expect(pull?.body).toContain('"fr"');

  change({ language: 'de' });
  expect((await run()).outputs['pull-requests']).toBe('1');
  expect(on.github.issues).toHaveLength(1);
  expect(on.github.git.read(BRANCH, 'settings.yaml')).toBe(
    before.replace('language: en', 'language: de'),
  );
  expect(pull?.body).toContain('"de"');

  change({ language: 'en' });
  expect((await run()).outputs['pull-requests']).toBe('');
  expect(pull).toMatchObject({ state: 'closed', merged: false });
  expect(on.github.comments.map(({ body }) => body)).toEqual([
    expect.stringContaining('in sync again'),
  ]);
  expect([...on.github.git.heads.keys()]).toEqual(['main']);

  change({ language: 'fr' });
  expect((await run()).outputs['pull-requests']).toBe('2');
  expect(on.store.posts()).toBe(0);
});
