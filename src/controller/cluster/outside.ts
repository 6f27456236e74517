import { onceFor } from '../../reconciler/model/cache.ts';
import { asSetpointError, type SetpointError } from '../../reconciler/model/error.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import { isRecord, type Value } from '../../reconciler/model/value.ts';
import { kubePath, type KubeApi } from './kube-api.ts';
import { OBJECT_LIMITS, OUTSIDE_LIMITS, STORE_LIMITS } from './limits.ts';
import type { TargetSpec } from '../../reconciler/kubernetes/settings-target.ts';
import type { TargetResource } from './target-resource.ts';

/** Milliseconds for one ConfigMap or Secret, with all its tries. */
const WITHIN = 10_000;
/** An answer counts for all that ask within this time, in milliseconds. */
const SHARED = 30_000;
/** Milliseconds between two times that others are notified. */
const NOTIFY = 50;
const RULE = 'Bind a Role to it with resources: [configmaps], verbs: [get].';

/** The text of a ConfigMap: `none` if there is no such ConfigMap or key, `large` with its bytes if it is too large, `no-room` if the texts of its namespace are. */
export type SettingsText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'large' | 'no-room'; readonly bytes: number }
  | { readonly kind: 'none' };

/**
 * The content that an object names outside of itself, as it was read: the text of its ConfigMap, if any, and the missing keys of Secrets.
 */
export interface Outside {
  readonly settings: SettingsText | null;
  readonly missing: ReadonlySet<string>;
}

/** The state of that content: `reading` has the names of what is read for the first time. */
export type KnownOutside =
  | { readonly kind: 'known'; readonly outside: Outside }
  | { readonly kind: 'reading'; readonly names: readonly string[] }
  | { readonly kind: 'failed'; readonly problem: SetpointError };

/** A ConfigMap or a Secret, and the keys of it that an object names. */
export interface OutsideName {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  readonly keys: readonly string[];
}

type Content = ReadonlyMap<string, SettingsText>;

interface Resource {
  readonly namespace: string;
  readonly kind: OutsideName['kind'];
  readonly name: string;
  /** The keys that objects have named. */
  readonly keys: Set<string>;
  /** The content read under these keys; null before the first time. */
  content: Content | null;
  problem: SetpointError | null;
  /** The time of that request, on the monotonic clock. */
  readAt: number;
  isWaiting: boolean;
  /** The keys that are being read. */
  underWay: ReadonlySet<string>;
  /** Called once a read that has not begun is over. */
  awaited: (() => void)[];
}

export interface OutsideTools {
  readonly api: Pick<KubeApi, 'ask'>;
  /** The keys of a Secret; null if there is none. */
  readonly secretKeys: (
    namespace: string,
    name: string,
  ) => Promise<{ has(key: string): boolean } | null>;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** Called when content has changed. */
  readonly changed: () => void;
}

/**
 * Reads the ConfigMaps and Secrets that objects name, in the background: each once for all objects that name it, a few of a namespace at a
 * time, the namespaces in turn. For Secrets, only the names of their keys are stored.
 */
export class OutsideReader {
  readonly #tools: OutsideTools;
  readonly #resources = new Map<string, Resource>();
  /** The objects to read, by namespace: the first namespace is the next. */
  readonly #queues = new Map<string, Set<Resource>>();
  readonly #underWay = new Map<string, number>();
  #reads = 0;
  #notifying = false;
  /** Changes whenever content has changed. */
  revision = 0;

  constructor(tools: OutsideTools) {
    this.#tools = tools;
  }

