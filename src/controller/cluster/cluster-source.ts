import { setImmediate } from 'node:timers/promises';
import { SharedValues } from '../../reconciler/model/redactor.ts';
import { asSetpointError, type SetpointError } from '../../reconciler/model/error.ts';
import type { Approvals } from '../../reconciler/model/limits.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import type { Target } from '../../reconciler/desired/target.ts';
import { freeGrownMemory } from '../../reconciler/host/this-process.ts';
import { findTextProblems } from '../../reconciler/kubernetes/read-target.ts';
import { InvalidSettings } from '../../reconciler/operations/invalid-settings.ts';
import { watchSettings } from '../watch/schedule.ts';
import type { SettingsSource } from '../watch/source.ts';
import {
  isOfVersion,
  InvalidSize,
  modeProblem,
  findPolicyRefusal,
  createReadingWait,
  OverLimit,
  createRefusedProblem,
  secretsProblem,
  parseDeclaredTarget,
  textProblem,
  versionOfObject,
  type ObjectDeclaration,
  type Waiting,
} from './declared.ts';
import { LaterTargets } from './later-targets.ts';
import { VALUE_LIMITS, WORK_LIMITS } from './limits.ts';
import { inTurn, readKeyNamespace, NamespaceShares } from './namespace-shares.ts';
import { isSameOutside, outsideNames, type Outside, type OutsideReader } from './outside.ts';
import type { SettingsApprovals } from './settings-approvals.ts';
import { whyTooMany, type Allowance, type SettingsPolicies } from './policies.ts';
import { notListed, type Reflector } from './reflector.ts';
import {
  readApprovedDigest,
  parseGeneration,
  isDeleted,
  isSuspended,
  parseNamespace,
  readServerOrigin,
  sortByAge,
  parseUid,
  formatStateVersion,
  type TargetResource,
} from './target-resource.ts';
import { findStalledReason } from './unwatched.ts';

/** The shortest interval for reading a ConfigMap or an optional key again, in milliseconds. An object's own interval applies if longer. */
const READ_AGAIN = 60_000;

interface SourceTools {
  readonly outside: Pick<OutsideReader, 'find' | 'readNow' | 'refresh' | 'retain' | 'revision'>;
  readonly policies: Pick<
    SettingsPolicies,
    'in' | 'isSettled' | 'limitsTargets' | 'problem' | 'revision'
  >;
  readonly approvals: Pick<SettingsApprovals, 'findApprovals'>;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** A file with a JSON Schema that what an object declares must fit. */
  readonly policy?: string | undefined;
  /** Reports whether an object that this controller lists does not exist. */
  readonly isGone: (key: string) => boolean;
  /** Called for an object that became valid (null), or invalid by another reason. */
  readonly judged: (key: string, problem: SetpointError | null) => void;
  /** Called after each load. */
  readonly loaded: () => void;
  /** The interval of an object that names no interval, in milliseconds. */
  readonly interval: number;
}

type Objects = Pick<Reflector<TargetResource>, 'isListed' | 'objects' | 'problem' | 'revision'>;

/** An object that is to be read, and what is known for that. */
interface Unread {
  readonly key: string;
  readonly object: TargetResource;
  readonly allowance: Allowance;
  readonly outside: Outside;
}

/**
 * The SettingsTargets of a cluster as the environments of a controller, each named by its namespace and name. Invalid and suspended ones
 * are left out. A load sends no requests and takes a second at most: resources outside of the objects are read in the background, and
 * objects for which there was no time are read by the next load, those of each namespace in turn.
 */
export class ClusterSource implements SettingsSource {
  readonly kind = 'cluster';
  readonly commits = null;
  readonly #objects: Objects;
  readonly #tools: SourceTools;
  #declared: ReadonlyMap<string, ObjectDeclaration> = new Map();
  readonly #values = new SharedValues(VALUE_LIMITS.masked);
  readonly #targets = new LaterTargets();
  readonly #shares = new NamespaceShares();
  /** The time at which the outside content of an object is read again, on the monotonic clock. */
  readonly #dueOutside = new Map<string, number>();
  /** Objects that the policy of the file judges again. */
  readonly #dueJudgement = new Set<string>();
  #listeners = new Set<() => void>();
  #last = '';
  #stamped = '';
  #stampedRevision = '';
  #toldRevision = '';
  /** The number of times that there was more to load than another object. */
  #round = 0;
  /** The revision of what is outside as of the last load, and who waits for the next one. */
  #loadedOutside = 0;
  #awaitLoad: (() => void)[] = [];

