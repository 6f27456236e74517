/** What somebody made, pulled into a file that says that others go: the next apply must not remove it without a word. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { pull } from '../../../src/reconciler/operations/pull.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import {
  GIT_HOSTS,
  ITEM_ENV,
  SAMPLES_HERE,
  type SampleItem,
} from '../../fixture/every-collection.ts';
import { itEach } from '../../fixture/long.ts';
import { quickClock } from '../../fixture/settings.ts';

/** Blocks that are lists of all that there is need no word for it. */
const NAMED = SAMPLES_HERE.filter(
  ([, , { block }]) => block !== 'marketplaces' && block !== 'disabled_skills',
);

async function madeByOthers(dialect: DialectName, sample: SampleItem) {
  const folder = folderWith({});
  onTestFinished(() => folder.remove());
  const front = await startFronted({
    dialect,
    apiKey: 'a-key',
    data: join(folder.path, 'store.json'),
    ...(GIT_HOSTS === undefined ? {} : { gitProviders: GIT_HOSTS }),
  });
  onTestFinished(() => front.close());
  const head = `version: 1\nserver: { url: "${front.url}" }\nsettings: { language: en }\n`;
  const common = { env: ITEM_ENV, clock: quickClock() };
  const theirs = head + sample.declared(folder.path);
  const [made] = (
    await apply({
      ...common,
      text: theirs,
      file: join(folder.path, 'theirs.yaml'),
      allow: ['empty-store'],
    })
  ).environments;
  expect(made).toMatchObject({ error: null });
  const file = join(folder.path, 'settings.yaml');
  writeFileSync(file, `${head}collections: { ${sample.block}: { others: remove } }\n`);
  return { ...common, file };
}

itEach(NAMED, ([, dialect, { block }]) => dialect === 'agent-server' && block !== 'skills')(
  '%s: is declared by pull, and no later plan removes it',
  async (_, dialect, sample) => {
    const asked = await madeByOthers(dialect, sample);
    const removals = async () =>
      (await plan(asked)).environments.flatMap(({ changes, error }) => {
        expect(error).toBeNull();
        return changes.filter(({ action }) => action === 'remove').map(({ path }) => path);
      });
    expect(await removals()).toHaveLength(1);
    const [pulled] = (await pull(asked)).environments;
    expect(pulled).toMatchObject({ error: null });
    expect(JSON.stringify(pulled)).not.toContain('canary');
    const text = readFileSync(asked.file, 'utf8');
    expect(text).not.toContain('canary');
    expect([text, await removals()]).toEqual([expect.stringContaining(`${sample.block}:`), []]);
  },
);
