import { setImmediate } from 'node:timers/promises';
import { asSetpointError } from '../../reconciler/model/error.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import type { Value } from '../../reconciler/model/value.ts';
import type { KubeAnswer, KubeApi } from './kube-api.ts';
import type { Reflector } from './reflector.ts';
import { FINGERPRINTS } from './status-fingerprints.ts';
import { isBefore, type KubeResource } from './stored-object.ts';
import { targetPath, type TargetResource } from './target-resource.ts';
import {
  isYetToRead,
  computeTargetStatus,
  withoutFraction,
  type TargetState,
  type TargetStatus,
} from './status.ts';

/** Milliseconds for one status, with all its tries. */
const WITHIN = 10_000;
/** Statuses that are written at a time. */
const AT_A_TIME = 4;
/** Milliseconds between two statuses of objects that nothing new is known of: thousands are new at once, and most are read before it is their turn. */
const APART = 50;
/** Times alone are written so seldom, in milliseconds: of one object, and of all together, which is less than one write a second. */
const TIMES_EVERY = 60_000;
const TIMES_APART = 1_200;
/** Milliseconds before what could not be written is tried again. */
const AGAIN = 5_000;
const STATUS = 'the status of SettingsTargets';

export interface StatusTools {
  readonly api: Pick<KubeApi, 'ask'>;
  readonly objects: Pick<Reflector<TargetResource>, 'objects'>;
  readonly clock: Clock;
  /** Returns the known state of an object; null if another controller reports it. */
  readonly known: (key: string, object: TargetResource) => TargetState | null;
  /** Called after a status was written, with the one before. */
  readonly written: (
    object: TargetResource,
    before: Partial<TargetStatus>,
    now: TargetStatus,
  ) => void;
  /** Receives the reason why statuses cannot be written; null once they can. */
  readonly problem: (message: string | null) => void;
}

interface Next {
  readonly key: string;
  /** True if there is nothing new to report. */
  readonly isPerhaps: boolean;
}

/** Writes the status of each object when a part of it has changed. Times alone are written seldom. */
export class StatusWriter {
  readonly #tools: StatusTools;
  readonly #due = new Set<string>();
  /** Objects without news, or whose status could not be written: they wait until all others are done. */
  readonly #perhaps = new Set<string>();
  /** The written statuses, and the version that the object gets by them: they count until that version is seen. */
  readonly #written = new Map<
    string,
    { readonly version: string; readonly status: TargetStatus }
  >();
  /** Objects whose status is being written; true if they are due again. */
  readonly #busy = new Map<string, boolean>();
  readonly #writing = new Set<Promise<void>>();
  /** Objects whose last write failed. */
  readonly #failing = new Set<string>();
  #wake: (() => void) | null = null;
  /** True while an object without news is being written, and the time from which the next one may be, on the monotonic clock. */
  #isAtPerhaps = false;
  #perhapsFrom = Number.NEGATIVE_INFINITY;
  /** From when on times alone may be written. */
  #timesFrom = Number.NEGATIVE_INFINITY;
  /** The number of writes since the start. */
  writes = 0;

  constructor(tools: StatusTools) {
    this.#tools = tools;
  }

  /** Has the status of an object written if it is other than before. */
  look(key: string): void {
    this.#due.add(key);
    this.#wake?.();
  }

  /** Looks at an object after those that are due: thousands may have to be looked at again and again. */
  lookLater(key: string): void {
    this.#perhaps.add(key);
    this.#wake?.();
  }

  /** Looks at all objects, after those that are due. */
  lookAtAll(): void {
    for (const key of this.#tools.objects.objects.keys()) this.lookLater(key);
  }

  /** Writes until the signal aborts; what is being written then is finished. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wake?.(), { once: true });
    while (!signal.aborted) {
      for (let next = this.#next(); next !== undefined; next = this.#next()) this.#begin(next);
      await this.#rest(signal);
    }
    await Promise.all(this.#writing);
  }

  #begin({ key, isPerhaps }: Next): void {
    if (this.#busy.has(key)) {
      this.#busy.set(key, true);
      return;
    }
    this.#busy.set(key, false);
    if (isPerhaps) this.#isAtPerhaps = true;
    const work = isPerhaps ? this.#writePerhaps(key) : this.#write(key);
    const writing = work.then(() => {
      this.#writing.delete(writing);
      if (this.#busy.get(key) === true) this.#due.add(key);
      this.#busy.delete(key);
      this.#wake?.();
    });
    this.#writing.add(writing);
  }

  /** Takes the next one; undefined if none is due, or enough are being written. */
  #next(): Next | undefined {
    if (this.#writing.size >= AT_A_TIME) return undefined;
    const [due] = this.#due;
    if (due !== undefined) {
      this.#due.delete(due);
      return { key: due, isPerhaps: false };
    }
    const [key] = this.#untilPerhaps() > 0 ? [] : this.#perhaps;
    if (key === undefined) return undefined;
    this.#perhaps.delete(key);
    return { key, isPerhaps: true };
  }

  /** Milliseconds until the next status without news may be written. */
  #untilPerhaps(): number {
    if (this.#isAtPerhaps || this.#perhaps.size === 0) return Number.POSITIVE_INFINITY;
    return this.#perhapsFrom - this.#tools.clock.monotonic();
  }

  /** Until something is due and may be written. */
  async #rest(signal: AbortSignal): Promise<void> {
    const isFull = this.#writing.size >= AT_A_TIME;
    const wait = this.#untilPerhaps();
    if (!isFull && (this.#due.size > 0 || wait <= 0)) return;
    const over = new AbortController();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (signal.aborted) resolve();
      else if (!isFull && Number.isFinite(wait))
        void this.#tools.clock.sleep(wait, over.signal).then(resolve, resolve);
    });
    this.#wake = null;
    over.abort('over');
  }

