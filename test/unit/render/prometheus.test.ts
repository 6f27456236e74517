import { expect, it } from 'vitest';
import { VERSION } from '../../../src/reconciler/model/version.ts';
import type { EnvironmentPlan, PlanDocument } from '../../../src/reconciler/model/plan.ts';
import { metricsOfPlans } from '../../../src/reconciler/render/prometheus.ts';
import { change, environment, MADE, planOf } from '../../fixture/documents.ts';

const AT = MADE / 1000;

function textOf(...environments: EnvironmentPlan[]): string {
  return textFor({}, ...environments);
}

function textFor(more: Partial<PlanDocument>, ...environments: EnvironmentPlan[]): string {
  const metrics = metricsOfPlans();
  for (const one of environments) metrics.add(one);
  return [...metrics.text({ ...planOf(), ...more })].join('');
}

function linesOf(text: string, name: string): string[] {
  return text.split('\n').filter((line) => line.startsWith(`${name}{`));
}

const ERROR = { code: 'timed-out', message: 'No answer.', hint: '' };
const UNKNOWN = { path: ['llm_api_key'], reason: 'not shown', ref: null };

it.each([
  ['in_sync', environment()],
  ['in_sync', environment({ unknown: [UNKNOWN] })],
  ['drift', environment({ changes: [change()] })],
  ['drift', environment({ changes: [change({ class: 'drift' }), change({ class: 'pending' })] })],
  ['drift', environment({ status: 'differs' })],
  ['pending', environment({ changes: [change({ class: 'pending' })] })],
  ['conflict', environment({ changes: [change(), change({ class: 'conflict' })] })],
  [
    'refused',
    environment({
      changes: [change()],
      refusals: [{ rule: 'max-changes', message: 'too many', path: [], hint: '' }],
    }),
  ],
  ['error', environment({ error: ERROR })],
  ['not_read', environment({ error: { ...ERROR, code: 'skipped' } })],
])('an environment has one status: %s', (status, plan) => {
  const text = textOf(plan);
  const lines = linesOf(text, 'setpoint_target_status');
  expect(lines).toHaveLength(9);
  expect(lines.filter((line) => line.endsWith(' 1'))).toEqual([
    `setpoint_target_status{environment="production",status="${status}"} 1`,
  ]);
  expect(linesOf(text, 'setpoint_targets').filter((line) => line.endsWith(' 1'))).toEqual([
    `setpoint_targets{status="${status}"} 1`,
  ]);
});

it('what could not be compared is counted beside the status, and is the status of a strict run', () => {
  const plan = environment({ unknown: [UNKNOWN, { ...UNKNOWN, path: ['search_api_key'] }] });
  const inSync = 'setpoint_target_last_in_sync_timestamp_seconds';
  const [usual, strict] = [textOf(plan), textFor({ strict: true }, plan)];
  expect(linesOf(usual, inSync)).toHaveLength(1);
  expect(strict).toContain('setpoint_target_status{environment="production",status="unknown"} 1');
  expect(strict).toContain('setpoint_targets{status="unknown"} 1');
  expect(linesOf(strict, inSync)).toEqual([]);
  for (const text of [usual, strict])
    expect(text).toContain('setpoint_target_unknowns{environment="production"} 2\n');
  expect(textFor({ strict: true }, environment())).toContain(
    'setpoint_targets{status="in_sync"} 1',
  );
});

it('has every metric once, described, without times of samples', () => {
  const text = textOf(
    environment({ name: 'eu', changes: [change(), change({ action: 'clear' })] }),
    environment({ name: 'us' }),
  );
  expect(text).toContain(
    [
      '# HELP setpoint_target_changes Changes that an apply would make, by action; only the actions that there are.',
      '# TYPE setpoint_target_changes gauge',
      'setpoint_target_changes{environment="eu",action="change"} 1',
      'setpoint_target_changes{environment="eu",action="clear"} 1',
      '# HELP',
    ].join('\n'),
  );
  expect(text).toContain(`setpoint_build_info{version="${VERSION}"} 1\n`);
  expect(linesOf(text, 'setpoint_target_last_look_timestamp_seconds')).toEqual([
    `setpoint_target_last_look_timestamp_seconds{environment="eu"} ${AT}`,
    `setpoint_target_last_look_timestamp_seconds{environment="us"} ${AT}`,
  ]);
  expect(linesOf(text, 'setpoint_target_last_in_sync_timestamp_seconds')).toEqual([
    `setpoint_target_last_in_sync_timestamp_seconds{environment="us"} ${AT}`,
  ]);
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const line of text.trimEnd().split('\n'))
    expect(line).toMatch(/^# (HELP|TYPE) \S+ .+$|^\w+(\{[^{}]*\})? [\d.]+$/);
});

it('says nothing of what was not compared', () => {
  const text = textOf(environment({ error: ERROR, dialect: null, release: null }));
  for (const name of ['changes', 'unknowns', 'last_in_sync_timestamp_seconds'])
    expect(text).not.toContain(`setpoint_target_${name}`);
  expect(linesOf(text, 'setpoint_target_info')).toEqual([
    'setpoint_target_info{environment="production",dialect="",server_version="",mode="detect"} 1',
  ]);
});

it('escapes what ends a label', () => {
  const release = 'a"b\\c\nd"} 1\nx 2';
  const [line = ''] = linesOf(textOf(environment({ release })), 'setpoint_target_info');
  expect(line).toContain(String.raw`server_version="a\"b\\c\nd\"} 1\nx 2",mode`);
});
