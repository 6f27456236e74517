import { asSetpointError, SetpointError } from '../../reconciler/model/error.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import type { KubeApi, KubeRequest } from './kube-api.ts';
import { STORE_LIMITS } from './limits.ts';
import type { RawObject } from './object-stream.ts';
import { Shares } from './shares.ts';
import {
  isSameSpec,
  largestMember,
  readObjectName,
  objectKey,
  readObject,
  withoutSpec,
  type KubeResource,
  type Refusal,
} from './stored-object.ts';

/** Objects on a page of a list: of the first page, at the most, and bytes of a page, as the pages before let expect. */
const FIRST_PAGE = 50;
const LARGEST_PAGE = 500;
const PAGE_BYTES = 8 * 1024 * 1024;
/** Milliseconds before objects are read for which there was no room. */
const REFILL = 10_000;
/** Seconds after which the API server ends a watch, at the least and at the most. */
const WATCH_FROM = 290;
const WATCH_TO = 580;
/** Milliseconds before a list or a watch is tried again: the first time, and the longest. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;

export interface ReflectorOptions {
  readonly clock: Clock;
  /** A number from 0 to 1. */
  readonly random: () => number;
  /** Receives the name of the object that has changed or is gone; null: all of them may have, or cannot be read. */
  readonly changed: (key: string | null) => void;
  /** The names of the objects in errors, if they differ from those of the API client. */
  readonly about?: KubeRequest['about'];
  /** True if an API server that does not know their kind means an empty list. Otherwise that is a problem. */
  readonly isOptional?: boolean;
  /** The path of the list of one namespace, if the objects belong to people who share the controller: then namespaces share its memory. */
  readonly pathIn?: (namespace: string) => string;
}

/** The names of objects whose stored content has changed, and whether one of them declares something else. */
interface StoredChange {
  readonly keys: readonly string[];
  readonly isOther: boolean;
}

/** Objects that are stored, and how much of them. */
interface Store<T> {
  readonly objects: Map<string, T>;
  readonly shares: Shares;
  /** The number of objects in each namespace, and how many of them are unknown because there are too many. */
  readonly counts: Map<string, number>;
  readonly unknown: Map<string, number>;
}

/**
 * The objects of one kind, as the API server has them: listed in pages, then watched. What cannot be read leaves the objects as they were, and is tried again,
 * later and later; nothing that happens in between is missed.
 */
export class Reflector<T extends KubeResource> {
  readonly #api: Pick<KubeApi, 'list' | 'notOffered' | 'watch'>;
  readonly #path: string;
  readonly #options: ReflectorOptions;
  #store = newStore<T>();
  /** True if there may be room by now for objects that were refused. */
  #mayHaveRoom = false;
  /** The version of the objects; null if they must be listed. */
  #version: string | null = null;
  /** True if they were listed at least once. */
  isListed = false;
  /** The reason why the last read failed; null if it succeeded. */
  problem: SetpointError | null = null;
  /** Changes whenever what an object declares does, and when they are listed; not with a status. */
  revision = 0;

  /** `path` is that of the list. */
  constructor(
    api: Pick<KubeApi, 'list' | 'notOffered' | 'watch'>,
    path: string,
    options: ReflectorOptions,
  ) {
    this.#api = api;
    this.#path = path;
    this.#options = options;
  }

  /** By namespace and name: `agents/production`. */
  get objects(): ReadonlyMap<string, T> {
    return this.#store.objects;
  }

  /** The number of objects that are unknown because their namespace has too many, by namespace. */
  get unknown(): ReadonlyMap<string, number> {
    return this.#store.unknown;
  }

  /** Reports whether an object does not exist, according to the last list and the changes after it. */
  isGone(key: string): boolean {
    const namespace = key.slice(0, key.indexOf('/'));
    if (!this.isListed || this.problem !== null || this.unknown.has(namespace)) return false;
    return !this.objects.has(key);
  }

