import { hostname } from 'node:os';
import { STATE_WORDS } from '../../reconciler/render/section.ts';
import { asSetpointError } from '../../reconciler/model/error.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import { API_VERSION, KIND } from '../../reconciler/kubernetes/crd.ts';
import type { WatchState } from '../../reconciler/model/watch.ts';
import { describeRecord, formatRecord } from '../../reconciler/render/record-text.ts';
import { visible } from '../../reconciler/render/text.ts';
import { whatDiffers } from '../watch/healing.ts';
import { isPassing } from '../watch/schedule.ts';
import type { Listener } from '../watch/watching.ts';
import { kubePath, type KubeApi } from './kube-api.ts';
import type { TargetResource } from './target-resource.ts';
import { EVENT_LIMITS } from './limits.ts';

/** Milliseconds for one event, with all its tries. */
const WITHIN = 10_000;
const RULE =
  'Bind a Role to it with apiGroups: [events.k8s.io], resources: [events], verbs: [create, patch].';
/** The longest note that the API accepts, in bytes. */
const LONGEST_NOTE = 1_024;
/** The number of consecutive failed reads before an event is written: a single failure is often over by the next read. */
const FAILED_READS = 3;

/** An event of an object, for people: a reason in one word, and a sentence without any value. */
export interface EventText {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
}

