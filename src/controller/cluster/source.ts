import { setImmediate } from 'node:timers/promises';
import { SharedValues } from '../../reconciler/model/redactor.ts';
import { asSetpointError, SetpointError } from '../../reconciler/model/error.ts';
import type { Limits } from '../../reconciler/model/limits.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import type { Target } from '../../reconciler/desired/target.ts';
import { API_VERSION } from '../../reconciler/kubernetes/crd.ts';
import { readSettingsTarget, type ReadTarget } from '../../reconciler/kubernetes/read.ts';
import type { SecretKey } from '../../reconciler/kubernetes/secret-keys.ts';
import type { TargetSpec } from '../../reconciler/kubernetes/settings-target.ts';
import { InvalidSettings } from '../../reconciler/operations/load.ts';
import { checkPolicy } from '../../reconciler/operations/policy.ts';
import { isRecord, type Value } from '../../reconciler/model/value.ts';
import { watchSettings } from '../watch/schedule.ts';
import type { SettingsSource } from '../watch/source.ts';
import { kubePath, type KubeApi } from './kube-api.ts';
import { LaterTargets } from './later-targets.ts';
import { notListed, type KubeResource, type Reflector } from './reflector.ts';
import type { Allowance, SettingsPolicies } from './policies.ts';
import type { ClusterSecrets } from './secrets.ts';
import { stalledReason } from './unwatched.ts';

/** A SettingsTarget as the API server hands it out. */
export interface TargetResource extends KubeResource {
  readonly spec: TargetSpec;
  readonly status?: Readonly<Record<string, Value>>;
}

/** What a ConfigMap or an optional key says is read again each interval of its object, and so often at most, in milliseconds. */
const READ_AGAIN = 60_000;
/** Milliseconds for one ConfigMap, with all its tries. */
const WITHIN = 10_000;
/** New objects that are read without a pause. */
const AT_ONCE = 20;
const RULE = 'Bind a Role to it with resources: [configmaps], verbs: [get].';
/** Values with which the masks are begun anew: those that Secrets have now count then. */
const MOST_VALUES = 100_000;

/** What an object names outside of itself, as it was read: the text of its ConfigMap, and the keys of Secrets that are not there. */
interface Outside {
  readonly settings: string | null;
  readonly missing: ReadonlySet<string>;
}

const NOTHING: Outside = { settings: null, missing: new Set() };

/** What an object declares, or why that is not valid. */
interface Declared {
  readonly generation: number;
  readonly uid: string;
  /** What the policies of its namespace allowed when it was read; null if that was not known. */
  readonly allowance: Allowance | null;
  readonly target: Target | null;
  readonly problem: SetpointError | null;
  readonly outside: Outside;
  /** When what is outside the object is read again, on the monotonic clock; null if nothing is. */
  readonly nextAt: number | null;
}

/**
 * The SettingsTargets of a cluster as the environments of a controller, each named by its namespace and name. One that is not valid, or suspended, is not
 * among them. What an object declares is read again if its spec changes, and what it names outside of itself at each interval.
 */
export class ClusterSource implements SettingsSource {
  readonly kind = 'cluster';
  readonly commits = null;
  readonly #objects: Reflector<TargetResource>;
  readonly #api: Pick<KubeApi, 'ask'>;
  readonly #secrets: Pick<ClusterSecrets, 'has'>;
  readonly #policies: Pick<SettingsPolicies, 'in' | 'isSettled' | 'problem' | 'revision'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #policy: string | undefined;
  readonly #judged: (key: string, problem: SetpointError | null) => void;
  readonly #interval: number;
  #declared: ReadonlyMap<string, Declared> = new Map();
  #values = new SharedValues();
  readonly #targets = new LaterTargets();
  /** Those of which what is outside is to be read again. */
  readonly #asked = new Set<string>();
  #listeners = new Set<() => void>();
  #last = '';
  #stamped = '';
  #stampedRevision = '';
  #toldRevision = '';
  /** How often what is outside of objects had to be read again, and was. */
  #round = 0;
  #loadedRound = 0;

