import { referenceSource } from '../../src/reconciler/host/reference-source.ts';
import { describe, expect, it } from 'vitest';
import { resolveSettings } from '../../src/reconciler/desired/resolve.ts';
import { readSettingsTarget } from '../../src/reconciler/kubernetes/read-target.ts';
import { numberIdentities } from '../../src/reconciler/model/mcp.ts';
import { Identity } from '../../src/reconciler/model/secret.ts';
import { isUnmanaged, type Path } from '../../src/reconciler/model/path.ts';
import type { DesiredState, ObservedState } from '../../src/reconciler/model/state.ts';
import { RunRedactors, createMaskingSource } from '../../src/reconciler/operations/redacting.ts';
import { pullEdits } from '../../src/reconciler/pull/edits.ts';
import { NO_COLLECTIONS } from '../../src/reconciler/pull/listed.ts';
import { NOTHING_KNOWN, planSettings } from '../../src/reconciler/plan/plan-settings.ts';
import {
  claimSandboxes,
  planSandboxes,
} from '../../src/reconciler/resources/sandboxes/plan-sandboxes.ts';
import { classifyChanges } from '../../src/reconciler/plan/three-way.ts';
import {
  findLostSecrets,
  findUnmanagedChanges,
  withoutDoubled,
} from '../../src/reconciler/plan/side-effects.ts';
import { decode } from '../../src/reconciler/service/json.ts';
import { readV0Record } from '../../src/reconciler/service/settings-v0/read.ts';
import { growth, LINEAR } from '../fixture/growth.ts';
import { problems, read, source, target, withSettings } from '../unit/desired/reading.ts';
import { loaded, RECORDED } from '../fixture/store-server.ts';
import { itEach, LONG } from '../fixture/long.ts';
import { createSettingsPart } from '../../src/reconciler/plan/settings-part.ts';

const WHOLE = loaded({ language: 'en', llm_api_key: 'k' }, RECORDED);

/** Answers built to hurt: many of what is compared, matched or listed. `size` is how large they get. */
const ANSWERS: readonly (readonly [
  name: string,
  size: number,
  of: (size: number) => Record<string, unknown>,
])[] = [
  ['alike urls', 400, (n) => mcp({ sse_servers: many(n, () => ({ url: 'https://x' })) })],
  ['urls', 400, (n) => mcp({ sse_servers: many(n, (i) => ({ url: `https://x/${i}` })) })],
  [
    'programs',
    500,
    (n) => mcp({ stdio_servers: many(n, (i) => ({ name: `${i}`, command: 'c' })) }),
  ],
  ['arguments', 1000, (n) => mcp({ stdio_servers: [program({ args: many(n, () => '--a') })] })],
  ['variables', 1000, (n) => mcp({ stdio_servers: [program({ env: keyed(n, 'v') })] })],
  ['unknown fields', 10_000, (n) => keyed(n, 1)],
  ['unknown flags', 10_000, (n) => keyed(n, true, '_set')],
  ['tokens', 10_000, (n) => ({ provider_tokens_set: keyed(n, 'x') })],
  ['a long text', 60_000, (n) => ({ git_user_name: '@://'.repeat(n / 4), agent: '*'.repeat(n) })],
];

function many<T>(size: number, of: (index: number) => T): T[] {
  return Array.from({ length: size }, (_, index) => of(index));
}

function keyed(size: number, value: unknown, end = ''): Record<string, unknown> {
  return Object.fromEntries(many(size, (index) => [`key${index}${end}`, value]));
}

function mcp(lists: Record<string, unknown>): Record<string, unknown> {
  return { mcp_config: { sse_servers: [], stdio_servers: [], shttp_servers: [], ...lists } };
}

function program(members: Record<string, unknown>): Record<string, unknown> {
  return { name: 'a', command: 'c', args: [], env: {}, ...members };
}

const FILE = withSettings(
  'language: fr',
  'mcp_config: { sse_servers: [{ url: "https://mine" }], stdio_servers: [], shttp_servers: [] }',
);
const desired: DesiredState = resolveSettings(target(FILE), source());

