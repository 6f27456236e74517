/** A plan of a pull request has no key: every name and every member that changes is in it all the same. */
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { formatPath } from '../../../src/reconciler/model/path.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { planText } from '../../../src/reconciler/render/section-text.ts';
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

async function service(dialect: DialectName) {
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
  const file = join(folder.path, 'settings.yaml');
  return {
    folder: folder.path,
    asked: (blocks: string) => ({ text: head + blocks, file, clock: quickClock() }),
  };
}

/** What a plan without a value of any reference shows, as people read it. */
async function shown(asked: Omit<Parameters<typeof plan>[0], 'env'>): Promise<string> {
  const document = await plan({ ...asked, env: {} });
  expect(document.environments[0]?.error).toBeNull();
  return planText(document, { color: false, width: null, verbose: true });
}

function isOften([, dialect, { block }]: (typeof SAMPLES_HERE)[number]): boolean {
  return dialect === 'agent-server' && /^(secrets|llm_profiles|mcp_servers|skills)$/.test(block);
}

itEach(SAMPLES_HERE, isOften)(
  '%s: a new item, and one member of it',
  async (_, dialect, sample) => {
    const { folder, asked } = await service(dialect);
    const declared = sample.declared(folder);
    const place = placeOf(dialect, sample);
    expect(await shown(asked(declared))).toContain(place);
    const made = { ...asked(declared), env: ITEM_ENV, allow: ['empty-store'] };
    expect((await apply(made)).environments[0]).toMatchObject({ error: null });
    const same = await shown(asked(declared));
    expect(same).toContain('No changes.');
    if (sample.altered === undefined) return;
    const [from, to] = sample.altered;
    const text = await shown(asked(declared.replace(from, to)));
    expect(text).toContain(place);
    expect(text).toContain(to);
  },
);

function placeOf(dialect: DialectName, { block, name, planned }: SampleItem): string {
  return planned?.[dialect]?.replace(/\.theirs$/, '') ?? formatPath([block, name]);
}
