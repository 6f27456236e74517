import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { applyCommand } from '../../../src/command/cli/commands/apply.ts';
import { REASON_CODES } from '../../../src/reconciler/model/reasons.ts';
import type { EnvironmentPlan, PlanDocument } from '../../../src/reconciler/model/plan.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import type { ApplyRequest } from '../../../src/reconciler/operations/options.ts';
import { explain } from '../../../src/reconciler/operations/explain.ts';
import { get } from '../../../src/reconciler/operations/get.ts';
import { drift, plan } from '../../../src/reconciler/operations/plan.ts';
import { runFunction } from '../../fixture/command-function.ts';
import { startSandboxServer } from '../../fixture/sandbox-server.ts';
import { quickClock, request } from '../../fixture/settings.ts';

const CREATED = '2023-11-01T00:00:00Z';
const BASE = { sandbox_spec_id: 'spec-a', created_at: CREATED };
const MCP = 'https://mcp.example.com/mcp';

interface Scenario {
  readonly world: Parameters<typeof startSandboxServer>[1];
  readonly settings: string;
  readonly sandboxes?: string;
  readonly guards?: string;
  /** Whether the service changes by itself while it is observed. */
  readonly isUnsteady?: boolean;
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'nothing differs': {
    world: { stored: { language: 'en' } },
    settings: '  language: en\n',
  },
  'an empty store': {
    world: {},
    settings: '  language: en\n  max_iterations: 5\n',
  },
  'changes, removals and sandboxes of every kind': {
    world: {
      stored: {
        language: 'fr',
        max_iterations: 3,
        mcp_config: { shttp_servers: [{ url: 'https://old.example.com/mcp' }], sse_servers: [] },
      },
      specs: ['spec-a', 'spec-b'],
      sandboxes: [
        { ...BASE, id: 'busy', status: 'RUNNING' },
        { ...BASE, id: 'idle', status: 'RUNNING' },
        { ...BASE, id: 'paused', sandbox_spec_id: 'spec-b', status: 'PAUSED' },
      ],
      conversations: [{ id: 'c', sandbox_id: 'busy', execution_status: 'running' }],
    },
    settings: `  language: en\n  mcp_config:\n    shttp_servers: [{ url: "${MCP}" }]\n`,
    sandboxes:
      '  - { spec: spec-b, running: 2 }\n  - { running: 0, surplus: pause }\n  - { id: gone, state: paused }\n',
  },
  'a plan that guards refuse and warn of': {
    world: { stored: { llm_base_url: 'https://llm.example.com', language: 'fr' } },
    settings: '  llm_base_url: https://elsewhere.example.com\n  language: en\n',
    guards: '{ move_endpoint: true, max_changes: 1, overwrite_drift: true }',
  },
  'a declared sandbox that is unavailable': {
    world: { sandboxes: [{ ...BASE, id: 'broken', status: 'ERROR' }] },
    settings: '',
    sandboxes: '  - { id: broken, state: running }\n',
  },
  'no sandbox': {
    world: {},
    settings: '',
    sandboxes: '  - { id: gone, state: running }\n',
  },
  'a sandbox that is in ERROR while it boots': {
    world: { sandboxes: [{ ...BASE, id: 'old', status: 'ERROR', boots: 4 }] },
    settings: '  language: en\n',
    sandboxes: '  - running: 1\n',
    isUnsteady: true,
  },
};

