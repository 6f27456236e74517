import { describe, expect, it } from 'vitest';
import {
  TARGET_METRICS,
  TOTAL_METRICS,
  WATCH_METRICS,
} from '../../../src/reconciler/model/metrics.ts';
import { WATCH_STATUSES } from '../../../src/reconciler/model/verdict.ts';
import { NoticeCounts } from '../../../src/controller/watch/telemetry/counters.ts';
import { createMetrics } from '../../../src/controller/watch/telemetry/metrics.ts';
import { change, environment, outcome } from '../../fixture/documents.ts';
import { MadeUpWatching, WATCHED_AT, watchState } from '../../fixture/watching.ts';

const AT = new Date(WATCHED_AT).toISOString();
const READ = { kind: 'read', seconds: 0.3, result: 'done' } as const;

function linesOf(text: string, name: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}

const DRIFTED = watchState({
  name: 'eu',
  status: 'drift',
  plan: environment({
    name: 'eu',
    changes: [change(), change({ path: ['agent'] }), change({ action: 'clear' })],
    unknown: [{ path: ['llm_api_key'], reason: 'not shown', ref: null }],
  }),
});

describe('the metrics of a controller', () => {
  it('say of an environment what it is, at the moment when they are asked for', async () => {
    const watching = new MadeUpWatching(DRIFTED);
    const metrics = createMetrics(watching);
    const { type, text } = await metrics.text();
    expect(type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(linesOf(text, 'setpoint_target_info')).toEqual([
      'setpoint_target_info{environment="eu",dialect="settings-v0",server_version="1.6",mode="detect"} 1',
    ]);
    const status = linesOf(text, 'setpoint_target_status');
    expect(status).toHaveLength(WATCH_STATUSES.length);
    expect(status.filter((line) => line.endsWith(' 1'))).toEqual([
      'setpoint_target_status{environment="eu",status="drift"} 1',
    ]);
    expect(linesOf(text, 'setpoint_target_changes')).toEqual([
      'setpoint_target_changes{environment="eu",action="change"} 2',
      'setpoint_target_changes{environment="eu",action="clear"} 1',
    ]);
    expect(linesOf(text, 'setpoint_target_unknowns')).toEqual([
      'setpoint_target_unknowns{environment="eu"} 1',
    ]);
    expect(linesOf(text, 'setpoint_target_last_look_timestamp_seconds')).toEqual([
      `setpoint_target_last_look_timestamp_seconds{environment="eu"} ${WATCHED_AT / 1000}`,
    ]);
    expect(linesOf(text, 'setpoint_target_last_in_sync_timestamp_seconds')).toEqual([]);

    watching.put(watchState({ name: 'eu', heldBy: 'other-host' }));
    const later = (await metrics.text()).text;
    expect(linesOf(later, 'setpoint_target_changes')).toEqual([]);
    expect(linesOf(later, 'setpoint_target_unknowns')).toEqual([
      'setpoint_target_unknowns{environment="eu"} 0',
    ]);
    expect(linesOf(later, 'setpoint_leader')).toEqual(['setpoint_leader{environment="eu"} 0']);
    expect(linesOf(later, 'setpoint_targets').filter((line) => !line.endsWith(' 0'))).toEqual([
      'setpoint_targets{status="in_sync"} 1',
    ]);
  });

  it('count reads, writes, requests and notices', async () => {
    const watching = new MadeUpWatching(watchState());
    const notices = new NoticeCounts(['team', 'pager']);
    const metrics = createMetrics(watching, notices);
    watching.requests = [
      { method: 'GET', status: 200, count: 7 },
      { method: 'GET', status: null, count: 2 },
      { method: 'POST', status: 200, count: 1 },
    ];
    watching.put(watchState(), READ);
    watching.put(watchState(), READ);
    watching.put(watchState(), { ...READ, result: 'timed-out', seconds: 40 });
    watching.put(watchState(), {
      v: 1,
      at: AT,
      kind: 'write',
      environment: 'production',
      by: 'watch',
      commit: null,
      actor: null,
      url: null,
      outcome: outcome(),
    });
    notices.add('team', 'sent', 3);
    const { text } = await metrics.text();
    expect(linesOf(text, 'setpoint_reconcile_total')).toEqual([
      'setpoint_reconcile_total{environment="production",result="done"} 2',
      'setpoint_reconcile_total{environment="production",result="timed-out"} 1',
    ]);
    expect(linesOf(text, 'setpoint_requests_total')).toEqual([
      'setpoint_requests_total{method="GET",code="200"} 7',
      'setpoint_requests_total{method="GET",code="error"} 2',
      'setpoint_requests_total{method="POST",code="200"} 1',
    ]);
    expect(linesOf(text, 'setpoint_writes_total')).toEqual([
      'setpoint_writes_total{environment="production",result="applied"} 1',
    ]);
    expect(linesOf(text, 'setpoint_notices_total')).toEqual([
      'setpoint_notices_total{receiver="team",result="sent"} 3',
      ...['{receiver="team",result="failed"} 0', '{receiver="pager",result="sent"} 0'].map(
        (rest) => `setpoint_notices_total${rest}`,
      ),
      'setpoint_notices_total{receiver="pager",result="failed"} 0',
    ]);
    expect(linesOf(text, 'setpoint_reconcile_duration_seconds_count')).toEqual([
      'setpoint_reconcile_duration_seconds_count 3',
    ]);
    expect(text).toContain('setpoint_reconcile_duration_seconds_bucket{le="0.5"} 2\n');
  });

  it('say whether healing has stopped, and how often in a row it has failed', async () => {
    const stopped = { at: AT, path: 'language', reason: 'x' };
    const healFailed = {
      at: AT,
      count: 2,
      isRefused: true,
      code: 'settings-refused',
      message: 'x',
    };
    const watching = new MadeUpWatching(watchState({ name: 'us' }), {
      ...DRIFTED,
      stopped,
      healFailed,
    });
    const { text } = await createMetrics(watching).text();
    expect(linesOf(text, 'setpoint_target_healing_stopped')).toEqual([
      'setpoint_target_healing_stopped{environment="us"} 0',
      'setpoint_target_healing_stopped{environment="eu"} 1',
    ]);
    expect(linesOf(text, 'setpoint_target_heal_failures')).toEqual([
      'setpoint_target_heal_failures{environment="us"} 0',
      'setpoint_target_heal_failures{environment="eu"} 2',
    ]);
  });

  it('have totals alone without a line for each environment', async () => {
    const watching = new MadeUpWatching(DRIFTED, watchState({ name: 'us' }));
    const metrics = createMetrics(watching);
    watching.put(DRIFTED, READ);
    watching.put(watchState({ name: 'us' }), READ);
    const { text } = await metrics.text({ perEnvironment: false });
    expect(text).not.toContain('environment=');
    expect(linesOf(text, 'setpoint_reconcile_total')).toEqual([
      'setpoint_reconcile_total{result="done"} 2',
    ]);
    expect(linesOf(text, 'setpoint_targets').filter((line) => !line.endsWith(' 0'))).toEqual([
      'setpoint_targets{status="in_sync"} 1',
      'setpoint_targets{status="drift"} 1',
    ]);
    expect(linesOf(text, 'setpoint_oldest_look_timestamp_seconds')).toEqual([
      `setpoint_oldest_look_timestamp_seconds ${WATCHED_AT / 1000}`,
    ]);
  });

  it('forget an environment that is no longer watched, its counters too', async () => {
    const watching = new MadeUpWatching(watchState({ name: 'gone' }), watchState({ name: 'here' }));
    const metrics = createMetrics(watching);
    watching.put(watchState({ name: 'gone' }), READ);
    watching.put(watchState({ name: 'here' }), READ);
    watching.remove('gone');
    const { text } = await metrics.text();
    expect(text).not.toContain('gone');
    expect(linesOf(text, 'setpoint_reconcile_total')).toHaveLength(1);
  });

  it('hold no origin, no path and no value', async () => {
    const watching = new MadeUpWatching(DRIFTED);
    const { text } = await createMetrics(watching).text();
    for (const one of ['agents.example.com', 'language', 'llm_api_key', 'fr"'])
      expect(text).not.toContain(one);
  });

  it('say how the controller itself is', async () => {
    const watching = new MadeUpWatching(watchState());
    const metrics = createMetrics(watching);
    for (const name of ['setpoint_shard_info', 'setpoint_unwatched_objects'])
      expect((await metrics.text()).text).not.toContain(`${name}{`);
    watching.health = {
      ...watching.health,
      queued: 7,
      working: 0,
      filesProblem: 'not valid',
      shard: { index: 1, count: 4 },
      unwatched: new Map([
        ['Invalid', 2],
        ['Suspended', 0],
      ]),
    };
    const { text } = await metrics.text();
    expect(linesOf(text, 'setpoint_queue_depth')).toEqual(['setpoint_queue_depth 7']);
    expect(linesOf(text, 'setpoint_files_problem')).toEqual(['setpoint_files_problem 1']);
    expect(linesOf(text, 'setpoint_unwatched_objects')).toEqual([
      'setpoint_unwatched_objects{reason="Invalid"} 2',
      'setpoint_unwatched_objects{reason="Suspended"} 0',
    ]);
    expect(linesOf(text, 'setpoint_shard_info')).toEqual([
      'setpoint_shard_info{index="1",count="4"} 1',
    ]);
    expect(linesOf(text, 'setpoint_loop_turned_timestamp_seconds')).toEqual([
      `setpoint_loop_turned_timestamp_seconds ${WATCHED_AT / 1000}`,
    ]);
    expect(Number(linesOf(text, 'process_cpu_seconds_total')[0]?.split(' ')[1])).toBeGreaterThan(0);
  });

  it('are all of the table, and no other', async () => {
    const { text } = await createMetrics(new MadeUpWatching(DRIFTED)).text();
    const named = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) =>
      type === 'counter' ? `${name}_total` : name,
    );
    const known = Object.keys({ ...TARGET_METRICS, ...TOTAL_METRICS, ...WATCH_METRICS });
    expect(named.toSorted()).toEqual(known.toSorted());
  });

  it('stop listening when they are closed', () => {
    const watching = new MadeUpWatching();
    const metrics = createMetrics(watching);
    expect(watching.listeners).toBeGreaterThan(0);
    metrics.close();
    expect(watching.listeners).toBe(0);
  });
});
