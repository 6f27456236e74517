import { hostname } from 'node:os';
import { SetpointError } from '../../../reconciler/model/error.ts';
import type { Clock } from '../../../reconciler/model/ports.ts';
import { claimLocks } from './claim-locks.ts';
import {
  newHolder,
  createLeaseName,
  type Claim,
  type ClaimStore,
  type Pace,
  type HeartbeatState,
  type OwnTime,
} from './presence.ts';
import type { Cluster } from '../../cluster/kube-api.ts';
import { LeaseApi, type Lease } from './lease-api.ts';
import type { Locks } from './locks.ts';

/** As client-go elects leaders. */
const PACE: Pace = { ttl: 15_000, renewEvery: 2_000, lostAfter: 10_000 };

/** The annotation with the name of a lock, and the kind of the object if it is one. */
const LOCK_ANNOTATION = 'setpoint-environment';
const KIND_LABEL = 'setpoint.dev/lock-of';

/** Milliseconds between the first requests of two takes, after so many that need not wait. */
const BETWEEN_READS = 20;
const AT_ONCE = 25;

/**
 * Locks in a Kubernetes cluster: a Lease for each, and one for this process, which is its heartbeat. Only that one is renewed, every two
 * seconds; the Lease of a lock is written when it is taken, released, or about to be used, so thousands of locks cost no more.
 */
export function leaseLocks(
  cluster: Cluster,
  clock: Clock,
  { pace = PACE, time, kind }: LeaseOptions = {},
): Locks {
  return claimLocks(new ClaimLeases(new LeaseApi(cluster, clock), clock, pace, kind), clock, time);
}

interface LeaseOptions {
  readonly pace?: Pace;
  readonly time?: OwnTime;
  /** The kind of the objects that the locks are for: it distinguishes their Leases from those of environments. */
  readonly kind?: string;
}

/** `resourceVersion` makes each write one that replaces exactly what was read: of two writers, one gets a conflict. */
class ClaimLeases implements ClaimStore<Lease> {
  readonly pace: Pace;
  readonly #api: LeaseApi;
  readonly #clock: Clock;
  readonly #kind: string | undefined;
  readonly #heartbeats = new Map<string, Lease>();
  #writes = 0;
  #nextRead = Number.NEGATIVE_INFINITY;

  constructor(api: LeaseApi, clock: Clock, pace: Pace, kind: string | undefined) {
    this.#api = api;
    this.#clock = clock;
    this.pace = pace;
    this.#kind = kind;
  }

