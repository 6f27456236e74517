import { describe, expect, it } from 'vitest';
import { RULES, type GuardSettings } from '../../../src/reconciler/model/guard.ts';
import type { Change, Plan } from '../../../src/reconciler/model/plan.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import type { ObservedState } from '../../../src/reconciler/model/state.ts';
import type { Value, ValueRecord } from '../../../src/reconciler/model/value.ts';
import { guardRules } from '../../../src/reconciler/plan/guard.ts';
import { change, NO_GUARDS, observed, planOf, step } from './hand-made.ts';

function found(plan: Plan, guards: GuardSettings = NO_GUARDS, stored = true) {
  return guardRules(plan, observed({}, stored), guards);
}

/** The sentences that a rule has for a change. */
function sentences(...changes: readonly Change[]): string[] {
  return found(planOf(changes)).map(({ rule, message }) => `${rule}: ${message}`);
}

const PROGRAM = ['mcp_config', 'stdio_servers', 'files'];
const [EDIT, OTHER] = [change(['language']), change(['agent'])];

it('a finding names its rule, how to lift it, and where it is', () => {
  expect(found(planOf([change(['confirmation_mode'], { before: true })]))).toEqual([
    {
      rule: 'disable-safety',
      message: 'The plan turns confirmation_mode off.',
      hint: 'If this is intended, apply with --allow disable-safety.',
      path: ['confirmation_mode'],
      refuses: false,
      warned: false,
    },
  ]);
});

it('a rule that is on refuses, one that is off does not', () => {
  const plan = planOf([
    change(['confirmation_mode'], { before: true }),
    change(PROGRAM, { action: 'set' }),
  ]);
  const guards = { ...NO_GUARDS, on: new Set(['run-code'] as const) };
  expect(found(plan, guards).map(({ rule, refuses }) => [rule, refuses])).toEqual([
    ['run-code', true],
    ['disable-safety', false],
  ]);
});

it('the rules come in the order of their list, lose-unreadable at the end', () => {
  const plan = planOf(
    [
      change(['llm_api_key'], { action: 'clear', before: new Secret('k') }),
      change(['llm_base_url'], { before: 'https://a.example', after: 'https://b.example' }),
      change(PROGRAM, { action: 'set' }),
      change(['security_analyzer'], { before: 'llm' }),
      change(['agent'], { class: 'drift' }),
    ],
    { unpreservable: [{ path: ['x'], stops: 'always', remedy: 'Declare x' }] },
  );
  const rules = guardRules(plan, observed({ llm_api_key_set: true }, false), {
    ...NO_GUARDS,
    maxChanges: 1,
  }).map(({ rule }) => rule);
  const order = ['max-changes', ...RULES.filter((rule) => rules.includes(rule))];
  expect(new Set(rules)).toEqual(new Set(order));
  expect(rules.at(0)).toBe('max-changes');
  expect(rules.at(-1)).toBe('lose-unreadable');
  expect(rules.indexOf('clear-secret')).toBeLessThan(rules.indexOf('run-code'));
});

describe('max-changes', () => {
  const limit = (maxChanges: number | null): GuardSettings => ({ ...NO_GUARDS, maxChanges });

  it.each([
    ['without a limit', null, []],
    ['at the limit', 2, []],
    ['above it', 1, ['The plan makes 2 changes; guards.max_changes is 1.']],
    ['with a limit of none', 0, ['The plan makes 2 changes; guards.max_changes is 0.']],
  ])('%s', (_, maxChanges, messages) => {
    expect(found(planOf([EDIT, OTHER]), limit(maxChanges)).map(({ message }) => message)).toEqual(
      messages,
    );
  });

  it('refuses whatever the file turns on, and is about the whole plan', () => {
    expect(found(planOf([EDIT]), limit(0))).toMatchObject([{ refuses: true, path: [] }]);
  });

  it('counts sandboxes too', () => {
    expect(found(planOf([EDIT], {}, [step('a'), step('b')]), limit(2))).toMatchObject([
      { message: 'The plan makes 3 changes; guards.max_changes is 2.' },
    ]);
  });

  const config = (count: number): Value => ({
    sse_servers: Array.from({ length: count }, (_, index) => ({ url: `https://${index}.example` })),
    stdio_servers: [],
    shttp_servers: [],
  });
  const cleared = (count: number) =>
    change(['mcp_config'], { action: 'clear', before: config(count) });

  it.each([
    [0, 'The plan makes 2 changes; guards.max_changes is 0.'],
    [1, 'The plan makes 2 changes; guards.max_changes is 0.'],
    [3, 'The plan makes 4 changes, counting 3 removed mcp entries; guards.max_changes is 0.'],
  ])('counts a cleared mcp_config as its entries: %i', (count, message) => {
    const [first] = found(planOf([cleared(count), EDIT]), limit(0));
    expect(first?.message).toBe(message);
  });

  it('counts an mcp_config that is changed, or another field that is cleared, once', () => {
    const changed = change(['mcp_config'], { action: 'change', before: config(3) });
    const other = change(['agent'], { action: 'clear', before: 'A' });
    const entry = change(['mcp_config', 'sse_servers', 'x'], { action: 'clear' });
    expect(found(planOf([changed, other, entry]), limit(2))[0]?.message).toBe(
      'The plan makes 3 changes; guards.max_changes is 2.',
    );
  });
});