  /** Returns what is known. What is not known yet is read. */
  find(namespace: string, names: readonly OutsideName[]): KnownOutside {
    const reading: string[] = [];
    let problem: SetpointError | null = null;
    for (const named of names) {
      const resource = this.#resource(namespace, named);
      const isKnown = named.keys.every((key) => resource.content?.has(key) === true);
      if (isKnown) continue;
      // One that failed is read again when it is asked for.
      if (resource.problem === null) {
        reading.push(`${named.kind} ${named.name}`);
        if (!named.keys.every((key) => resource.underWay.has(key))) this.#enqueue(resource);
      } else problem = resource.problem;
    }
    if (problem !== null) return { kind: 'failed', problem };
    if (reading.length > 0) return { kind: 'reading', names: reading };
    return { kind: 'known', outside: this.#outside(namespace, names) };
  }

  /** Reads again what was last read more than `SHARED` ago. */
  refresh(namespace: string, names: readonly OutsideName[]): void {
    const from = this.#tools.clock.monotonic() - SHARED;
    for (const named of names) {
      const resource = this.#resource(namespace, named);
      if (resource.readAt <= from) this.#enqueue(resource);
    }
  }

  /** Reads all of it again. */
  async readNow(namespace: string, names: readonly OutsideName[]): Promise<void> {
    const reads = names.map((named) => {
      const resource = this.#resource(namespace, named);
      return new Promise<void>((resolve) => {
        resource.awaited.push(resolve);
        this.#enqueue(resource);
      });
    });
    await Promise.all(reads);
  }

  /** Removes what no object names any more. */
  retain(objects: Iterable<TargetResource>): void {
    const named = new Set<string>();
    for (const object of objects)
      for (const one of outsideNames(object))
        named.add(formatOutsideId(object.metadata.namespace ?? '', one));
    for (const id of this.#resources.keys()) if (!named.has(id)) this.#resources.delete(id);
  }

  #resource(namespace: string, { kind, name, keys }: OutsideName): Resource {
    const id = formatOutsideId(namespace, { kind, name });
    const fresh = { namespace, kind, name, keys: new Set<string>(), content: null, problem: null };
    const resource: Resource = this.#resources.get(id) ?? {
      ...fresh,
      readAt: Number.NEGATIVE_INFINITY,
      isWaiting: false,
      underWay: NO_KEYS,
      awaited: [],
    };
    for (const key of keys) resource.keys.add(key);
    this.#resources.set(id, resource);
    return resource;
  }

  #outside(namespace: string, names: readonly OutsideName[]): Outside {
    let settings: SettingsText | null = null;
    const missing = new Set<string>();
    for (const { kind, name, keys } of names) {
      const content = this.#resources.get(formatOutsideId(namespace, { kind, name }))?.content;
      if (kind === 'ConfigMap') settings = content?.get(keys[0] ?? '') ?? NONE;
      else for (const key of keys) if (content?.get(key) === NONE) missing.add(`${name}/${key}`);
    }
    return { settings, missing };
  }

  #enqueue(resource: Resource): void {
    if (resource.isWaiting) return;
    resource.isWaiting = true;
    const queue = this.#queues.get(resource.namespace) ?? new Set();
    this.#queues.set(resource.namespace, queue.add(resource));
    this.#pump();
  }

  #pump(): void {
    for (const [namespace, queue] of this.#queues) {
      if (this.#reads >= OUTSIDE_LIMITS.cluster) return;
      const [resource] = queue;
      const underWay = this.#underWay.get(namespace) ?? 0;
      if (resource === undefined || underWay >= OUTSIDE_LIMITS.namespace) continue;
      queue.delete(resource);
      // The others have their turn before it has another one.
      this.#queues.delete(namespace);
      if (queue.size > 0) this.#queues.set(namespace, queue);
      this.#count(namespace, 1);
      void this.#read(resource).finally(() => {
        this.#count(namespace, -1);
        this.#pump();
      });
    }
  }

  #count(namespace: string, change: 1 | -1): void {
    this.#reads += change;
    const underWay = (this.#underWay.get(namespace) ?? 0) + change;
    if (underWay === 0) this.#underWay.delete(namespace);
    else this.#underWay.set(namespace, underWay);
  }

  async #read(resource: Resource): Promise<void> {
    const { clock } = this.#tools;
    const readAt = clock.monotonic();
    const keys = new Set(resource.keys);
    const before = resource.content;
    const failed = resource.problem;
    resource.isWaiting = false;
    resource.underWay = keys;
    const { awaited } = resource;
    resource.awaited = [];
    try {
      const content = await this.#readContent(resource, keys);
      resource.problem = null;
      if (!isSameContent(before, content)) resource.content = content;
    } catch (thrown) {
      // Earlier content stays in effect.
      resource.problem = asSetpointError(thrown);
    }
    resource.readAt = readAt;
    if (resource.underWay === keys) resource.underWay = NO_KEYS;
    const hasChanged = resource.content !== before || resource.problem?.message !== failed?.message;
    if (hasChanged) this.revision += 1;
    for (const done of awaited) done();
    if (hasChanged) await this.#notify();
  }

  async #readContent(resource: Resource, keys: ReadonlySet<string>): Promise<Content> {
    const { namespace, kind, name } = resource;
    if (kind === 'Secret') {
      const found = await this.#tools.secretKeys(namespace, name);
      return new Map([...keys].map((key) => [key, found?.has(key) === true ? SET : NONE]));
    }
    const data = await this.#configMap(namespace, name);
    const before = resource.content;
    return new Map(
      [...keys].map((key) => {
        const text = data?.[key];
        const known = before?.get(key);
        if (text === undefined) return [key, NONE];
        // The same text is stored once.
        if (known?.kind === 'text' && known.text === text) return [key, known];
        return [key, this.#limitText(resource, key, text)];
      }),
    );
  }

  /** Returns the text, or only its size if it is too large or exceeds the limit of its namespace. */
  #limitText(resource: Resource, key: string, text: string): SettingsText {
    const bytes = Buffer.byteLength(text);
    if (bytes > OBJECT_LIMITS.textBytes) return { kind: 'large', bytes };
    let [ofNamespace, all] = [0, 0];
    for (const other of this.#resources.values())
      for (const [name, one] of other.content ?? [])
        if (one.kind === 'text' && !(other === resource && name === key)) {
          all += one.text.length;
          if (other.namespace === resource.namespace) ofNamespace += one.text.length;
        }
    const { texts, namespaceTexts } = STORE_LIMITS;
    return ofNamespace + bytes > namespaceTexts || all + bytes > texts
      ? { kind: 'no-room', bytes }
      : { kind: 'text', text };
  }

  async #configMap(
    namespace: string,
    name: string,
  ): Promise<Readonly<Record<string, string>> | undefined> {
    const path = kubePath('/api/v1', namespace, 'configmaps', name);
    const about = { what: 'ConfigMaps', purpose: 'read ConfigMaps', namespace, rule: RULE };
    const request = { method: 'GET', path, within: WITHIN, about } as const;
    const answer = await this.#tools.api.ask(request);
    const { data } = (answer.kind === 'done' ? answer.value : {}) as {
      data?: Readonly<Record<string, string>>;
    };
    return data;
  }

  /** Notifies once for all reads that end within a moment: there may be hundreds. */
  async #notify(): Promise<void> {
    if (this.#notifying) return;
    this.#notifying = true;
    await this.#tools.clock.sleep(NOTIFY);
    this.#notifying = false;
    this.#tools.changed();
  }
}