function observed(record: Record<string, unknown>): ObservedState {
  const bytes = Buffer.from(JSON.stringify({ ...WHOLE, ...record }));
  const decoding = decode(bytes);
  if (decoding.kind === 'problem') throw new Error(decoding.problem);
  const state = readV0Record('the answer', decoding.value);
  if (state instanceof Error) throw state;
  return state;
}

const STEPS: Readonly<Record<string, (state: ObservedState) => unknown>> = {
  'a plan': (state) => planSettings(desired, state, NOTHING_KNOWN),
  'a plan with a base': (state) => {
    const settings = planSettings(desired, state, NOTHING_KNOWN);
    return classifyChanges([createSettingsPart(settings)], desired, desired, state, NOTHING_KNOWN);
  },
  'what a write touched': (state) => [
    findUnmanagedChanges(state, state, desired),
    findLostSecrets(state, state),
    withoutDoubled({ fields: {}, observed: state }, state, state, desired),
  ],
  'a pull': (state) => pulled(state, []),
  'a pull that adopts': (state) => pulled(state, 'all'),
};

function pulled(state: ObservedState, adopt: 'all' | Path[]): unknown {
  const file = { path: 'settings.yaml', text: FILE, bases: [] };
  const options = { adopt, hidden: [], ownLayer: false } as const;
  const observed = { target: target(FILE), observed: state, collections: NO_COLLECTIONS, options };
  const read = { serverGiven: false, several: false };
  return pullEdits(
    [file],
    read,
    [observed],
    createMaskingSource([], { references: referenceSource({}), resolved: new RunRedactors() }),
  );
}

describe('an answer built to hurt takes time linear to its size', () => {
  for (const [name, size, of] of ANSWERS) {
    // A pull goes through every step of a plan, over and over: what holds entries is enough for it.
    const steps = Object.entries(STEPS).filter(
      ([step]) => !step.startsWith('a pull') || size <= 1000,
    );
    const isShort = name === 'alike urls';
    it.each(steps)(`${name}: %s`, isShort ? {} : LONG, (_, step) => {
      expect(growth((n) => observed(of(n)), step, size)).toBeLessThan(LINEAR);
    });
  }

  it('to read it', () => {
    for (const [name, size, of] of ANSWERS) {
      const bytes = (n: number) => Buffer.from(JSON.stringify(of(n)));
      expect({ name, ratio: growth(bytes, decode, size) < LINEAR }).toEqual({ name, ratio: true });
    }
  });
});

describe('more than 2,000 entries in one mcp list are bad-response', () => {
  it.each(['sse_servers', 'stdio_servers', 'shttp_servers'])('%s', (list) => {
    const entries = (n: number) =>
      mcp({ [list]: many(n, (i) => ({ url: `u${i}`, name: `${i}` })) });
    expect(observed(entries(2000)).stored).toBe(true);
    expect(() => observed(entries(2001))).toThrow(
      expect.objectContaining({
        code: 'bad-response',
        message: `the answer was answered with more than 2000 entries in mcp_config.${list}.`,
      }),
    );
  });
});