describe('lose-unreadable', () => {
  const lost = (stops: 'always' | 'protected') =>
    planOf([EDIT], { unpreservable: [{ path: ['a', 'b'], stops, remedy: 'Declare it' }] });

  it('names what is lost and both ways out, and is warned of by the plan itself', () => {
    expect(found(lost('always'))).toEqual([
      {
        rule: 'lose-unreadable',
        message: 'This write clears a.b, which the service does not show.',
        hint: 'Declare it; or apply with --allow lose-unreadable and lose it.',
        path: ['a', 'b'],
        refuses: true,
        warned: true,
      },
    ]);
  });

  it('refuses what stops only a protected file if the rule is on', () => {
    const on = { ...NO_GUARDS, on: new Set(['lose-unreadable'] as const) };
    expect(found(lost('protected')).map(({ refuses }) => refuses)).toEqual([false]);
    expect(found(lost('protected'), on).map(({ refuses }) => refuses)).toEqual([true]);
  });
});

describe('run-code', () => {
  it.each(['sandbox_base_container_image', 'sandbox_runtime_container_image'])('%s', (name) => {
    expect(
      sentences(
        change([name], { action: 'set' }),
        change([name], { action: 'change' }),
        change([name], { action: 'clear' }),
      ),
    ).toEqual([
      `run-code: The plan sets ${name}, the image of what the service runs.`,
      `run-code: The plan sets ${name}, the image of what the service runs.`,
      `run-code: The plan clears ${name}, the image of what the service runs.`,
    ]);
  });

  it('a program that is added or changed, and none that is removed or only rotated', () => {
    expect(
      sentences(
        change(PROGRAM, { action: 'set' }),
        change(PROGRAM, { action: 'change' }),
        change(PROGRAM, { action: 'remove' }),
        change(PROGRAM, { action: 'rotate' }),
      ),
    ).toEqual([
      'run-code: The plan adds mcp_config.stdio_servers[files], a program.',
      'run-code: The plan changes mcp_config.stdio_servers[files], a program.',
    ]);
  });

  it('nothing else runs', () => {
    const url = ['mcp_config', 'shttp_servers', 'https://a.example'];
    expect(sentences(change(url, { action: 'set' }), EDIT)).toEqual([]);
  });

  it.each<[string, Value, string | null]>([
    ['acp_command', ['sh'], 'adds agent_settings.acp_command, a program'],
    ['acp_command', [], 'adds agent_settings.acp_command, a program'],
    ['acp_server', 'custom', 'adds agent_settings.acp_server, a program'],
    ['acp_server', new Secret('custom', '${env:A}'), 'adds agent_settings.acp_server, a program'],
    ['acp_server', 'codex', null],
    [
      'acp_file_secrets',
      [{ filename: 'a' }],
      'adds agent_settings.acp_file_secrets, the environment of a program',
    ],
    ['acp_file_secrets', [], null],
    ['acp_env', {}, null],
    ['acp_env', null, null],
    ['acp_env', { A: 'b' }, 'adds agent_settings.acp_env, the environment of a program'],
  ])('agent_settings.%s: %j', (name, after, expected) => {
    const one = change(['agent_settings', name], { action: 'set', after });
    expect(sentences(one)).toEqual(expected === null ? [] : [`run-code: The plan ${expected}.`]);
  });

  it('what a part has in it, if it is written as a whole', () => {
    const part = (after: Value) =>
      sentences(change(['agent_settings', 'agent_context'], { action: 'change', after }));
    expect(part({ load_user_skills: true })).toEqual([
      'run-code: The plan changes agent_settings.agent_context.load_user_skills, skills that the agent runs.',
      'run-code: The plan changes agent_settings.agent_context.marketplace_path, where plugins and skills come from.',
    ]);
  });

  it('says where', () => {
    const paths = [['sandbox_base_container_image'], PROGRAM];
    expect(
      found(planOf(paths.map((path) => change(path, { action: 'set' })))).map(({ path }) => path),
    ).toEqual(paths);
  });
});