  constructor(
    objects: Reflector<TargetResource>,
    tools: {
      readonly api: Pick<KubeApi, 'ask'>;
      readonly secrets: Pick<ClusterSecrets, 'has'>;
      readonly policies: Pick<SettingsPolicies, 'in' | 'isSettled' | 'problem' | 'revision'>;
      readonly clock: Pick<Clock, 'monotonic'>;
      /** A file with a JSON Schema that what an object declares must fit. */
      readonly policy?: string | undefined;
      /** Told of an object that became valid (null), or invalid by another reason. */
      readonly judged: (key: string, problem: SetpointError | null) => void;
      /** Of an object that names none, in milliseconds. */
      readonly interval: number;
    },
  ) {
    this.#objects = objects;
    this.#api = tools.api;
    this.#secrets = tools.secrets;
    this.#policies = tools.policies;
    this.#clock = tools.clock;
    this.#policy = tools.policy;
    this.#judged = tools.judged;
    this.#interval = tools.interval;
  }

  /** How many objects are not watched, by the reason that their status has. */
  get unwatched(): ReadonlyMap<string, number> {
    const problems = [...this.#declared.values()].flatMap(({ problem }) => problem ?? []);
    const reasons = problems.map(stalledReason);
    const asleep = [...this.#objects.objects.values()].filter(({ spec }) => isSuspended(spec));
    return new Map([
      ...(['Forbidden', 'Invalid'] as const).map(
        (reason) => [reason, reasons.filter((one) => one === reason).length] as const,
      ),
      ['Suspended', asleep.length],
    ]);
  }

  /** What an object declares as of the last load; undefined if it was not read yet, or is suspended. */
  declared(key: string): Declared | undefined {
    return this.#declared.get(key);
  }

  /** Has what is outside of an object read again now. */
  readOutside(key: string): void {
    if (this.#declared.get(key)?.nextAt === null) return;
    this.#asked.add(key);
    for (const listener of this.#listeners) listener();
  }

  #isOld(key: string, { nextAt }: Declared, now: number): boolean {
    return nextAt !== null && (now > nextAt || this.#asked.has(key));
  }

  /** Changes with what is declared, and with what is allowed. */
  get #revision(): string {
    return `${this.#objects.revision} ${this.#policies.revision}`;
  }

  originOf(key: string): string | null {
    return originOf(this.#objects.objects.get(key));
  }

  /** The namespace of an object. */
  groupOf(key: string): string {
    return key.slice(0, Math.max(0, key.indexOf('/')));
  }

  /** To be called when the objects, or the policies, may have changed. A status that is written changes nothing of what is declared. */
  objectsChanged(): void {
    const revision = this.#revision;
    if (revision === this.#toldRevision) return;
    this.#toldRevision = revision;
    for (const listener of this.#listeners) listener();
  }

  async stamp(): Promise<string> {
    const { problem, isListed, objects } = this.#objects;
    const revision = this.#revision;
    // While the API server is away, the objects that were listed last stay in force.
    if (!isListed) throw problem ?? notListed('SettingsTargets');
    // A policy that is the first to select namespaces holds once these are listed, which is soon.
    if (!this.#policies.isSettled && this.#last !== '') return this.#last;
    if (this.#policies.problem !== null) throw this.#policies.problem;
    if (revision !== this.#stampedRevision) {
      const specs = [...objects].map(([key, one]) => `${key} ${uidOf(one)} ${generationOf(one)}`);
      this.#stamped = [this.#policies.revision, ...specs].join('\n');
      this.#stampedRevision = revision;
    }
    const now = this.#clock.monotonic();
    const isOld = [...this.#declared].some(([key, one]) => this.#isOld(key, one, now));
    if (isOld && this.#round === this.#loadedRound) this.#round += 1;
    this.#last = `${this.#stamped} ${this.#round}`;
    return this.#last;
  }

  async load(): ReturnType<SettingsSource['load']> {
    this.#loadedRound = this.#round;
    if (this.#values.size > MOST_VALUES) this.#values = new SharedValues();
    const next = new Map<string, Declared>();
    for (const [key, object] of this.#objects.objects) {
      if (isSuspended(object.spec) || isDeleted(object)) continue;
      const declared = await this.#declaredBy(key, object);
      // Thousands of new ones take seconds: others have their turn in between.
      if (declared !== this.#declared.get(key) && next.size % AT_ONCE === 0) await setImmediate();
      next.set(key, declared);
    }
    const before = this.#declared;
    this.#declared = next;
    for (const key of this.#asked) if (!next.has(key)) this.#asked.delete(key);
    for (const [key, { problem }] of next)
      if (problem?.message !== before.get(key)?.problem?.message) this.#judged(key, problem);
    const targets = [...next.values()].flatMap(({ target }) => (target === null ? [] : [target]));
    return {
      targets,
      declared: new Set(this.#objects.objects.keys()),
      commit: null,
      values: this.#values,
      broken: [],
      root: '',
      versions: new Map(
        [...next].map(([key, { generation, uid }]) => [key, versionOf(generation, uid)]),
      ),
    };
  }

  async loadLast(): Promise<null> {
    return null;
  }

  listen(changed: () => void): () => void {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  }

  /**
   * The same object as before if nothing of it is other: only what changed is read soon. What it names and cannot be read leaves it as it was, and
   * is a problem of its own if it was nothing yet: never of the others.
   */
  async #declaredBy(key: string, object: TargetResource): Promise<Declared> {
    const before = this.#declared.get(key);
    const now = this.#clock.monotonic();
    let allowance: Allowance | null = null;
    let same: Declared | null = null;
    try {
      allowance = this.#policies.in(namespaceOf(object));
      same = isDeclaredBy(before, object, allowance) ? before : null;
      if (same !== null && !this.#isOld(key, same, now)) return same;
      this.#asked.delete(key);
      return await this.#readAgain(key, object, allowance, same);
    } catch (thrown) {
      const nextAt = now + READ_AGAIN;
      if (same !== null) return { ...same, nextAt };
      const problem = asSetpointError(thrown);
      return {
        ...versionOfObject(object),
        allowance,
        target: null,
        problem,
        outside: NOTHING,
        nextAt,
      };
    }
  }

  async #readAgain(
    key: string,
    object: TargetResource,
    allowance: Allowance,
    before: Declared | null,
  ): Promise<Declared> {
    const now = this.#clock.monotonic();
    const isInside = object.spec['settingsFrom'] === undefined && optionalKeys(object).length === 0;
    const outside = isInside ? NOTHING : await this.#outsideOf(object);
    const isAsBefore = before !== null && isSameOutside(before.outside, outside);
    // What is not valid stays so, and may take seconds to read; the file with the policy may be another one.
    if (isAsBefore && before.problem instanceof InvalidSettings && this.#policy === undefined)
      return { ...before, nextAt: now + READ_AGAIN };
    const { target, diagnostics } = targetOf(key, object, outside, allowance);
    const problem =
      target === null
        ? new InvalidSettings(diagnostics)
        : (modeProblem(object, allowance) ?? (await this.#refusal(target)));
    const read = { ...versionOfObject(object), allowance, problem, outside };
    if (target === null || problem !== null)
      return { ...read, target: null, nextAt: now + READ_AGAIN };
    const known = isAsBefore ? before.target : null;
    return {
      ...read,
      target: known ?? this.#later(target, key, object, outside, allowance),
      nextAt: isInside ? null : now + this.#every(target),
    };
  }

  /** A target that keeps nothing but what it was read of. */
  #later(
    target: Target,
    key: string,
    { metadata: { name, namespace }, spec }: TargetResource,
    outside: Outside,
    allowance: Allowance,
  ): Target {
    const metadata = namespace === undefined ? { name } : { name, namespace };
    return this.#targets.of(target, () => {
      const again = targetOf(key, { metadata, spec }, outside, allowance);
      if (again.target === null) throw new InvalidSettings(again.diagnostics);
      return again.target;
    });
  }

  #every(target: Target): number {
    return Math.max(READ_AGAIN, watchSettings(target, this.#interval).interval ?? 0);
  }

  /** Why the policy refuses what an object declares; null if it does not. */
  async #refusal(target: Target): Promise<SetpointError | null> {
    if (this.#policy === undefined) return null;
    return checkPolicy([target], this.#policy).then(() => null, asSetpointError);
  }

  /** The text that `settingsFrom` names; null if there is none, or it cannot be read. */
  async #configMapOf(object: TargetResource): Promise<string | null> {
    const from = object.spec['settingsFrom'];
    const ref = isRecord(from) ? from['configMapKeyRef'] : undefined;
    if (!isRecord(ref) || typeof ref['name'] !== 'string' || typeof ref['key'] !== 'string')
      return null;
    const namespace = namespaceOf(object);
    const path = kubePath('/api/v1', namespace, 'configmaps', ref['name']);
    const about = { what: 'ConfigMaps', purpose: 'read ConfigMaps', namespace, rule: RULE };
    const answer = await this.#api.ask({ method: 'GET', path, within: WITHIN, about });
    const { data } = (answer.kind === 'done' ? answer.value : {}) as {
      data?: Readonly<Record<string, string>>;
    };
    return data?.[ref['key']] ?? null;
  }

  async #outsideOf(object: TargetResource): Promise<Outside> {
    const namespace = namespaceOf(object);
    const settings = await this.#configMapOf(object);
    const missing = new Set<string>();
    for (const key of optionalKeys(object))
      if (!(await this.#secrets.has({ namespace, ...key }))) missing.add(`${key.name}/${key.key}`);
    return { settings, missing };
  }
}

function isSuspended(spec: TargetSpec): boolean {
  return spec['suspend'] === true;
}

/** Its watch has ended, although a finalizer of somebody else may keep it for long. */
export function isDeleted({ metadata }: KubeResource): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function versionOfObject(object: TargetResource): Pick<Declared, 'generation' | 'uid'> {
  return { generation: generationOf(object), uid: uidOf(object) };
}

/** Whether what was read is of an object as it is, and as it is allowed. */
function isDeclaredBy(
  declared: Declared | undefined,
  object: TargetResource,
  allowance: Allowance,
): declared is Declared {
  const { generation, uid } = versionOfObject(object);
  return (
    declared?.generation === generation && declared.uid === uid && declared.allowance === allowance
  );
}

function modeProblem({ spec }: TargetResource, { whyNotMode }: Allowance): SetpointError | null {
  const why = whyNotMode(spec.mode);
  const hint = 'Change spec.mode, or have the policy changed.';
  return why === null ? null : new SetpointError('policy-violated', why, { hint });
}

function optionalKeys({ spec }: TargetResource): readonly SecretKey[] {
  const values = spec['valuesFrom'];
  if (!Array.isArray(values)) return [];
  return values.flatMap((one: Value) => {
    const ref = isRecord(one) ? one['secretKeyRef'] : null;
    if (!isRecord(ref) || ref['optional'] !== true) return [];
    const { name, key } = ref;
    return typeof name === 'string' && typeof key === 'string' ? [{ name, key }] : [];
  });
}

/** The target that an object declares with what it names; null if one of the diagnostics is an error. */
function targetOf(
  key: string,
  { metadata, spec }: Pick<TargetResource, 'metadata' | 'spec'>,
  { settings, missing }: Outside,
  { limits }: Allowance,
): Pick<ReadTarget, 'diagnostics' | 'target'> {
  const { target, diagnostics } = readSettingsTarget(
    { metadata, spec },
    { settings, hasKey: (secret) => !missing.has(`${secret.name}/${secret.key}`) },
  );
  const approved = approvedDigest({ spec });
  const limited = approved === null ? limits : { ...(limits ?? NO_LIMITS), approved };
  const allowed = limited === null ? {} : { limits: limited };
  return { target: target === null ? null : { ...target, name: key, ...allowed }, diagnostics };
}

const NO_LIMITS: Limits = { origins: [], forbidden: new Map(), interval: 0 };

/** What `spec.approval` names; null if nothing is to be approved. */
export function approvedDigest({ spec }: Pick<TargetResource, 'spec'>): string | null {
  const approval = spec['approval'] as { readonly planDigest?: string } | undefined;
  return approval === undefined ? null : (approval.planDigest ?? '');
}

function isSameOutside(one: Outside, other: Outside): boolean {
  return (
    one.settings === other.settings &&
    one.missing.size === other.missing.size &&
    [...one.missing].every((key) => other.missing.has(key))
  );
}

/** The path of a SettingsTarget, or of all in a namespace; null is all namespaces. */
export function targetPath(namespace: string | null, name?: string): string {
  return kubePath(`/apis/${API_VERSION}`, namespace, 'settingstargets', name);
}

/** How a state names what it was read by: the generation, and of which object, as one of the same name may follow it. */
export function versionOf(generation: number, uid: string): string {
  return `generation-${generation}-of-${uid.slice(0, 8)}`;
}

/** The same of an object as it is now. */
export function versionNow(object: KubeResource): string {
  return versionOf(generationOf(object), uidOf(object));
}

export function generationOf({ metadata }: KubeResource): number {
  return metadata.generation ?? 0;
}

function namespaceOf({ metadata }: TargetResource): string {
  return metadata.namespace ?? 'default';
}

function uidOf({ metadata }: KubeResource): string {
  return metadata.uid ?? '';
}

/** The address of the server of an object, as it is written. */
export function addressOf({ server }: Pick<TargetSpec, 'server'>): string {
  const { url } = server;
  return typeof url === 'string' ? url.replace(/\/+$/, '') : '';
}

/** The origin that an object sends its values to; null if it names none. */
export function originOf(object: TargetResource | undefined): string | null {
  const server = object?.spec.server;
  const url = server === undefined ? undefined : server['url'];
  if (typeof url !== 'string' || !URL.canParse(url)) return null;
  return new URL(url).origin.toLowerCase();
}