describe('what is matched is matched by maps', () => {
  it('segments of entries alike', () => {
    const alike = (n: number) => many(n, () => new Identity('https://x'));
    expect(growth(alike, numberIdentities, 50_000)).toBeLessThan(LINEAR);
    expect(numberIdentities(alike(3))).toEqual(['https://x', 'https://x#2', 'https://x#3']);
  });

  it('declared entries with those of a service that hides members of each', () => {
    const urls = (n: number, members = {}) =>
      mcp({ sse_servers: many(n, (i) => ({ url: `https://x/${i}`, ...members })) });
    const both = (n: number) => ({
      file: resolveSettings(
        target(
          withSettings('language: fr', `mcp_config: ${JSON.stringify(urls(n)['mcp_config'])}`),
        ),
        source(),
      ),
      state: observed(urls(n, { api_key: '**********' })),
    });
    const plan = ({ file, state }: ReturnType<typeof both>) =>
      planSettings(file, state, NOTHING_KNOWN);
    const lost = plan(both(3)).unpreservable.filter(({ path: [first] }) => first === 'mcp_config');
    expect(lost).toHaveLength(3);
    expect(growth(both, plan, 500)).toBeLessThan(LINEAR);
  });

  it('paths against many that are unmanaged', () => {
    const paths = (n: number) =>
      many(n, (i): Path => ['mcp_config', 'sse_servers', `https://x/${i}`]);
    const each = (all: Path[]) => all.filter((path) => !isUnmanaged(all, path));
    expect(growth(paths, each, 10_000)).toBeLessThan(LINEAR);
  });

  it('names of secrets that clash', () => {
    const file = (n: number) =>
      withSettings('{}') + `secrets:\n${many(n, (i) => `  K${i}: null\n`).join('')}`;
    expect(growth(file, read, 2000)).toBeLessThan(LINEAR);
  });

  it('what a SettingsTarget clears', () => {
    const object = (n: number) => ({
      metadata: { name: 'production' },
      spec: {
        server: { url: 'https://agents.example.com' },
        mode: 'Observe' as const,
        clear: many(n, (i) => `secrets.K${i}`),
      },
    });
    expect(growth(object, (one) => readSettingsTarget(one), 2000)).toBeLessThan(LINEAR);
  });

  it('sandboxes against many that are declared', () => {
    const from = { file: 's', line: 1, column: 1 };
    const lists = (n: number) => ({
      items: many(n, (i) =>
        i % 2 === 0
          ? ({
              kind: 'named',
              id: `${i}`,
              state: 'paused',
              whenBusy: 'skip',
              source: from,
            } as const)
          : ({
              kind: 'counted',
              spec: `${i}`,
              running: 1,
              surplus: 'pause',
              whenBusy: 'skip',
              source: from,
            } as const),
      ),
      sandboxes: many(n, (i) => ({ id: `${i}`, spec: `${i}`, status: 'RUNNING', createdAt: i })),
    });
    const claimed = growth(
      lists,
      ({ items, sandboxes }) => claimSandboxes(items, sandboxes, new Map()),
      5000,
    );
    expect(claimed).toBeLessThan(LINEAR);
    const surplus = growth(
      (n) => lists(n).sandboxes,
      (sandboxes) =>
        planSandboxes(
          [
            {
              kind: 'counted',
              spec: null,
              running: 1,
              surplus: 'pause',
              whenBusy: 'skip',
              source: from,
            },
          ],
          { sandboxes, specs: null, busy: new Set(sandboxes.map(({ id }) => id)), at: 0 },
        ),
      5000,
    );
    expect(surplus).toBeLessThan(LINEAR);
  });
});

describe('a settings file built to hurt is read in time linear to its size', () => {
  const lines = (n: number, of: (i: number) => string) => many(n, of).join('\n');
  const HEAD = 'version: 1\nserver: { url: https://agents.example.com }\n';

  const texts: (readonly [string, number, (n: number) => string])[] = [
    ['keys', 2500, (n) => `settings:\n${lines(n, (i) => `  k${i}: 1`)}`],
    ['keys alike', 2500, (n) => `settings:\n${lines(n, () => '  k: 1')}`],
    ['keys in one line', 2500, (n) => `settings: { ${many(n, (i) => `k${i}: 1`).join(', ')} }`],
    ['environments', 2500, (n) => `environments:\n${lines(n, (i) => `  e${i}: {}`)}`],
    ['sandboxes', 2500, (n) => `sandboxes:\n${lines(n, () => '  - { id: a, state: paused }')}`],
    ['aliases', 2500, (n) => `settings:\n${lines(n, (i) => `  k${i}: *a`)}`],
  ];
  itEach(texts, ([name]) => name === 'environments')('%s', (_, size, of) => {
    expect(
      growth(
        (n) => HEAD + of(n),
        (text) => read(text),
        size,
      ),
    ).toBeLessThan(LINEAR);
  });

  it('a key that is there twice is still found', () => {
    expect(problems(`${HEAD}settings:\n  agent: a\n  "agent": b\n`)).toEqual([
      '5:3 declared-twice',
    ]);
    expect(problems(`${HEAD}settings: { agent: a, agent: b }\n`)).toEqual(['3:23 declared-twice']);
  });
});