describe('disable-safety', () => {
  const OFF = 'disable-safety: The plan turns confirmation_mode off.';
  const CLEARED = 'disable-safety: The plan clears security_analyzer.';

  it.each<[Value, Value, string[]]>([
    [true, false, [OFF]],
    [true, null, [OFF]],
    [new Secret(true), false, [OFF]],
    [true, new Secret(false, '${env:MODE}'), [OFF]],
    [true, new Secret(true, '${env:MODE}'), []],
    [false, true, []],
    [false, null, []],
    [null, false, []],
  ])('confirmation_mode from %j to %j', (before, after, expected) => {
    expect(sentences(change(['confirmation_mode'], { before, after }))).toEqual(expected);
  });

  it.each<[Value, Value, string[]]>([
    ['llm', null, [CLEARED]],
    ['llm', '', [CLEARED]],
    ['llm', '  ', [CLEARED]],
    ['llm', 'none', [CLEARED]],
    ['llm', ' None ', [CLEARED]],
    ['llm', new Secret('NONE', '${env:A}'), [CLEARED]],
    ['llm', new Secret('', '${env:A}'), [CLEARED]],
    ['llm', new Secret('invariant', '${env:A}'), []],
    [new Secret('llm'), 'none', [CLEARED]],
    ['llm', 'invariant', []],
    ['llm', 'nonesuch', []],
    ['llm', 'x none', []],
    ['llm', false, []],
    ['none', null, []],
    ['', 'none', []],
    [null, '', []],
  ])('security_analyzer from %j to %j', (before, after, expected) => {
    expect(sentences(change(['security_analyzer'], { before, after }))).toEqual(expected);
  });

  it.each<[string[], Value, Value, boolean]>([
    [['conversation_settings', 'default_runtime'], 'docker', 'local', true],
    [['conversation_settings', 'default_runtime'], 'docker', null, true],
    [['conversation_settings', 'default_runtime'], 'worktree', 'local', false],
    [['conversation_settings', 'default_runtime'], 'local', 'docker', false],
    [['agent_settings', 'acp_session_mode'], 'plan', 'bypassPermissions', true],
    [['agent_settings', 'acp_session_mode'], 'plan', null, true],
    [['agent_settings', 'acp_session_mode'], 'plan', 'default', false],
    [['agent_settings', 'acp_session_mode'], 'full-access', 'yolo', false],
  ])('%j from %j to %j', (path, before, after, lowers) => {
    expect(sentences(change(path, { before, after }))).toEqual(
      lowers ? [`disable-safety: The plan loosens ${path.join('.')}.`] : [],
    );
  });

  it('a part that is reset with it inside', () => {
    const part = change(['conversation_settings'], { action: 'clear', before: {}, after: null });
    const state = { ...observed({}), values: { confirmation_mode: true } };
    expect(guardRules(planOf([part]), state, NO_GUARDS).map(({ path }) => path)).toEqual([
      ['confirmation_mode'],
    ]);
  });

  it('other fields of the same values are none of it, and the path is that of the field', () => {
    expect(sentences(change(['enable_sound'], { before: true, after: false }))).toEqual([]);
    expect(sentences(change(['agent'], { before: 'llm', after: 'none' }))).toEqual([]);
    expect(
      found(planOf([change(['security_analyzer'], { before: 'llm' })])).map(({ path }) => path),
    ).toEqual([['security_analyzer']]);
  });
});

describe('overwrite-drift', () => {
  it.each([
    [
      'drift',
      ['overwrite-drift: The plan overwrites agent, which another client changed on the service.'],
    ],
    [
      'conflict',
      ['overwrite-drift: The plan overwrites agent, which another client changed on the service.'],
    ],
    ['pending', []],
  ] as const)('a field in %s', (kind, expected) => {
    expect(sentences(change(['agent'], { class: kind }))).toEqual(expected);
  });

  it('a sandbox', () => {
    const plan = planOf([], {}, [step('box-1', { class: 'drift' }), step('box-2')]);
    expect(found(plan).map(({ message, path }) => [message, path])).toEqual([
      ['The plan overwrites a change that another client made to sandbox box-1.', ['box-1']],
    ]);
  });
});

