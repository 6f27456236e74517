import { describe, expect, it } from 'vitest';
import type { DesiredSandboxes } from '../../../src/reconciler/desired/blocks/sandboxes.ts';
import {
  type Conversation,
  type Sandbox,
  SANDBOX_READER,
  type SandboxReader,
} from '../../../src/reconciler/resources/sandboxes/wire.ts';
import {
  observeSandboxes,
  planObservedSandboxes,
} from '../../../src/reconciler/resources/sandboxes/resource.ts';
import { declared } from '../plan/declared.ts';
import { counted, list, named, withSandboxes } from './listed.ts';
import { reading, scripted, type Script } from './scripted.ts';

/** A service by a script that also notes which of its other lists are read. */
function service(
  sandboxes: readonly DesiredSandboxes[],
  lists: readonly (readonly Sandbox[])[],
  { conversations = [], ...script }: Script = {},
) {
  const { input, ...seen } = scripted(withSandboxes(declared('language: fr'), sandboxes), {
    lists,
    ...script,
  });
  const read: string[] = [];
  const observer: SandboxReader = {
    ...input.reader(SANDBOX_READER),
    specs: async () => {
      read.push('specs');
      return [{ id: 'node' }, { id: 'python' }];
    },
    conversations: async () => {
      read.push('conversations');
      return conversations;
    },
  };
  return {
    ...seen,
    read,
    input: reading(input, SANDBOX_READER, observer),
  };
}

const GONE = [named('z', 'running')];
const talk = (sandbox: string | null, status: string | null): Conversation => ({
  id: `c-${sandbox}-${status}`,
  sandbox,
  status,
  createdAt: null,
});

describe('what is read', () => {
  const reads = async (...items: DesiredSandboxes[]) => {
    const { input, read } = service(items, [list('a RUNNING')]);
    await observeSandboxes(input, () => false);
    return read;
  };

  it('is the specs only if an item names one', async () => {
    expect(await reads(counted(1), named('a', 'running'))).toEqual([]);
    expect(await reads(counted(1), counted(1, 'python'))).toEqual(['specs']);
  });

  it('is the conversations only if a pause could interrupt one', async () => {
    expect(await reads(named('a', 'paused', 'pause'))).toEqual([]);
    expect(await reads(counted(2))).toEqual([]);
    expect(await reads(counted(2), named('a', 'paused'))).toEqual(['conversations']);
  });

  it('is where a conversation runs, and in no other state', async () => {
    const { input } = service([named('a', 'paused')], [list('a RUNNING')], {
      conversations: [
        talk('a', 'running'),
        talk('b', 'idle'),
        talk('c', null),
        talk(null, 'running'),
      ],
    });
    const { observed, plan } = await observeSandboxes(input, () => false);
    expect(observed).toEqual({
      sandboxes: list('a RUNNING'),
      specs: null,
      busy: new Set(['a']),
      at: 1_700_000_000_000,
    });
    expect(plan).toMatchObject({ steps: [], warnings: [{ code: 'sandbox-busy', path: ['a'] }] });
  });

  it('is said to be unknown if a snapshot does not have the conversations', async () => {
    const { input } = service([named('b', 'paused'), named('a', 'paused')], [list('a RUNNING')], {
      conversations: null,
    });
    const { observed, plan } = await observeSandboxes(input, () => false);
    expect(observed.busy).toBeNull();
    expect(plan.steps.map(({ action, sandbox }) => [action, sandbox])).toEqual([['pause', 'a']]);
    expect(plan.warnings).toEqual([
      {
        code: 'sandbox-gone',
        message: 'Sandbox b is declared paused, but the service has no sandbox of that id.',
        path: ['b'],
      },
      {
        code: 'sandbox-busy',
        message:
          'The snapshot does not show where conversations run; a sandbox in which one runs would not be paused.',
        path: [],
      },
    ]);
  });
});

describe('an empty list', () => {
  it('is read again only if its plan is doubted', async () => {
    const doubted = service(GONE, [[], list('z RUNNING')]);
    const { observed } = await observeSandboxes(doubted.input, () => true);
    expect(observed.sandboxes).toEqual(list('z RUNNING'));
    expect(doubted.slept).toEqual([2000]);
    const trusted = service(GONE, [[], list('z RUNNING')]);
    expect((await observeSandboxes(trusted.input, () => false)).observed.sandboxes).toEqual([]);
    expect(trusted.slept).toEqual([]);
    const full = service(GONE, [list('y RUNNING')]);
    await observeSandboxes(full.input, () => true);
    expect(full.steps).toEqual(['list']);
  });

  it('is not read again after a request to stop', async () => {
    const { input, steps } = service(GONE, [[]], { more: { signal: AbortSignal.abort() } });
    await observeSandboxes(input, () => true);
    expect(steps).toEqual(['list']);
  });

  it('is doubted for a plan if what is declared by its id is not there', async () => {
    const gone = service(GONE, [[]]);
    expect((await planObservedSandboxes(gone.input)).unmet).toMatchObject([{ path: ['z'] }]);
    expect(gone.steps).toEqual(['list', 'sleep', 'list']);
    expect(gone.slept).toEqual([2000]);
    const missing = service([counted(1)], [[]]);
    expect((await planObservedSandboxes(missing.input)).steps).toHaveLength(1);
    expect(missing.steps).toEqual(['list']);
  });
});

describe('the watch of an ERROR', () => {
  it('is of what failed, and of no other warning', async () => {
    const gone = service([named('z', 'paused'), ...GONE], [list('a ERROR')]);
    await planObservedSandboxes(gone.input);
    expect(gone.progress).toEqual([]);
    expect(gone.steps).toEqual(['list']);
    const failed = service([counted(1), ...GONE], [list('a ERROR'), list('a RUNNING')]);
    await planObservedSandboxes(failed.input);
    expect(failed.progress).toEqual([
      [{ action: 'watch', id: 'a', spec: null, status: 'ERROR', done: false }],
    ]);
    expect(failed.slept).toEqual([3000]);
  });

  it('takes no longer than is waited, from when it began', async () => {
    for (const [wait, times] of [
      [9000, 3],
      [300_000, 10],
    ] as const) {
      const { input, slept } = service([counted(1)], [list('a ERROR')], { more: { wait } });
      await input.clock.sleep(7000);
      await planObservedSandboxes(input);
      expect(slept).toEqual([7000, ...Array<number>(times).fill(3000)]);
    }
  });

  it('ends with the error of a request to stop', async () => {
    const stop = new AbortController();
    const { input, steps } = service([counted(1)], [list('a ERROR')], {
      more: { signal: stop.signal },
      on: (step) => {
        if (step === 'sleep') stop.abort('SIGTERM');
      },
    });
    await expect(planObservedSandboxes(input)).rejects.toMatchObject({ code: 'terminated' });
    expect(steps).toEqual(['list', 'sleep', 'list']);
  });
});