  /** Thousands of them in a row are looked at, and few written: others have their turn in between. */
  async #writePerhaps(key: string): Promise<void> {
    await setImmediate();
    const before = this.writes;
    await this.#write(key);
    if (this.writes > before) this.#pausePerhaps(APART);
    this.#isAtPerhaps = false;
  }

  #pausePerhaps(milliseconds: number): void {
    this.#perhapsFrom = this.#tools.clock.monotonic() + milliseconds;
  }

  async #write(key: string): Promise<void> {
    const { api, objects, clock } = this.#tools;
    const object = objects.objects.get(key);
    if (object === undefined) {
      this.#written.delete(key);
      this.#isWell(key);
      return;
    }
    const shown = this.#readStatus(key, object);
    const known = this.#tools.known(key, { ...object, status: shown });
    if (known === null || isYetToRead(known)) return;
    const status = computeTargetStatus(known, withoutFraction(new Date(clock.now()).toISOString()));
    if (!this.#isOther(shown, status)) return;
    const { namespace = 'default', name } = object.metadata;
    const path = `${targetPath(namespace, name)}/status`;
    try {
      const answer = await api.ask({
        method: 'PATCH',
        path,
        contentType: 'application/merge-patch+json',
        body: { status: createMergePatch(shown, status) },
        within: WITHIN,
        about: { what: STATUS, purpose: `write ${STATUS}`, namespace },
      });
      if (answer.kind === 'conflict') return this.#writeLater(key);
      this.writes += 1;
      this.#written.set(key, { version: readResourceVersion(answer), status });
      this.#tools.written(object, shown, status);
      this.#isWell(key);
    } catch (thrown) {
      this.#failing.add(key);
      this.#tools.problem(asSetpointError(thrown).message);
      this.#writeLater(key);
    }
    return undefined;
  }

  /** One that cannot be written keeps no other from its turn. */
  #writeLater(key: string): void {
    this.#perhaps.add(key);
    this.#pausePerhaps(AGAIN);
  }

  #isWell(key: string): void {
    this.#failing.delete(key);
    if (this.#failing.size === 0) this.#tools.problem(null);
  }

  /** Returns the current status of the object, if it is known. */
  #readStatus(key: string, { status, metadata }: TargetResource): Readonly<Record<string, Value>> {
    const written = this.#written.get(key);
    if (written !== undefined && isBefore(metadata.resourceVersion, written.version))
      return written.status as unknown as Readonly<Record<string, Value>>;
    this.#written.delete(key);
    const { [FINGERPRINTS]: _, ...shown } = status ?? {};
    return shown;
  }

  #isOther(before: Partial<TargetStatus>, now: TargetStatus): boolean {
    const { objects } = this.#tools.objects;
    if (
      JSON.stringify(sortMembers(timeless(before))) !== JSON.stringify(sortMembers(timeless(now)))
    )
      return true;
    const last = Date.parse(before.lastLook?.time ?? '');
    const next = Date.parse(now.lastLook?.time ?? '');
    if (!Number.isFinite(next)) return false;
    const passed = Number.isFinite(last) ? next - last : Number.POSITIVE_INFINITY;
    return passed >= TIMES_EVERY && passed >= TIMES_APART * objects.size && this.#mayWriteTimes();
  }

  /** Reports whether times may be written: those of many objects grow old at once. */
  #mayWriteTimes(): boolean {
    const now = this.#tools.clock.monotonic();
    if (now < this.#timesFrom) return false;
    this.#timesFrom = now + TIMES_APART;
    return true;
  }
}

/** The version of the object that an answer has; empty if there is none any more. */
function readResourceVersion(answer: KubeAnswer): string {
  const value = answer.kind === 'done' ? (answer.value as KubeResource) : null;
  return value?.metadata.resourceVersion ?? '';
}

/** A status without the times that each look changes. */
function timeless({ lastLook, lastInSync, ...status }: Partial<TargetStatus>): object {
  const wasInSync = lastInSync !== undefined;
  return { ...status, nextRead: null, digest: lastLook?.digest ?? null, wasInSync };
}

/** With the members of all maps in one order: the API server has its own. */
function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sortMembers(member)]));
}

/** The merge patch (RFC 7396) that makes one status of another. */
export function createMergePatch(
  before: Readonly<Record<string, unknown>>,
  after: object,
): Record<string, unknown> {
  const gone = Object.keys(before).filter((name) => !(name in after));
  const members = Object.entries(after).map(([name, value]): [string, unknown] => {
    const former = before[name];
    return isMap(former) && isMap(value) ? [name, createMergePatch(former, value)] : [name, value];
  });
  return Object.fromEntries([...gone.map((name) => [name, null] as const), ...members]);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
