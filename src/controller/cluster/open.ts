import { asSetpointError, type SetpointError } from '../../reconciler/model/error.ts';
import type { Clock, Variables } from '../../reconciler/model/ports.ts';
import { formatCount, namesListed } from '../../reconciler/model/wording.ts';
import type { WatchState } from '../../reconciler/model/watch.ts';
import { SYSTEM_CLOCK } from '../../reconciler/host/this-process.ts';
import type { Controller } from '../watch/controller.ts';
import { INTERVAL, openController, type ControllerRequest } from '../watch/open-controller.ts';
import { approvalDigest, whyNotHealed } from '../watch/healing.ts';
import { STATE_KEY } from '../watch/conditions.ts';
import type { Listener } from '../watch/watching.ts';
import { SettingsApprovals } from './settings-approvals.ts';
import { serviceVariables } from './service-variables.ts';
import { WriteHistory } from './write-history.ts';
import { KubeApi, type Cluster } from './kube-api.ts';
import { SettingsPolicies } from './policies.ts';
import { Reflector } from './reflector.ts';
import { OutsideReader } from './outside.ts';
import type { Waiting } from './declared.ts';
import { ReadRequests } from './read-requests.ts';
import { ClusterSecrets } from './secrets.ts';
import { ClusterSource } from './cluster-source.ts';
import {
  isDeleted,
  listRivals,
  targetPath,
  versionNow,
  type TargetResource,
} from './target-resource.ts';
import { newReason, WAITING, type TargetState } from './status.ts';
import { findStalledReason, whyInvalid } from './unwatched.ts';
import { loadStateKey } from './state-key.ts';
import { ClusterFingerprints } from './status-fingerprints.ts';
import { StatusWriter } from './status-writer.ts';
import { EventWriter, describeTransition } from './events.ts';

/** Milliseconds before the key of the fingerprints is asked for again. */
const KEY_AGAIN = 60_000;

/** The time that the start waits for the first list, in milliseconds. */
const FIRST = 10_000;

const RULE =
  'Bind a Role to it with apiGroups: [setpoint.dev], resources: [settingstargets], verbs: [get, list, watch], and settingstargets/status with patch.';

/** The request for a controller of SettingsTargets. `namespace` is the one whose objects it watches; null is all of them. */
export interface ClusterRequest extends Omit<ControllerRequest, 'request' | 'source'> {
  readonly cluster: Cluster;
  readonly namespace: string | null;
  readonly env: Variables;
  /** A file with a JSON Schema that what objects declare must fit. */
  readonly policy?: string | undefined;
  /** The Secret of its own namespace with the key of the fingerprints. Default: SETPOINT_STATE_KEY has it, or there is none. */
  readonly stateSecret?: string | undefined;
  readonly strict?: boolean | undefined;
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A controller of SettingsTargets: the same as of files, with objects of the cluster as its environments, and its findings in their status. */
export class ClusterController {
  readonly controller: Controller;
  readonly #objects: Reflector<TargetResource>;
  readonly #policies: SettingsPolicies;
  readonly #approvals: SettingsApprovals;
  readonly #source: ClusterSource;
  readonly #api: KubeApi;
  readonly #writer: StatusWriter;
  readonly #events: EventWriter;
  readonly #clock: Clock;
  readonly #report: NonNullable<ClusterRequest['report']>;
  readonly #signal: AbortSignal | undefined;
  readonly #variables: Record<string, string | undefined>;
  readonly #stateSecret: { readonly namespace: string; readonly name: string } | null;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  readonly #requests: ReadRequests;
  /** The version of each object when it was last looked at. Another version since then means that a user has acted. */
  readonly #versions = new Map<string, string>();
  readonly #edited = new Set<string>();
  /** The objects whose server this process has read. */
  readonly #read = new Set<string>();
  readonly #applied: WriteHistory;

