import type { OutcomeDocument } from '../model/outcome.ts';
import type { EnvironmentPlan, PlanDocument } from '../model/plan.ts';
import type { SandboxProgress } from '../model/progress.ts';
import type {
  ApplyRequest,
  DriftRequest,
  EnvironmentsEnded,
  PlanRequest,
} from '../operations/options.ts';
import { apply, drift, plan } from './functions.ts';

/** The operations that can be followed, each with its request and its document. */
interface Followed {
  readonly plan: (request: PlanRequest) => Promise<PlanDocument>;
  readonly drift: (request: DriftRequest) => Promise<PlanDocument>;
  readonly apply: (request: ApplyRequest) => Promise<OutcomeDocument>;
}

const FOLLOWED: Followed = { plan, drift, apply };

/** A step of a run. New kinds may be added. */
export type RunEvent =
  | {
      /** The environments are chosen; nothing was sent yet. */
      readonly kind: 'selected';
      /** Environments that the run has. */
      readonly own: number;
      /** Environments that were chosen: with a shard, more than the run has. */
      readonly chosen: number;
    }
  | {
      /** A server is waited for. */
      readonly kind: 'starting';
      /** The name of its environment. */
      readonly environment: string;
      /** The reason of the wait; null once the server answers. */
      readonly problem: string | null;
    }
  | {
      /** An apply has a plan with changes, before guards and questions. */
      readonly kind: 'planned';
      /** The plan of one environment. */
      readonly plan: EnvironmentPlan;
    }
  | {
      /** Sandboxes are waited for. */
      readonly kind: 'sandboxes';
      /** The name of their environment. */
      readonly environment: string;
      /** The sandboxes that are not ready yet. */
      readonly waiting: readonly SandboxProgress[];
    }
  | ({
      /** An environment began or ended. */
      readonly kind: 'progress';
    } & EnvironmentsEnded);

/**
 * Runs an operation and yields its events as they happen; the generator returns the document. Leaving the loop early stops the operation
 * as its signal would: before a write at once, during a write once it is verified. Callbacks of the request are called as well.
 */
export async function* stream<Name extends keyof Followed>(
  name: Name,
  request: Parameters<Followed[Name]>[0],
): AsyncGenerator<RunEvent, Awaited<ReturnType<Followed[Name]>>, undefined> {
  const events: RunEvent[] = [];
  const stop = new AbortController();
  let wake = (): void => {};
  const push = (event: RunEvent): void => {
    events.push(event);
    wake();
  };
  const { signal } = request;
  const followed = {
    ...noteEvents(request, push, name === 'apply'),
    signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
  };
  const run = FOLLOWED[name] as (given: object) => Promise<Awaited<ReturnType<Followed[Name]>>>;
  let isOver = false;
  const ended = run(followed).finally(() => {
    isOver = true;
    wake();
  });
  // It is awaited below, after the events.
  ended.catch(() => {});
  try {
    for (;;) {
      for (let event = events.shift(); event !== undefined; event = events.shift()) yield event;
      if (isOver) return await ended;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    stop.abort();
    await ended.catch(() => {});
  }
}

/** Returns the request with callbacks that note events, and call those of the request. */
function noteEvents(
  request: ApplyRequest,
  push: (event: RunEvent) => void,
  hasPlans: boolean,
): ApplyRequest {
  const { onSelected, onStarting, onPlan, onProgress, onEnvironment } = request;
  return {
    ...request,
    onSelected: (own, chosen) => {
      push({ kind: 'selected', own, chosen });
      onSelected?.(own, chosen);
    },
    onStarting: (environment, problem) => {
      push({ kind: 'starting', environment, problem });
      onStarting?.(environment, problem);
    },
    onProgress: (environment, waiting) => {
      push({ kind: 'sandboxes', environment, waiting });
      onProgress?.(environment, waiting);
    },
    onEnvironment: (ended) => {
      push({ kind: 'progress', ...ended });
      onEnvironment?.(ended);
    },
    ...(hasPlans
      ? {
          onPlan: async (planned) => {
            push({ kind: 'planned', plan: planned });
            await onPlan?.(planned);
          },
        }
      : {}),
  };
}
