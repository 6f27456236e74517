import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { GIT_HOSTS, ITEM_ENV, SAMPLES_HERE } from '../../fixture/every-collection.ts';
import { quickClock } from '../../fixture/settings.ts';

/* The first write to a server that has nothing stored is refused by empty_store, whatever the file declares. */

it.each(SAMPLES_HERE)(
  '%s: a first item is a first write, a second is none',
  async (_, dialect, sample) => {
    const folder = folderWith({});
    const data = join(folder.path, 'store.json');
    const front = await startFronted({ dialect, data, gitProviders: [...(GIT_HOSTS ?? [])] });
    onTestFinished(async () => {
      await front.close();
      folder.remove();
    });
    const text = (blocks: string) =>
      `version: 1\nserver: { url: "${front.url}" }\nguards: { empty_store: true }\n${blocks}\n`;
    const asked = (blocks: string) => ({
      text: text(blocks),
      file: join(folder.path, 'settings.yaml'),
      env: ITEM_ENV,
      clock: quickClock(),
    });
    const declared = sample.declared(folder.path);
    const [first] = (await apply(asked(declared))).environments;
    // An app-server has no LLM profiles and git providers before it has settings: an error of its own.
    expect(['guard-refused', 'unfit-for-service']).toContain(first?.error?.code);
    expect(front.writes()).toEqual([]);
    if (first?.error?.code !== 'guard-refused') return;
    expect(first.error.message).toContain('(rule empty-store)');

    const allowed = { ...asked(declared), allow: ['empty-store' as const] };
    expect((await apply(allowed)).environments[0]?.error ?? null).toBeNull();
    const [again] = (await plan(asked(sample.removed))).environments;
    expect(again?.changes).not.toEqual([]);
    expect(again?.refusals.map(({ rule }) => rule)).not.toContain('empty-store');
  },
);