/** Returns the Kubernetes event for a record, for transitions only; null for anything else. */
export function describeTransition(
  state: WatchState,
  event: Parameters<Listener>[1],
): EventText | null {
  switch (event.kind) {
    case 'state':
      return describeStatusChange(state, event.before);
    case 'read':
      // A lasting problem is an event of the status.
      return isPassing(event.result) && state.failures === FAILED_READS
        ? { type: 'Warning', reason: 'Unreachable', note: whatDiffers(state) }
        : null;
    case 'write': {
      const isDone = event.outcome.status === 'applied';
      const note = formatRecord(describeRecord(event));
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

function describeStatusChange(state: WatchState, before: WatchState['status']): EventText | null {
  const note = whatDiffers(state);
  switch (state.found) {
    case 'in-sync':
      return before === 'not-read'
        ? null
        : {
            type: 'Normal',
            reason: 'InSync',
            note: `${STATE_WORDS['in-sync']}: the server has all that is declared and can be compared.`,
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
  /** Receives the reason why events cannot be written; null once they can. */
  readonly problem: (message: string | null) => void;
}

/** An event that was written, and how often it has happened since the last write. */
interface Series {
  path: string;
  count: number;
  lastAt: number;
  isCounted: boolean;
}

/** The events written for one object. Tokens are the number of events that may be written now. */
interface Spent {
  tokens: number;
  at: number;
  readonly series: Map<string, Series>;
}

/** Objects whose written events are known. */
const MOST_OBJECTS = 20_000;

/**
 * Writes the events of objects, those of each namespace in their order. An event that happens again counts up the one before; of one object a few are written at once, then one in some
 * minutes, which has the count of those between. One that cannot be written is left out, and is a problem.
 */
export class EventWriter {
  readonly #tools: EventTools;
  readonly #spent = new Map<string, Spent>();
  /** Events that wait to be written, by namespace. */
  readonly #waiting = new Map<string, (() => Promise<void>)[]>();
  #count = 0;
  #writing: Promise<void> | null = null;

  constructor(tools: EventTools) {
    this.#tools = tools;
  }

  write(object: TargetResource, what: EventText): void {
    const spent = this.#refillBudget(object);
    const series = this.#findSeries(spent, what);
    series.count += 1;
    series.lastAt = this.#tools.clock.now();
    series.isCounted = false;
    if (spent.tokens < 1) return;
    spent.tokens -= 1;
    this.#add(object.metadata.namespace ?? '', () => this.#write(object, what, series));
    this.#writing ??= this.#writeAll();
  }

  /** Until what was begun is written. */
  async end(): Promise<void> {
    await this.#writing;
  }

  #add(namespace: string, write: () => Promise<void>): void {
    const waiting = this.#waiting.get(namespace) ?? [];
    waiting.push(write);
    this.#waiting.set(namespace, waiting);
    this.#count += 1;
    if (this.#count <= EVENT_LIMITS.waiting) return;
    const [most] = [...this.#waiting.values()].toSorted((one, other) => other.length - one.length);
    most?.pop();
    this.#count -= 1;
  }

  /** Writes one of each namespace in turn. */
  async #writeAll(): Promise<void> {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined) break;
      const [namespace, waiting] = next;
      const write = waiting.shift();
      this.#waiting.delete(namespace);
      if (waiting.length > 0) this.#waiting.set(namespace, waiting);
      if (write === undefined) continue;
      this.#count -= 1;
      await write();
    }
    this.#writing = null;
  }

  /** Returns the events written for an object, with the tokens that it has by now. */
  #refillBudget({ metadata: { uid = '' } }: TargetResource): Spent {
    const { burst, every } = EVENT_LIMITS;
    const now = this.#tools.clock.now();
    const known = this.#spent.get(uid) ?? { tokens: burst, at: now, series: new Map() };
    known.tokens = Math.min(burst, known.tokens + Math.max(0, now - known.at) / every);
    known.at = now;
    this.#spent.delete(uid);
    this.#spent.set(uid, known);
    const [oldest] = this.#spent.keys();
    if (oldest !== undefined && this.#spent.size > MOST_OBJECTS) this.#spent.delete(oldest);
    return known;
  }

  #findSeries({ series }: Spent, { type, reason, note }: EventText): Series {
    const now = this.#tools.clock.now();
    for (const [key, { lastAt }] of series)
      if (now - lastAt > EVENT_LIMITS.series) series.delete(key);
    const key = JSON.stringify([type, reason, note]);
    const known = series.get(key) ?? { path: '', count: 0, lastAt: now, isCounted: false };
    // Those without a written event are as many as there are notes.
    if (series.size < EVENT_LIMITS.burst) series.set(key, known);
    return known;
  }

  async #write(object: TargetResource, what: EventText, series: Series): Promise<void> {
    const { api, problem } = this.#tools;
    const { namespace = 'default' } = object.metadata;
    // One that was written since has counted it.
    if (series.isCounted) return;
    series.isCounted = true;
    const about = { what: 'events', purpose: 'write events', namespace, rule: RULE };
    try {
      const { count, path } = series;
      const request = { within: WITHIN, about };
      const lastObservedTime = microTime(series.lastAt);
      const known =
        path === ''
          ? 'none'
          : await api.ask({
              ...request,
              method: 'PATCH',
              path,
              contentType: 'application/merge-patch+json',
              body: { series: { count, lastObservedTime } },
            });
      // An event is removed after an hour.
      if (known === 'none' || known.kind === 'none') {
        const list = kubePath('/apis/events.k8s.io/v1', namespace, 'events');
        const body = this.#body(object, what);
        series.path = `${list}/${body.metadata.name}`;
        series.count = 1;
        await api.ask({ ...request, method: 'POST', path: list, body });
      }
      problem(null);
    } catch (thrown) {
      series.path = '';
      problem(asSetpointError(thrown).message);
    }
  }

  #body({ metadata }: TargetResource, { type, reason, note }: EventText) {
    const { namespace = 'default', name, uid, resourceVersion } = metadata;
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: {
        name: `${name.slice(0, 200).replace(/[-.]+$/, '')}.${crypto.randomUUID()}`,
        namespace,
      },
      eventTime: microTime(this.#tools.clock.now()),
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
  }
}

function microTime(time: number): string {
  return new Date(time).toISOString().replace('Z', '000Z');
}

/** As many bytes of a text at most, and no part of a character. */
function beginning(text: string, most: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, most), { stream: true });
}
