import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { automationAfter } from '../../../src/reconciler/effects/automations.ts';
import { createRecord, type Value, type ValueRecord } from '../../../src/reconciler/model/value.ts';

/* The effect of a change of an automation, over all changes that a real service was recorded to accept. */

type Json = Readonly<Record<string, Value>>;
interface Step {
  readonly request?: { readonly method: string; readonly path: string; readonly body?: Json };
  readonly response?: { readonly status: number; readonly body?: Json };
}

const CASES = JSON.parse(
  readFileSync(new URL('../../contract/automations.json', import.meta.url), 'utf8'),
) as readonly { readonly name: string; readonly steps: readonly Step[] }[];

/** What the effect knows of an automation: members that a file has, by its names. */
function members({ trigger, agent_profile_id: agent, model, keep_alive }: Json): ValueRecord {
  const { type, schedule, timezone, on, ...event } = (trigger ?? {}) as Json;
  const own = type === 'cron' ? [schedule ?? null, timezone ?? 'UTC', null] : [null, null];
  const filled = {
    filter: null,
    destination: 'dispatch_run',
    subject_key_expr: null,
    turn_text_expr: null,
    wake_agent: true,
    ...event,
  };
  const isEvent = type === 'event';
  return createRecord([
    ['cron', own[0] ?? null],
    ['timezone', own[1] ?? null],
    ['event', isEvent ? createRecord(Object.entries({ ...filled, on: on ?? null })) : null],
    ['agent_profile', agent ?? null],
    ['model', model ?? null],
    ['keep_alive', keep_alive ?? null],
  ]);
}

/** The members of a change, by the names of the file. */
function sent(body: Json): ValueRecord {
  const all = members(body);
  const names = [
    ...('trigger' in body ? ['cron', 'timezone', 'event'] : []),
    ...('agent_profile_id' in body ? ['agent_profile'] : []),
    ...['model', 'keep_alive'].filter((name) => name in body),
  ];
  return createRecord(names.map((name) => [name, all[name] ?? null]));
}

const CHANGES = CASES.flatMap(({ name, steps }) => {
  const stored = new Map<Value, Json>();
  return steps.flatMap(({ request, response }, index) => {
    const after = response?.body;
    if (typeof after !== 'object' || !('trigger' in after)) return [];
    const before = stored.get(after['id'] ?? null);
    stored.set(after['id'] ?? null, after);
    if (before === undefined || request?.method !== 'PATCH') return [];
    return [{ title: `${name}, step ${index + 1}`, before, body: request.body ?? {}, after }];
  });
});

describe('the effect of a change of an automation', () => {
  it('is judged by many changes', () => {
    expect(CHANGES.length).toBeGreaterThan(25);
  });

  it.each(CHANGES)('is what a service was recorded to store: $title', ({ before, body, after }) => {
    expect(automationAfter(members(before), sent(body))).toEqual(members(after));
  });

  // Each of these turns red if its rule is left out.
  const stored = createRecord([
    ['cron', '0 9 * * 5'],
    ['timezone', 'Europe/Berlin'],
    ['model', 'cheap'],
    ['keep_alive', null],
  ]);
  it('ends a schedule with an event, and keeps the zone of another schedule', () => {
    const event = createRecord([['source', 'github']]);
    const ended = automationAfter(stored, createRecord([['event', event]]));
    expect([ended['cron'], ended['timezone']]).toEqual([null, null]);
    const moved = automationAfter(stored, createRecord([['cron', '@daily']]));
    expect([moved['timezone'], moved['event']]).toEqual(['Europe/Berlin', null]);
  });

  it('takes the model away with an agent profile, and the other way round', () => {
    const agent = automationAfter(stored, createRecord([['agent_profile', 'reviewer']]));
    expect([agent['agent_profile'], agent['model']]).toEqual(['reviewer', null]);
    const model = automationAfter(agent, createRecord([['model', 'cheap']]));
    expect([model['agent_profile'], model['model']]).toEqual([null, 'cheap']);
  });

  it('keeps the sandbox of a continued conversation with any change', () => {
    const event = createRecord([['destination', 'continue_conversation']]);
    const whole = createRecord([...Object.entries(stored), ['event', event]]);
    expect(automationAfter(whole, createRecord([]))['keep_alive']).toBe(true);
  });
});
