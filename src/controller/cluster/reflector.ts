import { asSetpointError, SetpointError } from '../../reconciler/model/error.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import type { KubeApi, KubeRequest } from './kube-api.ts';

/** What every object of Kubernetes has. */
export interface KubeResource {
  readonly metadata: KubeMetadata;
  readonly spec?: unknown;
}

interface KubeMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly generation?: number;
  readonly resourceVersion?: string;
  /** Of one that is being deleted, and waits for a finalizer of somebody else. */
  readonly deletionTimestamp?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Objects on a page of a list. */
const PAGE = 500;
/** Milliseconds for one page, with all its tries. */
const WITHIN = 30_000;
/** Seconds after which the API server ends a watch, at the least and at the most. */
const WATCH_FROM = 290;
const WATCH_TO = 580;
/** Milliseconds before a list or a watch is tried again: the first time, and the longest. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;

interface ListAnswer {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly KubeResource[];
}

interface WatchEvent {
  readonly type?: string;
  readonly object?: KubeResource;
}

export interface ReflectorOptions {
  readonly clock: Clock;
  /** A number from 0 to 1. */
  readonly random: () => number;
  /** Told of the object that is another, or gone; null: of all of them, or of why they cannot be read. */
  readonly changed: (key: string | null) => void;
  /** How errors name the objects, if they are others than those of the API client. */
  readonly about?: KubeRequest['about'];
  /** Whether there are none if the API server does not know their kind. Otherwise that is a problem. */
  readonly isOptional?: boolean;
}

/**
 * The objects of one kind, as the API server has them: listed in pages, then watched. What cannot be read leaves the objects as they were, and is tried again,
 * later and later; nothing that happens in between is missed.
 */
export class Reflector<T extends KubeResource> {
  readonly #api: Pick<KubeApi, 'ask' | 'notApi' | 'notOffered' | 'watch'>;
  readonly #path: string;
  readonly #options: ReflectorOptions;
  #objects = new Map<string, T>();
  /** What the objects are as of; null if they must be listed. */
  #version: string | null = null;
  /** Whether they were listed even once. */
  isListed = false;
  /** Why they could not be read the last time; null if they could. */
  problem: SetpointError | null = null;
  /** Changes whenever what an object declares does, and when they are listed; not with a status. */
  revision = 0;

  /** `path` is that of the list. */
  constructor(
    api: Pick<KubeApi, 'ask' | 'notApi' | 'notOffered' | 'watch'>,
    path: string,
    options: ReflectorOptions,
  ) {
    this.#api = api;
    this.#path = path;
    this.#options = options;
  }

  /** By namespace and name: `agents/production`. */
  get objects(): ReadonlyMap<string, T> {
    return this.#objects;
  }

  /** Keeps the objects as the API server has them until the signal aborts. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      let isShort = true;
      try {
        if (this.#version === null) await this.#list(signal);
        if (this.problem !== null) this.#changed(null);
        // A kind that is not there may be defined at any time: that is looked for seldom.
        failures = this.#version === null ? Number.POSITIVE_INFINITY : 0;
        const began = clock.monotonic();
        if (this.#version !== null) await this.#watch(signal);
        isShort = clock.monotonic() - began < FIRST_PAUSE;
      } catch (thrown) {
        failures += 1;
        this.#changed(asSetpointError(thrown));
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
    const found = new Map<string, T>();
    for (let next: string | undefined = ''; next !== undefined && !signal.aborted;) {
      const query = next === '' ? '' : `&continue=${encodeURIComponent(next)}`;
      const path = `${this.#path}?limit=${PAGE}${query}`;
      const answer = await this.#api.ask({
        method: 'GET',
        path,
        within: WITHIN,
        expires: true,
        ...this.#about,
      });
      if (answer.kind === 'gone') {
        // The list is too old to continue: it begins again.
        found.clear();
        next = '';
        continue;
      }
      if (answer.kind === 'none' && isOptional === true) break;
      if (answer.kind === 'none') throw this.#api.notOffered();
      const list = answer.kind === 'done' ? (answer.value as ListAnswer) : {};
      if (!Array.isArray(list.items) || list.metadata?.resourceVersion === undefined)
        throw this.#api.notApi();
      for (const item of list.items) {
        const key = objectKey(item);
        found.set(key, kept(item, this.#objects.get(key)) as T);
      }
      this.#version = list.metadata.resourceVersion;
      next = list.metadata.continue === '' ? undefined : list.metadata.continue;
    }
    if (signal.aborted) return;
    this.#objects = found;
    this.isListed = true;
    this.#changed(null);
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
    const path = `${this.#path}?${query.toString()}`;
    const ended = await this.#api.watch(
      path,
      (line) => this.#take(line),
      signal,
      this.#about.about,
    );
    if (ended === 'gone') this.#version = null;
  }

  #take(line: string): 'on' | 'stop' {
    const { type, object } = JSON.parse(line) as WatchEvent;
    if (object === undefined) return 'on';
    if (type === 'ERROR') {
      // Whatever it is, the objects are listed anew. 410 is the usual one: what was watched from is too old.
      this.#version = null;
      return 'stop';
    }
    this.#version = object.metadata.resourceVersion ?? this.#version;
    if (type === 'BOOKMARK') return 'on';
    const key = objectKey(object);
    const before = this.#objects.get(key);
    if (type === 'DELETED') this.#objects.delete(key);
    else this.#objects.set(key, kept(object, before) as T);
    if (type === 'DELETED' || !isSameSpec(before, object)) this.revision += 1;
    this.problem = null;
    this.#options.changed(key);
    return 'on';
  }

  /** All of them may be others; or why they cannot be read. */
  #changed(problem: SetpointError | null): void {
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

/** What kubectl keeps the whole object in once more. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** What is kept of an object, of which there are thousands: not who wrote which of its fields; its spec is that of before if it declares the same. */
function kept(object: KubeResource, before: KubeResource | undefined): KubeResource {
  const {
    managedFields: _,
    annotations,
    ...metadata
  } = object.metadata as KubeMetadata & {
    readonly managedFields?: unknown;
  };
  const { [LAST_APPLIED]: __, ...asked } = annotations ?? {};
  const spec = isSameSpec(before, object) ? before?.spec : object.spec;
  return {
    ...object,
    metadata: Object.keys(asked).length === 0 ? metadata : { ...metadata, annotations: asked },
    ...(spec === undefined ? {} : { spec }),
  };
}

/** Whether an object declares what it did: its generation grows with its spec alone. */
function isSameSpec(before: KubeResource | undefined, { metadata }: KubeResource): boolean {
  const { uid, generation } = metadata;
  return (
    generation !== undefined &&
    before?.metadata.uid === uid &&
    before?.metadata.generation === generation
  );
}

/** The name of an object with its namespace. */
export function objectKey({ metadata: { namespace = '', name } }: KubeResource): string {
  return `${namespace}/${name}`;
}

/** That objects are not known yet, and nothing says why. */
export function notListed(what: string): SetpointError {
  return new SetpointError('cluster-failed', `The ${what} were not listed yet.`);
}
