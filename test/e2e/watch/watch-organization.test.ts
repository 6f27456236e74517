import { expect, it } from 'vitest';
import { renderListView, listView, sortStates } from '../../../src/controller/page/list-page.ts';
import { createContent } from '../../../src/controller/watch/notices/message.ts';
import { whyNotHealed } from '../../../src/controller/watch/healing.ts';
import { createMetrics } from '../../../src/controller/watch/telemetry/metrics.ts';
import { markupSource } from '../../../src/reconciler/render/html/page.ts';
import { folderWith } from '../../fixture/command.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { asMember, startOrganization, type Organized } from '../../fixture/organization.ts';
import {
  MINUTE,
  recordsOf,
  settingsFile,
  startWatching,
  watchFolder,
} from '../../fixture/watch-world.ts';

const KEY = '  llm_api_key: ${env:LLM_KEY}\n';
const RULE = 'shared-key';

function fileOf(service: Organized, settings = KEY): string {
  return `${asMember(service, settings).text}watch: { mode: heal }\n`;
}

it('a controller does not heal what would give a key to every member, and says so everywhere', async () => {
  const service = await startOrganization();
  const folder = watchFolder();
  settingsFile(folder, fileOf(service));
  const world = startWatching({ folder, request: { env: service.env } });
  const metrics = createMetrics(world.controller);
  await world.pass(12 * MINUTE);
  const state = world.state();
  const { text } = await metrics.text();
  const query = { text: '', state: 'any', page: 1 } as const;
  const { controller, clock, data } = world;
  const view = listView(controller, sortStates(controller), query, clock.now());
  const page = markupSource(renderListView(view, query));
  const due = {
    state,
    event: 'opened',
    digest: state.digest,
    track: 'difference',
    end: null,
  } as const;
  const told = createContent([due], null);
  metrics.close();
  await world.stop();
  expect(service.writes()).toEqual([]);
  expect([state.status, whyNotHealed(state, [], clock.now())]).toEqual([
    'refused',
    `refused by ${RULE}`,
  ]);
  expect(text).toMatch(/setpoint_target_status\{environment="default",status="refused"\} 1/);
  expect(page).toContain(`refused by ${RULE}`);
  expect(told.notices()).toMatchObject([{ status: 'refused', rules: [RULE] }]);
  expect(told.message().items[0]?.details).toContain(`refused by ${RULE}`);
  expect(recordsOf(data, 'state')).toMatchObject([
    { status: 'refused', plan: { refusals: [{ rule: RULE }], organization: { name: 'Platform' } } },
  ]);
  expect([recordsOf(data, 'writing'), recordsOf(data, 'write')]).toEqual([[], []]);
  // A controller asks again after an hour, not in each round.
  expect(service.asked().filter((path) => path === '/saas')).toHaveLength(1);
  expect(text + page + JSON.stringify(told.notices())).not.toContain('CANARY');
});

it('a plan, drift, doctor and explain say which organisation, and the rule', async () => {
  const service = await startOrganization();
  const folder = folderWith({ 'settings.yaml': fileOf(service) });
  const typed = async (...args: string[]) => {
    const { code, stdout, stderr } = await setpoint(args, { cwd: folder.path, env: service.env });
    expect(stdout + stderr).not.toContain('CANARY');
    return { code, text: stdout + stderr };
  };
  const organization = /Platform \(5 members\); key "key of member-3" of user [0-9-]+; role member/;
  const plan = await typed('plan');
  expect([plan.code, plan.text]).toEqual([0, expect.stringMatching(organization)]);
  expect(plan.text).toContain(`(rule ${RULE}) If this is intended, apply with --allow ${RULE}.`);
  const applied = await typed('apply', '--yes');
  expect([applied.code, applied.text]).toEqual([5, expect.stringContaining(`rule ${RULE}`)]);
  expect((await typed('drift')).text).toMatch(organization);
  const doctor = await typed('doctor');
  expect(doctor.text).toMatch(organization);
  expect(doctor.text).toContain('the guard shared_key refuses to write one');
  expect((await typed('explain', 'guards.shared_key')).text).toContain('every member');
  const owned = fileOf(service, '  max_budget_per_task: 3\n');
  const other = folderWith({ 'settings.yaml': owned });
  const { code, stderr, stdout } = await setpoint(['apply', '--yes'], {
    cwd: other.path,
    env: service.env,
  });
  expect([code, stdout + stderr]).toEqual([
    3,
    expect.stringContaining('belongs to the organisation Platform (5 members)'),
  ]);
  expect(service.writes()).toEqual([]);
  folder.remove();
  other.remove();
});