  async begin(): Promise<string> {
    const holder = newHolder(hostname(), process.pid, crypto.randomUUID());
    const lease = await this.#put(newLease(heartbeatName(holder) ?? holder), {
      ...this.#createRenewal(),
      holderIdentity: holder,
      acquireTime: this.#now(),
      leaseTransitions: 0,
    });
    if (lease === null) {
      throw new SetpointError('lock-failed', 'The heartbeat of this process already exists.');
    }
    this.#heartbeats.set(holder, lease);
    return holder;
  }

  async beat(holder: string): Promise<boolean> {
    return this.#rewrite(holder, holder);
  }

  async end(holder: string): Promise<void> {
    await this.#rewrite(holder, undefined);
    this.#heartbeats.delete(holder);
  }

  /** Another client may have changed a label in between: then the Lease is read and written once more. */
  async #rewrite(holder: string, identity: string | undefined): Promise<boolean> {
    let heartbeat = this.#heartbeats.get(holder);
    for (let tries = 0; heartbeat !== undefined && tries < 3; tries += 1) {
      const { spec } = heartbeat;
      const renewed = { ...spec, ...this.#createRenewal(), holderIdentity: identity };
      const written = await this.#put(heartbeat, renewed);
      if (written !== null) {
        this.#heartbeats.set(holder, written);
        return true;
      }
      const answer = await this.#api.get(heartbeat.metadata.name);
      const found = answer.kind === 'lease' ? answer.lease : undefined;
      heartbeat = found?.spec.holderIdentity === holder ? found : undefined;
    }
    this.#heartbeats.delete(holder);
    return false;
  }

  async heartbeatOf(holder: string): Promise<HeartbeatState> {
    const name = heartbeatName(holder);
    const answer = name === null ? null : await this.#api.get(name);
    if (answer?.kind !== 'lease') return { kind: 'missing' };
    const { metadata, spec } = answer.lease;
    if (spec.holderIdentity !== holder) return { kind: 'ended' };
    const ttl = (spec.leaseDurationSeconds ?? 0) * 1000;
    return { kind: 'alive', text: metadata.resourceVersion ?? '', ttl: Math.max(ttl, 1) };
  }

  async removeHeartbeat(holder: string, state: HeartbeatState): Promise<boolean> {
    const name = heartbeatName(holder);
    if (name === null || state.kind === 'missing') return true;
    if (state.kind === 'alive') return (await this.#api.remove(name, state.text)) === 'removed';
    const answer = await this.#api.get(name);
    if (answer.kind === 'lease') {
      await this.#api.remove(name, answer.lease.metadata.resourceVersion ?? '');
    }
    return true;
  }

  async read(name: string): Promise<Claim<Lease> | null> {
    await this.#turn();
    const answer = await this.#api.get(createLeaseName(name));
    return answer.kind === 'lease' ? createLeaseClaim(answer.lease) : null;
  }

  async claim(
    name: string,
    former: Claim<Lease> | null,
    holder: string | null,
  ): Promise<Claim<Lease> | null> {
    const lease = this.#addKindLabel(former?.version ?? newLease(createLeaseName(name), name));
    const { holderIdentity, leaseTransitions = 0, acquireTime } = lease.spec;
    const isSame = holder === null || holderIdentity === holder;
    const written = await this.#put(lease, {
      ...this.#createRenewal(),
      holderIdentity: holder ?? undefined,
      acquireTime: isSame ? acquireTime : this.#now(),
      leaseTransitions: isSame || former === null ? leaseTransitions : leaseTransitions + 1,
    });
    return written === null ? null : createLeaseClaim(written);
  }

  async remove(_: string, { version: { metadata } }: Claim<Lease>): Promise<void> {
    await this.#turn();
    await this.#api.remove(metadata.name, metadata.resourceVersion ?? '');
  }

  async list() {
    const kind = this.#kind;
    const leases = kind === undefined ? [] : await this.#api.list(`${KIND_LABEL}=${kind}`);
    return leases.flatMap((lease) => {
      const { annotations = {}, labels = {} } = lease.metadata;
      const name = annotations[LOCK_ANNOTATION];
      return name === undefined || labels[KIND_LABEL] !== kind
        ? []
        : [{ name, claim: createLeaseClaim(lease) }];
    });
  }

  #addKindLabel(lease: Lease): Lease {
    if (this.#kind === undefined) return lease;
    const labels = { ...lease.metadata.labels, [KIND_LABEL]: this.#kind };
    return { ...lease, metadata: { ...lease.metadata, labels } };
  }

  close(): Promise<void> {
    return this.#api.close();
  }

  /** Writes a Lease in the place of what was read of it. Null if that is another one by now. */
  async #put(former: Lease, spec: Undefinable<Lease['spec']>): Promise<Lease | null> {
    const lease = { ...former, spec } as Lease;
    const isNew = former.metadata.resourceVersion === undefined;
    const answer = await (isNew ? this.#api.create(lease) : this.#api.replace(lease));
    if (answer.kind === 'lease') return answer.lease;
    if (answer.kind === 'none') return null;
    // The conflict may be with this very write, if its answer was lost and it was sent again.
    const now = await this.#api.get(lease.metadata.name);
    return now.kind === 'lease' && isLeaseWritten(now.lease, lease) ? now.lease : null;
  }

  #createRenewal(): Pick<Lease['spec'], 'leaseDurationSeconds' | 'renewTime'> {
    return { leaseDurationSeconds: Math.ceil(this.pace.ttl / 1000), renewTime: this.#now() };
  }

  /** For people: it is never compared with a clock. Its microseconds, which the API requires, distinguish the writes of this process. */
  #now(): string {
    this.#writes = (this.#writes + 1) % 1000;
    const microseconds = String(this.#writes).padStart(3, '0');
    return new Date(this.#clock.now()).toISOString().replace('Z', `${microseconds}Z`);
  }

  async #turn(): Promise<void> {
    const now = this.#clock.monotonic();
    const turn = Math.max(now - AT_ONCE * BETWEEN_READS, this.#nextRead);
    this.#nextRead = turn + BETWEEN_READS;
    if (turn > now) await this.#clock.sleep(turn - now);
  }
}

type Undefinable<T> = { readonly [K in keyof T]: T[K] | undefined };

function newLease(name: string, lock?: string): Lease {
  const labels = { 'app.kubernetes.io/managed-by': 'setpoint' };
  const annotations = lock === undefined ? {} : { [LOCK_ANNOTATION]: lock };
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, labels, annotations },
    spec: {},
  };
}

function createLeaseClaim(version: Lease): Claim<Lease> {
  const { metadata, spec } = version;
  const { holderIdentity = '' } = spec;
  if (holderIdentity === '') return { version, holder: null };
  // A foreign program renews this Lease itself: it lives as long as the Lease changes.
  const isForeign = heartbeatName(holderIdentity) === null;
  const foreign = `${metadata.name}#${metadata.resourceVersion ?? ''}`;
  return { version, holder: isForeign ? foreign : holderIdentity };
}

/** The name of the Lease that is the heartbeat of a holder; null if the holder is not one of this program. */
function heartbeatName(holder: string): string | null {
  const uuid = /_([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/.exec(holder)?.[1];
  return uuid === undefined ? null : `setpoint-controller-${uuid}`;
}

function isLeaseWritten({ spec }: Lease, sent: Lease): boolean {
  return spec.holderIdentity === sent.spec.holderIdentity && spec.renewTime === sent.spec.renewTime;
}