  /** Keeps the objects as the API server has them until the signal aborts. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#reflect(signal), this.#refill(signal)]);
  }

  async #reflect(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      let isShort = true;
      try {
        if (this.#version === null) await this.#list(signal);
        if (this.problem !== null) this.#handleReset(null);
        // A kind that is not there may be defined at any time: that is looked for seldom.
        failures = this.#version === null ? Number.POSITIVE_INFINITY : 0;
        const began = clock.monotonic();
        if (this.#version !== null) await this.#watch(signal);
        isShort = clock.monotonic() - began < FIRST_PAUSE;
      } catch (thrown) {
        failures += 1;
        this.#handleReset(asSetpointError(thrown));
      }
      if (isShort) await this.#pause(failures, signal);
    }
  }

  get #about(): Pick<KubeRequest, 'about'> {
    const { about } = this.#options;
    return about === undefined ? {} : { about };
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { isOptional } = this.#options;
    let [store, next, limit] = [newStore<T>(), '' as string | null, FIRST_PAGE];
    while (next !== null && !signal.aborted) {
      const page = await this.#page(this.#path, next, limit, signal, (raw) =>
        this.#keep(store, raw),
      );
      const { answer } = page;
      if (answer.kind === 'gone') {
        // The list is too old to continue: it begins again.
        [store, next] = [newStore<T>(), ''];
        continue;
      }
      if (answer.kind === 'none' && (isOptional === true || signal.aborted)) break;
      if (answer.kind === 'none') throw this.#api.notOffered();
      this.#version = answer.resourceVersion;
      ({ next } = answer);
      ({ limit } = page);
    }
    if (signal.aborted) return;
    this.#store = store;
    this.isListed = true;
    this.#handleReset(null);
  }

  /** Reads a page. Its objects are stored one by one; `limit` is how many the next page may have. */
  async #page(
    path: string,
    next: string,
    limit: number,
    signal: AbortSignal,
    keep: (raw: RawObject) => void,
  ) {
    let [count, bytes] = [0, 0];
    const onObject = (raw: RawObject): void => {
      count += 1;
      for (const member of raw.values()) bytes += member.bytes;
      keep(raw);
    };
    const query = next === '' ? '' : `&continue=${encodeURIComponent(next)}`;
    const request = { path: `${path}?limit=${limit}${query}`, ...this.#about };
    const answer = await this.#api.list(request, { onObject, most: largestMember, signal });
    const fitting = count === 0 ? limit : Math.floor((PAGE_BYTES * count) / Math.max(1, bytes));
    return { answer, limit: Math.max(1, Math.min(LARGEST_PAGE, 4 * limit, fitting)) };
  }

  /** Stores what is read of an object. */
  #keep(store: Store<T>, raw: RawObject): StoredChange {
    const { objects, shares, counts, unknown } = store;
    const known = (key: string): T | undefined => objects.get(key) ?? this.#store.objects.get(key);
    const isShared = this.#options.pathIn !== undefined;
    const read = readObject(raw, known, isShared);
    if (read === null) return { keys: [], isOther: false };
    const { object, size } = read;
    const { namespace = '', creationTimestamp: created = '' } = object.metadata;
    const key = objectKey(object);
    if (isShared && !objects.has(key)) {
      const count = counts.get(namespace) ?? 0;
      if (count >= STORE_LIMITS.objects) {
        unknown.set(namespace, (unknown.get(namespace) ?? 0) + 1);
        return { keys: [], isOther: true };
      }
      counts.set(namespace, count + 1);
    }
    const before = known(key);
    objects.set(key, object as T);
    const keys = new Set([key]);
    for (const { key: other, by } of isShared
      ? shares.add(namespace, key, { size, created })
      : []) {
      const found = objects.get(other);
      if (found !== undefined && found.refused === undefined)
        objects.set(other, withoutSpec(found, { by, size }) as T);
      keys.add(other);
    }
    const isOther =
      keys.size > 1 ||
      !isSameSpec(before, object) ||
      before?.refused?.by !== objects.get(key)?.refused?.by;
    return { keys: [...keys], isOther };
  }

  #drop(key: string, { metadata: { namespace = '' } }: KubeResource): void {
    const { objects, shares, counts, unknown } = this.#store;
    if (objects.delete(key)) counts.set(namespace, (counts.get(namespace) ?? 1) - 1);
    else if (unknown.has(namespace)) countDown(unknown, namespace);
    shares.remove(namespace, key);
    this.#mayHaveRoom = true;
  }

  /** Reads objects again for which there was no room, once there may be. */
  async #refill(signal: AbortSignal): Promise<void> {
    const { clock, pathIn } = this.#options;
    if (pathIn === undefined) return;
    while (!signal.aborted) {
      await clock.sleep(REFILL, signal);
      const refused = this.#mayHaveRoom ? this.#namespacesWithoutRoom() : [];
      this.#mayHaveRoom = false;
      // Objects that cannot be read now are read after the next change, or by the next list.
      for (const namespace of refused)
        if (!signal.aborted) await this.#readRefused(pathIn(namespace), signal).catch(() => {});
    }
  }

  #namespacesWithoutRoom(): ReadonlySet<string> {
    const refused = [...this.objects.values()].filter((one) => isForRoom(one.refused));
    return new Set(refused.map(({ metadata: { namespace = '' } }) => namespace));
  }

  async #readRefused(path: string, signal: AbortSignal): Promise<void> {
    let [next, limit] = ['' as string | null, FIRST_PAGE];
    while (next !== null && !signal.aborted) {
      const page = await this.#page(path, next, limit, signal, (raw) => {
        const known = this.objects.get(objectKey({ metadata: readObjectName(raw) }));
        // All others are followed by the watch; one that is not known may be gone by now.
        if (isForRoom(known?.refused)) this.#handleStored(this.#keep(this.#store, raw));
      });
      if (page.answer.kind !== 'page') return;
      ({ next } = page.answer);
      ({ limit } = page);
    }
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { random } = this.#options;
    const seconds = Math.round(WATCH_FROM + random() * (WATCH_TO - WATCH_FROM));
    const query = new URLSearchParams({
      watch: '1',
      allowWatchBookmarks: 'true',
      resourceVersion: this.#version ?? '',
      timeoutSeconds: String(seconds),
    });
    const request = { path: `${this.#path}?${query.toString()}`, ...this.#about };
    const ended = await this.#api.watch(request, {
      onEvent: (type, raw) => this.#take(type, raw),
      most: largestMember,
      signal,
    });
    // Objects that are not known are found by a list alone.
    if (ended === 'gone' || this.#store.unknown.size > 0) this.#version = null;
  }

  #take(type: string, raw: RawObject): 'on' | 'stop' {
    if (type === 'ERROR') {
      // After any error, the objects are listed again. 410 is the usual one: the start of the watch is too old.
      this.#version = null;
      return 'stop';
    }
    const metadata = readObjectName(raw);
    this.#version = metadata.resourceVersion ?? this.#version;
    if (type === 'BOOKMARK') return 'on';
    if (type !== 'DELETED') this.#handleStored(this.#keep(this.#store, raw));
    else {
      const key = objectKey({ metadata });
      this.#drop(key, { metadata });
      this.#handleStored({ keys: [key], isOther: true });
    }
    return 'on';
  }

  #handleStored({ keys, isOther }: StoredChange): void {
    if (isOther) {
      this.revision += 1;
      // A refused object is known by now.
      this.#mayHaveRoom ||= keys.some((key) => !isForRoom(this.objects.get(key)?.refused));
    }
    this.problem = null;
    for (const key of keys) this.#options.changed(key);
  }

  /** All of them may be others; or why they cannot be read. */
  #handleReset(problem: SetpointError | null): void {
    this.problem = problem;
    this.revision += 1;
    this.#options.changed(null);
  }

  async #pause(failures: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { clock, random } = this.#options;
    const most = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.max(0, failures - 1));
    await clock.sleep(most * (0.5 + random() / 2), signal);
  }
}

function newStore<T>(): Store<T> {
  return { objects: new Map(), shares: new Shares(), counts: new Map(), unknown: new Map() };
}

function countDown(counts: Map<string, number>, name: string): void {
  const count = (counts.get(name) ?? 0) - 1;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}

function isForRoom(refused: Refusal | undefined): boolean {
  return refused?.by === 'namespace' || refused?.by === 'cluster';
}

/** States that objects are not known yet, without a known reason. */
export function notListed(what: string): SetpointError {
  return new SetpointError('cluster-failed', `The ${what} were not listed yet.`);
}
