/** A controller and items that have another name: what it finds, tells, shows and writes. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { renderFoundPlan } from '../../../src/controller/page/history-html.ts';
import { createWatchedReport } from '../../../src/controller/page/api.ts';
import { createContent } from '../../../src/controller/watch/notices/message.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { markupSource } from '../../../src/reconciler/render/html/page.ts';
import { historyText } from '../../../src/reconciler/render/history-text.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { MINUTE, settingsFile, startWatching, watchFolder } from '../../fixture/watch-world.ts';

it('tells a rename as one, shows it, and heals it by one request', async () => {
  const kept = folderWith({});
  const data = join(kept.path, 'store.json');
  const front = await startFronted({ dialect: 'settings-v0', apiKey: 'a-key', data });
  const head = `version: 1\nserver: { url: "${front.url}" }\nsettings: { language: en }\n`;
  const value = { S: 'canary-value' };
  await apply({
    text: `${head}secrets: { JIRA: "\${env:S}" }\n`,
    file: join(kept.path, 'before.yaml'),
    env: value,
    allow: ['empty-store'],
  });
  const folder = watchFolder();
  const text = (mode: string): string =>
    `${head}watch: { mode: ${mode}, interval: 1m }\nsecrets: { TRACKER: "\${env:S}" }\nmoved: [{ from: secrets.JIRA, to: secrets.TRACKER }]\n`;
  settingsFile(folder, text('detect'));
  const writes = front.writes().length;
  const request = { env: { SETPOINT_API_KEY: 'a-session-key', ...value } };
  const world = startWatching({ folder, request });
  try {
    await world.pass(3 * MINUTE);
    const state = world.state();
    const due = {
      state,
      event: 'opened',
      digest: state.digest,
      track: 'difference',
      end: null,
    } as const;
    const { message, notices } = createContent([due], null);
    expect(message().items[0]?.details).toContain('secrets.TRACKER: renamed from JIRA');
    expect(notices()).toMatchObject([{ changes: { rename: 1 }, paths: ['secrets.TRACKER'] }]);
    expect(createWatchedReport(state, [], world.clock.now()).what).toBe('secrets.TRACKER');
    const page = state.plan === null ? '' : markupSource(renderFoundPlan(state.plan, state.since));
    expect(page).toContain('renamed from JIRA');
    expect(page).toContain('called JIRA');
    settingsFile(folder, text('heal'));
    await world.pass(6 * MINUTE);
    expect(world.state().status).toBe('in-sync');
    expect(front.writes().slice(writes)).toEqual([expect.objectContaining({ name: 'TRACKER' })]);
    const records = await world.controller.history('default');
    const shown = historyText(
      { format_version: 1, kind: 'history', records, path: ['secrets', 'JIRA'] } as never,
      { color: false, width: null, verbose: true },
    );
    expect(shown).toContain('called JIRA → called TRACKER (verified)');
    expect(JSON.stringify([state, records, page, world.notes])).not.toContain('canary');
  } finally {
    await world.stop();
    await front.close();
    kept.remove();
  }
});
