import { SetpointError } from '../../../src/reconciler/model/error.ts';
import type { SettingsWrite, DesiredState } from '../../../src/reconciler/model/state.ts';
import type { WriteAnswer, WrittenSecret } from '../../../src/reconciler/model/ports.ts';
import {
  type Conversation,
  type Sandbox,
  SANDBOX_READER,
  sandboxWriter,
  type SandboxReader,
  type SandboxWriter,
  type StartAnswer,
} from '../../../src/reconciler/resources/sandboxes/wire.ts';
import type { SandboxProgress } from '../../../src/reconciler/model/progress.ts';
import type { ReconcileInput } from '../../../src/reconciler/reconcile/contract.ts';
import { RESOURCES } from '../../../src/reconciler/resources/resources.ts';
import { UNTRACED } from '../../../src/reconciler/host/this-process.ts';
import { sending } from '../../../src/reconciler/operations/apply.ts';
import { DIALECTS } from '../../../src/reconciler/service/dialects.ts';
import type { ResourceReader, ResourceWriter } from '../../../src/reconciler/service/port.ts';
import { EMPTY_STORE } from '../../../src/reconciler/service/settings-v0/read.ts';
import { observedOf } from '../../fixture/observed.ts';
import { quickClock } from '../../fixture/settings.ts';

/** What an observation shows or a request is answered with: in this order, and the last one for good. */
export interface Script {
  /** The records; null is an empty store. */
  readonly shows?: readonly (Readonly<Record<string, unknown>> | SetpointError | null)[];
  readonly answers?: readonly (WriteAnswer | Promise<WriteAnswer>)[];
  readonly lists?: readonly (readonly Sandbox[] | SetpointError)[];
  readonly conversations?: readonly Conversation[] | null;
  readonly starts?: readonly (StartAnswer | Promise<StartAnswer>)[];
  readonly pauses?: readonly WriteAnswer[];
  readonly resumes?: readonly WriteAnswer[];
  readonly more?: Partial<ReconcileInput>;
  /** Called with the name of each step, before it is done: `observe`, `store`, `list`, `start x`, `pause x`, `sleep`. */
  readonly on?: (step: string, count: number) => void;
}

export const STORED: WriteAnswer = { kind: 'stored' };

export function lost(code: 'timed-out' | 'server-error' = 'server-error'): WriteAnswer {
  return { kind: 'ambiguous', error: new SetpointError(code, 'No answer.') };
}

export function refused(retry: boolean, reached: boolean, retryAfter?: number): WriteAnswer {
  const error = new SetpointError('rate-limited', 'Not now.');
  if (retryAfter !== undefined) Object.assign(error, { retryAfter });
  return { kind: 'not-applied', retry, reached, error };
}

/** A service that does as it is told, and what it was asked. */
export function scripted(desired: DesiredState, script: Script) {
  const steps: string[] = [];
  const writes: SettingsWrite[] = [];
  const progress: (readonly SandboxProgress[])[] = [];
  const fingerprints: string[] = [];
  const note = (step: string): void => {
    script.on?.(step, steps.filter((one) => one === step).length + 1);
    steps.push(step);
  };
  const clock = quickClock();
  const observe = inOrder<Readonly<Record<string, unknown>> | SetpointError | null>(
    script.shows ?? [{}],
  );
  const list = inOrder<readonly Sandbox[] | SetpointError>(script.lists ?? [[]]);
  const store = inOrder(script.answers ?? [STORED]);
  const start = inOrder(script.starts ?? []);
  const pause = inOrder(script.pauses ?? [STORED]);
  const resume = inOrder(script.resumes ?? [STORED]);
  const sandboxes: SandboxReader = {
    sandboxes: async () => {
      note('list');
      const shown = list();
      if (shown instanceof Error) throw shown;
      return { sandboxes: shown, at: clock.now() };
    },
    specs: async () => [{ id: 'python' }, { id: 'node' }],
    conversations: async () => script.conversations ?? [],
  };
  const { abandon } = script.more ?? {};
  const send = sending({ abandon, tracer: UNTRACED }, 'test');
  const bare: ReconcileInput = {
    desired,
    base: null,
    rotation: [],
    allowed: [],
    approved: null,
    wait: 60_000,
    clock: {
      now: () => clock.now(),
      // Nothing but sleeping takes time, and a millisecond is one.
      monotonic: () => clock.slept.reduce((sum, slept) => sum + slept, 0),
      sleep: (milliseconds, signal) => {
        note('sleep');
        return clock.sleep(milliseconds, signal);
      },
    },
    progress: (waiting) => progress.push(waiting),
    announce: () => Promise.resolve(),
    approve: () => Promise.resolve(true),
    settings: {
      observe: async () => {
        note('observe');
        const shown = observe();
        if (shown instanceof Error) throw shown;
        return shown === null ? EMPTY_STORE : observedOf(shown);
      },
    },
    resources: RESOURCES,
    reader: () => {
      throw new Error('The script says nothing of this.');
    },
    writer: writers({
      store: (write) =>
        send('write settings', async () => {
          note('store');
          writes.push(write);
          return store();
        }),
      sandboxes: {
        start: (spec) =>
          send('start sandbox', async () => {
            note(`start ${spec ?? 'default'}`);
            return start();
          }),
        pause: (id) =>
          send('pause sandbox', async () => {
            note(`pause ${id}`);
            return pause();
          }),
        resume: (id) =>
          send('resume sandbox', async () => {
            note(`resume ${id}`);
            return resume();
          }),
      },
    }),
    fingerprints: {
      compare: () => 'none',
      forget: async (paths) => {
        fingerprints.push(`forget ${paths.join(' ')}`.trim());
        return async () => void fingerprints.push('put back');
      },
      remember: async (written: readonly WrittenSecret[]) =>
        void fingerprints.push(`remember ${written.map(({ path }) => path).join(' ')}`.trim()),
    },
    ...script.more,
  };
  const input = reading(bare, SANDBOX_READER, sandboxes);
  return { input, steps, writes, progress, fingerprints, slept: clock.slept };
}

/** The same input, which reads one resource by this reader. */
export function reading<R>(
  input: ReconcileInput,
  of: ResourceReader<R>,
  reader: R & object,
): ReconcileInput {
  return {
    ...input,
    reader: <A>(asked: ResourceReader<A>) =>
      Object.is(asked, of) ? (reader as unknown as A) : input.reader(asked),
  };
}

/** Writers that do as they are told. */
export function writers(made: {
  readonly store: (write: SettingsWrite) => Promise<WriteAnswer>;
  readonly sandboxes?: SandboxWriter;
}): ReconcileInput['writer'] {
  return <W>(asked: ResourceWriter<W>) => {
    const known = new Map<unknown, unknown>([
      ...Object.values(DIALECTS).map(({ write }) => [write, made.store] as const),
      ...Object.values(DIALECTS).map(({ activate }) => [activate, async () => STORED] as const),
      [sandboxWriter, made.sandboxes],
    ]);
    return known.get(asked) as W;
  };
}

function inOrder<T>(values: readonly T[]): () => T {
  const left = [...values];
  return () => {
    const next = left.length > 1 ? left.shift() : left[0];
    if (next === undefined) throw new Error('The script says nothing of this.');
    return next;
  };
}