const NO_KEYS: ReadonlySet<string> = new Set();
const NONE: SettingsText = { kind: 'none' };
/** A key of a Secret, whose value is foreign. */
const SET: SettingsText = { kind: 'text', text: '' };

function formatOutsideId(
  namespace: string,
  { kind, name }: Pick<OutsideName, 'kind' | 'name'>,
): string {
  return `${kind} ${namespace}/${name}`;
}

function isSameContent(one: Content | null, other: Content): boolean {
  return (
    one?.size === other.size &&
    [...other].every(([key, value]) => {
      const before = one.get(key);
      return before === value || JSON.stringify(before) === JSON.stringify(value);
    })
  );
}

export function isSameOutside(one: Outside, other: Outside): boolean {
  return (
    one.settings === other.settings &&
    one.missing.size === other.missing.size &&
    [...one.missing].every((key) => other.missing.has(key))
  );
}

/** Lists the names that an object refers to outside of itself: its ConfigMap first, then Secrets with an optional key. */
export function outsideNames({ spec }: TargetResource): readonly OutsideName[] {
  return listOutsideNames(spec);
}

const listOutsideNames = onceFor((spec: TargetSpec): readonly OutsideName[] => {
  const names: OutsideName[] = [];
  const from = spec['settingsFrom'];
  const map = nameAndKey(isRecord(from) ? from['configMapKeyRef'] : undefined);
  if (map !== null) names.push({ kind: 'ConfigMap', name: map.name, keys: [map.key] });
  const secrets = new Map<string, string[]>();
  const values = spec['valuesFrom'];
  for (const one of Array.isArray(values) ? (values as readonly Value[]) : []) {
    const ref = isRecord(one) ? one['secretKeyRef'] : undefined;
    const secret = isRecord(ref) && ref['optional'] === true ? nameAndKey(ref) : null;
    if (secret === null) continue;
    const keys = secrets.get(secret.name) ?? [];
    keys.push(secret.key);
    secrets.set(secret.name, keys);
  }
  for (const [name, keys] of secrets) names.push({ kind: 'Secret', name, keys });
  return names;
});

function nameAndKey(
  ref: Value | undefined,
): { readonly name: string; readonly key: string } | null {
  if (!isRecord(ref)) return null;
  const { name, key } = ref;
  return typeof name === 'string' && typeof key === 'string' ? { name, key } : null;
}