const folder = mkdtempSync(join(tmpdir(), 'setpoint-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Some work on a service of its own: to observe one may change it. */
async function onService<T>(
  { world, settings, sandboxes, guards }: Scenario,
  work: (options: ApplyRequest) => Promise<T>,
): Promise<T> {
  const clock = quickClock();
  const server = await startSandboxServer(clock, world);
  try {
    const { text = '', ...options } = request(server.url, settings, {
      clock,
      ...(guards === undefined ? {} : { guards }),
    });
    const whole = sandboxes === undefined ? text : `${text}sandboxes:\n${sandboxes}`;
    const found = await work({ ...options, text: whole });
    expect(server.posts()).toBe(0);
    return JSON.parse(JSON.stringify(found).replaceAll(server.url, 'URL')) as T;
  } finally {
    await server.close();
  }
}

/** The document as far as it is about the plan: salts differ from run to run. */
function only({ environments: [environment] }: PlanDocument): EnvironmentPlan {
  if (environment === undefined) throw new Error('no environment');
  for (const { code } of environment.changes) expect(REASON_CODES).toContain(code);
  return { ...environment, digests: null };
}

/** The plan that an apply shows before it asks; nothing is written. */
async function announced(scenario: Scenario): Promise<EnvironmentPlan | null> {
  return onService(scenario, async (options) => {
    let shown: EnvironmentPlan | null = null;
    await apply({
      ...options,
      onPlan: async (one) => {
        shown = one;
      },
      confirm: async () => false,
    });
    return shown;
  });
}

describe.each(Object.entries(SCENARIOS))('%s', (_, scenario) => {
  it('an apply announces the plan that plan and drift show', async () => {
    const planned = only(await onService(scenario, plan));
    expect(planned.error).toBeNull();
    expect(only(await onService(scenario, drift))).toEqual(planned);
    const shown = await announced(scenario);
    // An apply without changes has nothing to announce.
    expect(shown).toEqual(planned.changes.length === 0 ? null : planned);
  });

  it('a snapshot in which nothing is masked gives the same plan', async () => {
    if (scenario.isUnsteady === true) return;
    const path = join(folder, 'snapshot.json');
    const [saved, planned] = await onService(scenario, async (options) => {
      const resources = ['settings', 'sandboxes', 'specs', 'conversations'] as const;
      writeFileSync(path, JSON.stringify(await get({ ...options, resources })));
      return [await plan({ ...options, snapshot: path }), await plan(options)] as const;
    });
    expect(only(saved).observed_at).not.toBeNull();
    expect({ ...only(saved), observed_at: null }).toEqual(only(planned));
  });

  it('explain shows the changes and unknown values of it', async () => {
    const planned = only(await onService(scenario, plan));
    const parts = await Promise.all(
      ['settings', 'sandboxes'].map((path) =>
        onService(scenario, async (options) => {
          const { environments } = await explain({ ...options, path });
          return environments[0];
        }),
      ),
    );
    expect(parts.map((part) => part?.error)).toEqual([null, null]);
    expect(parts.flatMap((part) => part?.changes)).toEqual(planned.changes);
    expect(parts.flatMap((part) => part?.unknown)).toEqual(planned.unknown);
  });

  it('apply --dry-run prints it', async () => {
    if (scenario.isUnsteady === true) return;
    await onService(scenario, async (options) => {
      const file = join(folder, 'settings.yaml');
      writeFileSync(file, options.text ?? '');
      const flags = { file: [file], dryRun: true, wait: '0s', output: ['json'] };
      const env = { SETPOINT_API_KEY: 'a-session-key' };
      const { stdout } = await runFunction(applyCommand, flags, env);
      const printed = only(JSON.parse(stdout) as PlanDocument);
      expect(printed).toEqual(relocated(only(await plan(options)), file));
      return null;
    });
  });
});

describe('a stop while an ERROR is watched', () => {
  const broken: Scenario = {
    world: { sandboxes: [{ ...BASE, id: 'broken', status: 'ERROR' }] },
    settings: '  language: en\n',
    sandboxes: '  - running: 1\n',
  };

  it.each([
    ['plan', plan],
    ['apply', apply],
  ])('ends %s, and nothing is sent', async (_, operation) => {
    const document = await onService<unknown>(broken, (options) => {
      const stop = new AbortController();
      const clock = quickClock();
      const sleep = async (): Promise<void> => stop.abort('SIGTERM');
      return operation({ ...options, clock: { ...clock, sleep }, signal: stop.signal });
    });
    expect(document).toMatchObject({
      environments: [{ changes: [], error: { code: 'terminated' } }],
    });
  });
});

it('an ERROR that is watched is reported, by plan and by drift', async () => {
  const booting: Scenario = {
    world: { sandboxes: [{ ...BASE, id: 'old', status: 'ERROR', boots: 4 }] },
    settings: '  language: en\n',
    sandboxes: '  - running: 1\n',
  };
  for (const operation of [plan, drift]) {
    const watched: unknown[] = [];
    await onService(booting, async (options) => {
      const onProgress = (name: string, waiting: readonly unknown[]) =>
        void watched.push([name, ...waiting]);
      await operation({ ...options, onProgress });
      return null;
    });
    expect(watched[0]).toEqual([
      'default',
      { action: 'watch', id: 'old', spec: null, status: 'ERROR', done: false },
    ]);
  }
});

/** The same plan of a file of another name. */
function relocated(planned: EnvironmentPlan, file: string): EnvironmentPlan {
  const changes = planned.changes.map(({ source, ...change }) => ({
    ...change,
    source: source === null ? null : { ...source, file },
  }));
  return { ...planned, changes };
}

describe('plans are made in one place', () => {
  const src = join(import.meta.dirname, '../../../src/reconciler');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );

  /** The files that name something, but for the room that defines it. */
  function users(name: string, room: string): string[] {
    const word = new RegExp(`\\b${name}\\b`);
    return files
      .filter((file) => !file.startsWith(room) && word.test(readFileSync(join(src, file), 'utf8')))
      .toSorted();
  }

  it('only observe-and-plan joins the parts of a plan', () => {
    expect(users('planEnvironment', 'plan/')).toEqual(['reconcile/observe-and-plan.ts']);
    expect(users('refusalsOf|guardWarnings|classified', 'plan/')).toEqual([]);
  });

  it('and what else compares with the plan of a part verifies, follows or pulls', () => {
    expect(users('planSettings', 'plan/')).toEqual([
      'pull/pull-target.ts',
      'resources/settings/send.ts',
      'resources/settings/verify.ts',
    ]);
    expect(users('planSandboxes', 'resources/sandboxes/plan-sandboxes.ts')).toEqual([
      'resources/sandboxes/conclude.ts',
      'resources/sandboxes/resource.ts',
      'resources/sandboxes/run.ts',
    ]);
  });

  it('every command comes to it', () => {
    expect(users('observeAndPlan', 'reconcile/observe-and-plan.ts')).toEqual([
      'operations/check-environment.ts',
      'operations/explain.ts',
      'operations/plan-target.ts',
      'reconcile/reconcile.ts',
    ]);
  });
});