  constructor(request: ClusterRequest) {
    const { cluster, namespace, env, clock = SYSTEM_CLOCK, data } = request;
    const { signal, strict, timeout } = request;
    this.#clock = clock;
    this.#report = request.report ?? (() => {});
    this.#signal = signal;
    this.#variables = serviceVariables(env);
    const own = request.stateSecret ?? null;
    this.#stateSecret = own === null ? null : { namespace: cluster.namespace, name: own };
    this.#api = createTargetApi(cluster, clock, namespace);
    const reflecting = { clock, random: request.random ?? Math.random };
    this.#objects = new Reflector(this.#api, targetPath(namespace), {
      ...reflecting,
      changed: (key) => this.#handleChange(key),
      pathIn: targetPath,
    });
    this.#policies = new SettingsPolicies({
      api: this.#api,
      ...reflecting,
      changed: () => this.#handleChange(null),
    });
    this.#approvals = new SettingsApprovals({
      api: this.#api,
      ...reflecting,
      namespace,
      changed: (key) => this.#approvalChanged(key),
      problem: (message) => this.controller.conditions.set('cluster', message, 'approvals'),
    });
    this.#applied = new WriteHistory(this.#approvals);
    const secrets = new ClusterSecrets(this.#api);
    this.#source = this.#createSource(request, secrets);
    const fingerprints = new ClusterFingerprints(this.#api, this.#objects);
    this.controller = openController({
      ...request,
      // Its status has the reason.
      late: (key) => this.#writer.lookLater(key),
      source: this.#source,
      request: {
        env: this.#variables,
        fingerprints: (key) => fingerprints.of(key),
        checkout: { from: 'cluster', root: '.', state: data },
        sharedSecrets: secrets,
        strict,
        timeout,
        signal,
      },
    });
    this.#writer = this.#createStatusWriter();
    this.#events = new EventWriter({
      api: this.#api,
      clock,
      problem: (message) => this.controller.conditions.set('cluster', message, 'events'),
    });
    this.#requests = this.#createReadRequests();
    this.controller.subscribe(this.#found);
  }

  #createSource(request: ClusterRequest, secrets: ClusterSecrets): ClusterSource {
    const { namespace, interval = INTERVAL } = request;
    const clock = this.#clock;
    const outside = new OutsideReader({
      api: this.#api,
      secretKeys: (...named) => secrets.listKeys(...named),
      clock,
      changed: () => this.#source.outsideChanged(),
    });
    return new ClusterSource(this.#objects, {
      outside,
      policies: this.#policies,
      approvals: this.#approvals,
      clock,
      policy: request.policy,
      isGone: (key) => isWatchedName(namespace, key) && this.#objects.isGone(key),
      judged: (key, problem) => this.#handleVerdict(key, problem),
      loaded: () => this.#showLimits(),
      interval,
    });
  }

  #createStatusWriter(): StatusWriter {
    return new StatusWriter({
      api: this.#api,
      objects: this.#objects,
      clock: this.#clock,
      known: (key, object) => this.#buildTargetState(key, object),
      written: (object, before, now) => {
        const found = newReason(before, now);
        if (found === null) return;
        const { reason, message: note } = found;
        this.#events.write(object, { type: 'Warning', reason, note });
      },
      problem: (message) => this.controller.conditions.set('cluster', message, 'status'),
    });
  }

  #createReadRequests(): ReadRequests {
    const { controller } = this;
    return new ReadRequests({
      clock: this.#clock,
      signal: this.#stop.signal,
      exists: (key) => this.#objects.objects.has(key),
      untilReadable: (key) =>
        controller.state(key) === undefined ? null : controller.untilReadable(key),
      readOutside: (key) => this.#source.readOutside(key),
      readNow: (key) => {
        if (controller.state(key) !== undefined) void controller.readNow(key);
      },
    });
  }

  /** Lists the objects, if the API server answers soon, and begins the controller. */
  async begin(): Promise<void> {
    const { signal } = this.#stop;
    this.#signal?.addEventListener('abort', () => this.#stop.abort(), { once: true });
    if (this.#signal?.aborted === true) this.#stop.abort();
    this.#running = Promise.all([
      this.#objects.run(signal),
      this.#policies.run(signal),
      this.#approvals.run(signal),
      this.#writer.run(signal),
    ]);
    const until = this.#clock.monotonic() + FIRST;
    const isOver = (): boolean =>
      (this.#objects.isListed && this.#policies.isSettled) || this.#objects.problem !== null;
    while (!isOver() && !signal.aborted && this.#clock.monotonic() < until)
      await this.#clock.sleep(20);
    if (this.#stateSecret !== null && !(await this.#findStateKey()))
      this.#running = Promise.all([this.#running, this.#findStateKeyLater()]);
    await this.controller.begin();
    this.#writer.lookAtAll();
  }

  /** Reads the key of the fingerprints from its Secret. Reports whether it could; if not, a condition has the reason. */
  async #findStateKey(): Promise<boolean> {
    const { conditions } = this.controller;
    try {
      const { namespace, name } = this.#stateSecret ?? { namespace: '', name: '' };
      this.#variables['SETPOINT_STATE_KEY'] = await loadStateKey(this.#api, namespace, name);
      conditions.set('cluster', null, STATE_KEY);
      return true;
    } catch (thrown) {
      const { message, hint } = asSetpointError(thrown);
      conditions.set('cluster', [message, hint].filter(Boolean).join(' '), STATE_KEY);
      return false;
    }
  }

  async #findStateKeyLater(): Promise<void> {
    const { signal } = this.#stop;
    do await this.#clock.sleep(KEY_AGAIN, signal);
    while (!signal.aborted && !(await this.#findStateKey()));
  }

  /** Watches until the signal of the request fires. */
  async run(): Promise<void> {
    try {
      await this.controller.run();
    } finally {
      this.#stop.abort();
      await this.#running;
      await this.#events.end();
      await this.#api.close();
    }
  }

  /** The number of statuses written since the start. */
  get statusWrites(): number {
    return this.#writer.writes;
  }

  #handleChange(key: string | null): void {
    this.#source.objectsChanged();
    if (key === null) this.#writer.lookAtAll();
    else this.#writer.look(key);
    if (key === null)
      for (const one of this.#versions.keys())
        if (!this.#objects.objects.has(one)) this.#forget(one);
    for (const one of key === null ? this.#objects.objects.keys() : [key]) {
      const object = this.#objects.objects.get(one);
      if (object === undefined) {
        this.#forget(one);
      } else {
        const version = versionNow(object);
        if ((this.#versions.get(one) ?? version) !== version) this.#edited.add(one);
        this.#versions.set(one, version);
        this.#requests.take(one, object);
      }
    }
  }

  #forget(key: string): void {
    this.#requests.forget(key);
    for (const known of [this.#read, this.#applied, this.#versions, this.#edited])
      known.delete(key);
  }

  readonly #found: Listener = (state, event) => {
    const key = state.name;
    const object = this.#objects.objects.get(key);
    if (object === undefined) return;
    if (event.kind === 'read') {
      this.#requests.recordEnd(key, event.seconds);
      if ((this.#source.findDeclaration(key)?.problem ?? null) === null) this.#read.add(key);
      if (state.commit === versionNow(object) && this.#edited.delete(key)) this.#resume(state);
    }
    const applied = event.kind === 'write' ? this.#applied.add(object, state, event) : null;
    if (state.heldBy === null && (event.kind === 'state' || applied !== null))
      this.#approvals.report(key, state, applied);
    this.#writer.look(key);
    const what = state.heldBy === null ? describeTransition(state, event) : null;
    if (what !== null) this.#events.write(object, what);
  };

  /** Has a target read at once if an approval covers its plan, and writes the status of its approvals. */
  #approvalChanged(key: string): void {
    const state = this.controller.state(key);
    if (state?.settings.approvals?.covers(approvalDigest(state)) === true && state.plan !== null)
      void this.controller.readNow(key).catch(() => {});
    this.#writer.look(key);
    if ((state?.heldBy ?? null) === null) this.#approvals.report(key, state ?? null);
  }

  /** Returns why an object that is due is not read. */
  #waitingInQueue(key: string): Waiting | null {
    const message = this.controller.whyWaiting(key);
    return message === null ? null : { reason: WAITING, message };
  }

  /** Lets one be healed again in which healing had stopped. */
  #resume({ name, stopped, heldBy }: WatchState): void {
    if (stopped === null || heldBy !== null) return;
    const resumed = this.controller.resume([name], 'a change of the object');
    void resumed.then(() => this.controller.readNow(name)).catch(() => {});
  }

  /** Reports on an object that is not watched: it is not an environment, so nothing else does. */
  #handleVerdict(key: string, problem: SetpointError | null): void {
    this.#writer.look(key);
    const object = this.#objects.objects.get(key);
    if (problem === null || object === undefined) return;
    // Once it is valid again, what is remembered of it may be old.
    this.#read.delete(key);
    const message = `It is not watched: ${whyInvalid(problem)}`;
    this.#report({ severity: 'warning', message, environment: key });
  }

  /** Shows which namespaces are at a limit. */
  #showLimits(): void {
    const refused = [...this.#source.overLimit].map(
      ([namespace, count]) => `${namespace} (${formatCount(count, 'object')})`,
    );
    const unknown = [...this.#objects.unknown].map(
      ([namespace, count]) => `${namespace} (${formatCount(count, 'object')} without a status)`,
    );
    const all = [...refused, ...unknown];
    const message = `At a limit of the controller: ${namesListed(all)}. Their newest SettingsTargets are not read.`;
    this.controller.conditions.set('cluster', all.length === 0 ? null : message, 'limits');
  }

  #buildTargetState(key: string, object: TargetResource): TargetState | null {
    const state = this.controller.state(key) ?? null;
    // The holder of the lock reports; an object that is being deleted is not reported.
    if (isDeleted(object) || (state !== null && state.heldBy !== null)) return null;
    const problem = this.#source.findDeclaration(key)?.problem ?? null;
    const notHealed =
      state === null
        ? null
        : whyNotHealed(state, this.controller.conditions.list(), this.#clock.now());
    return {
      object,
      state,
      isRead: this.#read.has(key),
      invalid:
        problem === null
          ? null
          : { reason: findStalledReason(problem), message: whyInvalid(problem) },
      waiting: this.#source.waiting(key) ?? this.#waitingInQueue(key),
      handled: this.#requests.findHandled(key),
      applied: this.#applied.of(key),
      notHealed,
      rivals: isRivalled(state) ? listRivals(object, this.#objects.objects) : [],
    };
  }
}

/** Reports whether a name is that of an object that a controller of a namespace lists; null is all namespaces. */
function isWatchedName(watched: string | null, name: string): boolean {
  const [namespace, ...rest] = name.split('/');
  return rest.length === 1 && (watched === null || watched === namespace);
}

/** Reports whether another client writes what is healed. */
function isRivalled(state: WatchState | null): boolean {
  return state !== null && state.stopped !== null && state.stopped.cause !== 'server';
}

/** The API for SettingsTargets, in the words of an error that they cannot be read. */
function createTargetApi(
  cluster: ClusterRequest['cluster'],
  clock: Clock,
  namespace: string | null,
): KubeApi {
  const what = 'SettingsTargets';
  return new KubeApi(cluster, clock, {
    code: 'cluster-failed',
    purpose: `read ${what}`,
    what,
    namespace,
    rule: RULE,
    offered: 'Install their definition: setpoint render crd | kubectl apply -f -',
  });
}