  constructor(objects: Objects, tools: SourceTools) {
    this.#objects = objects;
    this.#tools = tools;
  }

  /** The number of objects that are not watched, by the reason in their status. */
  get unwatched(): ReadonlyMap<string, number> {
    const problems = [...this.#declared.values()].flatMap(({ problem }) => problem ?? []);
    const reasons = problems.map(findStalledReason);
    const asleep = [...this.#objects.objects.values()].filter(isSuspended);
    return new Map([
      ...(['Forbidden', 'Invalid', 'OverLimit'] as const).map(
        (reason) => [reason, reasons.filter((one) => one === reason).length] as const,
      ),
      ['Suspended', asleep.length],
    ]);
  }

  /** The number of objects of each namespace that are not read for lack of room. */
  get overLimit(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const [key, { problem }] of this.#declared) {
      if (!(problem instanceof OverLimit)) continue;
      const namespace = key.slice(0, key.indexOf('/'));
      counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
    }
    return counts;
  }

  /** Returns the declaration of an object as of the last load; undefined if it was not read yet, or is suspended. */
  findDeclaration(key: string): ObjectDeclaration | undefined {
    return this.#declared.get(key);
  }

  /** Returns why an object is not watched yet; null if it is watched, or nothing is known about it. */
  waiting(key: string): Waiting | null {
    const { policies } = this.#tools;
    const { problem } = policies;
    if (problem !== null) {
      const reason = policies.isSettled ? 'WaitingForPolicies' : 'Progressing';
      return { reason, message: [problem.message, problem.hint].filter(Boolean).join(' ') };
    }
    return this.#declared.get(key)?.waiting ?? null;
  }

  /** Reads again what is outside of an object. Resolves once that is what the object declares. */
  async readOutside(key: string): Promise<void> {
    const { outside } = this.#tools;
    const object = this.#objects.objects.get(key);
    if (object === undefined) return;
    await outside.readNow(parseNamespace(object), outsideNames(object));
    if (outside.revision === this.#loadedOutside) return;
    const loaded = new Promise<void>((resolve) => {
      this.#awaitLoad.push(resolve);
    });
    this.outsideChanged();
    await loaded;
  }

  /** To be called when something that objects name outside of themselves is other than before. */
  outsideChanged(): void {
    this.#round += 1;
    for (const listener of this.#listeners) listener();
  }

  /** Changes with what is declared, and with what is allowed. */
  get #revision(): string {
    return `${this.#objects.revision} ${this.#tools.policies.revision}`;
  }

  originOf(key: string): string | null {
    return readServerOrigin(this.#objects.objects.get(key));
  }

  isGone(key: string): boolean {
    return this.#tools.isGone(key);
  }

  /** The namespace of an object. */
  groupOf(key: string): string {
    return readKeyNamespace(key);
  }

  planRoom(key: string): number {
    return this.#shares.planRoom(key);
  }

  mostReads(namespace: string): number | null {
    return this.#shares.mostReads(namespace);
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
    const { policies } = this.#tools;
    const revision = this.#revision;
    // While the API server is away, the objects that were listed last stay in effect.
    if (!isListed) throw problem ?? notListed('SettingsTargets');
    // A policy that is the first to select namespaces holds once these are listed, which is soon.
    if (!policies.isSettled && this.#last !== '') return this.#last;
    if (policies.problem !== null) throw policies.problem;
    if (revision !== this.#stampedRevision) {
      const specs = [...objects].map(
        ([key, one]) => `${key} ${parseUid(one)} ${parseGeneration(one)} ${one.refused?.by ?? ''}`,
      );
      this.#stamped = [policies.revision, ...specs].join('\n');
      this.#stampedRevision = revision;
    }
    this.#refreshOutside();
    this.#last = `${this.#stamped} ${this.#round}`;
    return this.#last;
  }

  /** Has what objects name read again that was read long ago. */
  #refreshOutside(): void {
    const { clock, outside, policy } = this.#tools;
    const now = clock.monotonic();
    for (const [key, due] of this.#dueOutside) {
      const object = this.#objects.objects.get(key);
      if (now <= due) continue;
      this.#dueOutside.delete(key);
      if (object === undefined) continue;
      const { target = null, problem = null } = this.#declared.get(key) ?? {};
      this.#dueOutside.set(key, now + this.#every(target));
      outside.refresh(parseNamespace(object), outsideNames(object));
      // The file with the policy may be another one.
      if (problem === null || policy === undefined) continue;
      this.#dueJudgement.add(key);
      this.#round += 1;
    }
  }

  async load(): ReturnType<SettingsSource['load']> {
    const { outside } = this.#tools;
    this.#loadedOutside = outside.revision;
    const awaiting = this.#awaitLoad;
    this.#awaitLoad = [];
    const objects = new Map(this.#objects.objects);
    const next = new Map<string, ObjectDeclaration>();
    const unread: Unread[] = [];
    const counted = new Map<string, number>();
    const ordered = this.#tools.policies.limitsTargets ? sortByAge(objects) : objects;
    for (const [key, object] of ordered) {
      if (isSuspended(object) || isDeleted(object)) continue;
      const known = this.#findUnchanged(key, object, counted);
      if ('key' in known) unread.push(known);
      else next.set(key, known);
    }
    await this.#readInTurn(unread, next);
    outside.retain(objects.values());
    const before = this.#declared;
    this.#declared = next;
    this.#shares.take(next);
    for (const key of this.#dueOutside.keys()) if (!next.has(key)) this.#dueOutside.delete(key);
    for (const [key, { problem }] of next)
      if (problem?.message !== before.get(key)?.problem?.message) this.#tools.judged(key, problem);
    this.#tools.loaded();
    // By then it is watched.
    void setImmediate().then(() => {
      for (const done of awaiting) done();
    });
    const targets = [...next.values()].flatMap(({ target }) => (target === null ? [] : [target]));
    return {
      targets,
      declared: new Set(objects.keys()),
      commit: null,
      values: this.#values,
      broken: [],
      root: '',
      versions: new Map(
        [...next].map(([key, { generation, uid }]) => [key, formatStateVersion(generation, uid)]),
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

  /** Returns the declaration of an object if no read is needed: it is unchanged, cannot be read, or may not be read yet. */
  #findUnchanged(
    key: string,
    object: TargetResource,
    counted: Map<string, number>,
  ): ObjectDeclaration | Unread {
    const { outside, policies } = this.#tools;
    const before = this.#declared.get(key);
    const version = versionOfObject(object);
    const none = {
      ...version,
      allowance: null,
      target: null,
      problem: null,
      waiting: null,
      outside: null,
    };
    const isSame = before !== undefined && isOfVersion(before, object);
    if (object.refused !== undefined) {
      if (isSame && before.problem !== null) return before;
      return { ...none, problem: createRefusedProblem(object.refused, parseNamespace(object)) };
    }
    // Texts are judged before anything that the object names is asked for.
    const isBad = [InvalidSettings, InvalidSize].some((kind) => before?.problem instanceof kind);
    if (isSame && isBad && before.outside === null) return before;
    try {
      const texts = isSame ? [] : findTextProblems(object);
      if (texts.length > 0) return { ...none, problem: new InvalidSettings(texts) };
      const many = isSame ? null : secretsProblem(object);
      if (many !== null) return { ...none, problem: many };
      const allowance = policies.in(parseNamespace(object));
      const excess = whyTooMany(parseNamespace(object), allowance, counted);
      if (excess !== null) return { ...none, allowance, problem: excess };
      const found = outside.find(parseNamespace(object), outsideNames(object));
      const isJudged = isSame && before.allowance === allowance;
      const stays = isJudged && before.target !== null ? before : null;
      if (found.kind === 'failed') {
        if (!this.#dueOutside.has(key)) this.#readOutsideAgain(key, null);
        return stays ?? { ...none, allowance, problem: found.problem };
      }
      if (found.kind === 'reading')
        return stays ?? { ...none, allowance, waiting: createReadingWait(found.names) };
      const isRead = isJudged && before.waiting === null && before.outside !== null;
      if (isRead && isSameOutside(before.outside, found.outside) && !this.#dueJudgement.has(key))
        return before;
      return { key, object, allowance, outside: found.outside };
    } catch (thrown) {
      return { ...none, problem: asSetpointError(thrown) };
    }
  }

  /** Reads objects, one of each namespace after the other, until the time is over. The others stay as they were, and are read the next time. */
  async #readInTurn(
    unread: readonly Unread[],
    next: Map<string, ObjectDeclaration>,
  ): Promise<void> {
    const { clock } = this.#tools;
    const began = clock.monotonic();
    let paused = began;
    let left = 0;
    for (const one of inTurn(unread)) {
      const now = clock.monotonic();
      if (now - began > WORK_LIMITS.round) {
        left += 1;
        next.set(one.key, this.#unread(one, unread.length));
        continue;
      }
      if (now - paused > WORK_LIMITS.atOnce) {
        await clock.sleep(now - paused);
        paused = clock.monotonic();
      }
      this.#dueJudgement.delete(one.key);
      next.set(one.key, await this.#read(one));
    }
    // Parsing leaves many times the size of an object behind.
    if (paused > began) freeGrownMemory();
    if (left > 0) this.outsideChanged();
  }

  /** Returns the earlier declaration of an object if it is still allowed, else that the object waits for its turn. */
  #unread({ key, object, allowance }: Unread, count: number): ObjectDeclaration {
    const before = this.#declared.get(key);
    if (
      before?.uid === parseUid(object) &&
      before.allowance === allowance &&
      before.target !== null
    )
      return before;
    const message = `The object waits for its turn: ${count} objects are new or have changed.`;
    const waiting = { reason: 'Progressing', message };
    const version = versionOfObject(object);
    return { ...version, allowance, target: null, problem: null, waiting, outside: null };
  }

  async #read({ key, object, allowance, outside }: Unread): Promise<ObjectDeclaration> {
    const read = { ...versionOfObject(object), allowance, waiting: null, outside };
    try {
      const large = textProblem(outside, object);
      if (large !== null) throw large;
      const approvals = this.#findApprovals(key, object, allowance);
      const target = parseDeclaredTarget(key, object, outside, allowance, approvals);
      const problem =
        modeProblem(object, allowance) ?? (await findPolicyRefusal(target, this.#tools.policy));
      if (problem !== null) throw problem;
      if (outsideNames(object).length > 0) this.#readOutsideAgain(key, target);
      return {
        ...read,
        target: this.#later(target, key, object, outside, allowance),
        problem: null,
      };
    } catch (thrown) {
      this.#readOutsideAgain(key, null);
      return { ...read, target: null, problem: asSetpointError(thrown) };
    }
  }

  #readOutsideAgain(key: string, target: Target | null): void {
    this.#dueOutside.set(key, this.#tools.clock.monotonic() + this.#every(target));
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
    const approvals = this.#findApprovals(key, { metadata, spec }, allowance);
    const read = (): Target =>
      parseDeclaredTarget(key, { metadata, spec }, outside, allowance, approvals);
    return this.#targets.of(target, read);
  }

  #findApprovals(
    key: string,
    object: Pick<TargetResource, 'metadata' | 'spec'>,
    { requiresApproval }: Allowance,
  ): Approvals | null {
    return this.#tools.approvals.findApprovals(key, readApprovedDigest(object), requiresApproval);
  }

  #every(target: Target | null): number {
    if (target === null) return READ_AGAIN;
    return Math.max(READ_AGAIN, watchSettings(target, this.#tools.interval).interval ?? 0);
  }
}