describe('remove-others', () => {
  const part = (...changes: readonly Change[]): Plan => {
    const [settings, beside] = planOf([]);
    return settings === undefined || beside === undefined ? [] : [settings, { ...beside, changes }];
  };
  const removal = {
    resource: 'secret',
    action: 'remove',
    code: 'undeclared',
    reason: 'not declared',
  } as const;

  it('finds what the file does not name, and nothing that it removes by name', () => {
    const plan = part(
      change(['secrets', 'THEIRS'], removal),
      change(['secrets', 'OLD'], { ...removal, code: 'stored', reason: 'set' }),
    );
    const guards = { ...NO_GUARDS, on: new Set(['remove-others'] as const) };
    expect(found(plan, guards)).toMatchObject([
      {
        rule: 'remove-others',
        message: 'The plan removes secrets.THEIRS, which the file does not name.',
        path: ['secrets', 'THEIRS'],
        refuses: true,
      },
    ]);
  });

  it('says nothing of an entry of the settings that is not declared', () => {
    const entry = change(['mcp_config', 'sse_servers', 'https://x'], {
      ...removal,
      resource: 'settings',
    });
    expect(found(planOf([entry])).map(({ rule }) => rule)).not.toContain('remove-others');
  });
});

describe('secrets-gone', () => {
  const gone = planOf([], { gone: [['llm_api_key'], ['search_api_key']] });
  const service = (record: ValueRecord, more: Partial<ObservedState> = {}): ObservedState => {
    const state = observed(record);
    const dialect = { ...state.dialect, undecryptable: 'Look at its key.' };
    return { ...state, dialect, ...more };
  };
  const about = (state: ObservedState, plan = gone, guards = NO_GUARDS) =>
    guardRules(plan, state, guards).filter(({ rule }) => rule === 'secrets-gone');

  it('names each secret that was there, and what to look at, where none is stored any more', () => {
    const finding = {
      rule: 'secrets-gone',
      message:
        'No secret is stored now, but there were some before: llm_api_key, search_api_key. The service may be unable to read them.',
      hint: 'Look at its key. If they were removed on purpose, apply with --allow secrets-gone.',
      path: [],
      refuses: false,
      warned: false,
    };
    expect(about(service({}))).toEqual([finding]);
    const on = { ...NO_GUARDS, on: new Set(['secrets-gone'] as const) };
    expect(about(service({}), gone, on)).toEqual([{ ...finding, refuses: true }]);
  });

  it('counts an mcp server that has a way to authenticate and no secret for it', () => {
    const bare = [['mcp_config', 'shttp_servers', 'one']];
    expect(about(service({}, { bare }), planOf([]))).toMatchObject([
      {
        message: expect.stringContaining('there were some before: mcp_config.shttp_servers[one].'),
      },
    ]);
  });

  it.each<[string, ObservedState, Plan]>([
    ['if there was none', service({}), planOf([])],
    ['if one is stored', service({ llm_api_key_set: true }), gone],
    [
      'if an mcp server has one',
      service({ mcp_config: { shttp_servers: [{ api_key: new Secret('**********') }] } }),
      gone,
    ],
    ['of a snapshot', service({}, { saved: true }), gone],
    ['if such services have none', observed({}), gone],
  ])('says nothing %s', (_, state, plan) => {
    expect(about(state, plan)).toEqual([]);
  });
});

describe('empty-store', () => {
  it('is what has nothing but its defaults as well', () => {
    const untouched = { ...observed({}), untouched: true };
    expect(guardRules(planOf([EDIT]), untouched, NO_GUARDS)).toMatchObject([
      {
        rule: 'empty-store',
        message: 'The service has nothing but its defaults: it is new, or cannot read its store.',
        path: [],
      },
    ]);
    expect(guardRules(planOf([]), untouched, NO_GUARDS)).toEqual([]);
  });

  it('is a service that has nothing stored and would have something', () => {
    expect(found(planOf([EDIT]), NO_GUARDS, false)).toMatchObject([
      { rule: 'empty-store', message: 'The service has nothing stored yet.', path: [] },
    ]);
    expect(found(planOf([EDIT]))).toEqual([]);
    expect(found(planOf([], {}, [step('a')]), NO_GUARDS, false)).toEqual([]);
  });
});
