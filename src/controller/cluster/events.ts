import { hostname } from 'node:os';
import { asSetpointError } from '../../reconciler/model/error.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import { API_VERSION, KIND } from '../../reconciler/kubernetes/crd.ts';
import type { WatchState } from '../../reconciler/model/watch.ts';
import { visible } from '../../reconciler/render/text.ts';
import { whatDiffers } from '../watch/healing.ts';
import { isPassing } from '../watch/schedule.ts';
import type { Listener } from '../watch/watching.ts';
import { kubePath, type KubeApi } from './kube-api.ts';
import type { TargetResource } from './source.ts';
import { stalledReason } from './unwatched.ts';

/** Milliseconds for one event, with all its tries. */
const WITHIN = 10_000;
const RULE =
  'Bind a Role to it with apiGroups: [events.k8s.io], resources: [events], verbs: [create].';
/** What the API takes, in bytes. */
const LONGEST_NOTE = 1_024;
/** Reads in a row that fail before somebody is told: one alone is often over by the next. */
const FAILED_READS = 3;

/** What happened to an object, for people: a reason in one word, and a sentence without any value. */
export interface Happened {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
}

/** What of a record is an event of Kubernetes: transitions alone. Null if nothing is. */
export function happened(state: WatchState, event: Parameters<Listener>[1]): Happened | null {
  switch (event.kind) {
    case 'state':
      return changed(state, event.before);
    case 'read':
      return event.result !== 'done' && state.failures === FAILED_READS
        ? { type: 'Warning', reason: unreadReason(event.result), note: whatDiffers(state) }
        : null;
    case 'write': {
      const { status, changes } = event.outcome;
      const isDone = status === 'applied';
      const note = `${event.by === 'watch' ? 'Healed' : 'Written'}: ${status}, ${changes.length} of the plan.`;
      return {
        type: isDone ? 'Normal' : 'Warning',
        reason: isDone ? 'Applied' : 'NotApplied',
        note,
      };
    }
    case 'healing-stopped':
      return { type: 'Warning', reason: 'HealingStopped', note: event.reason };
    default:
      return null;
  }
}

/** As the condition has it. */
function unreadReason(code: string): string {
  return isPassing(code) ? 'Unreachable' : stalledReason({ code });
}

function changed(state: WatchState, before: WatchState['status']): Happened | null {
  const note = whatDiffers(state);
  switch (state.found) {
    case 'in-sync':
      return before === 'not-read'
        ? null
        : {
            type: 'Normal',
            reason: 'InSync',
            note: 'The server has all that is declared and can be compared.',
          };
    case 'refused':
      return { type: 'Warning', reason: 'Refused', note };
    case 'pending':
      return { type: 'Normal', reason: 'Pending', note };
    case 'drift':
    case 'conflict':
      return { type: 'Normal', reason: 'Drifted', note };
    default:
      return null;
  }
}

export interface EventTools {
  readonly api: Pick<KubeApi, 'ask'>;
  readonly clock: Clock;
  /** Told why events cannot be written; null once they can. */
  readonly problem: (message: string | null) => void;
}

/** Writes the events of objects, in their order. One that cannot be written is left out, and told of. */
export class EventWriter {
  readonly #tools: EventTools;
  #last: Promise<void> = Promise.resolve();

  constructor(tools: EventTools) {
    this.#tools = tools;
  }

  write(object: TargetResource, what: Happened): void {
    this.#last = this.#last.then(() => this.#write(object, what));
  }

  /** Until what was begun is written. */
  end(): Promise<void> {
    return this.#last;
  }

  async #write({ metadata }: TargetResource, { type, reason, note }: Happened): Promise<void> {
    const { api, clock, problem } = this.#tools;
    const { namespace = 'default', name, uid, resourceVersion } = metadata;
    const path = kubePath('/apis/events.k8s.io/v1', namespace, 'events');
    const body = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: {
        name: `${name.slice(0, 200).replace(/[-.]+$/, '')}.${crypto.randomUUID()}`,
        namespace,
      },
      eventTime: new Date(clock.now()).toISOString().replace('Z', '000Z'),
      reportingController: 'setpoint.dev/controller',
      reportingInstance: hostname().slice(0, 128),
      action: 'Reconcile',
      reason,
      regarding: {
        apiVersion: API_VERSION,
        kind: KIND,
        namespace,
        name,
        uid,
        resourceVersion,
      },
      note: beginning(visible(note), LONGEST_NOTE),
      type,
    };
    try {
      const about = { what: 'events', purpose: 'write events', namespace, rule: RULE };
      await api.ask({ method: 'POST', path, body, within: WITHIN, about });
      problem(null);
    } catch (thrown) {
      problem(asSetpointError(thrown).message);
    }
  }
}

/** As many bytes of a text at most, and no part of a character. */
function beginning(text: string, most: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, most), { stream: true });
}
