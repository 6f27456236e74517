import type { SetpointError } from '../../../reconciler/model/error.ts';
import type { Clock } from '../../../reconciler/model/ports.ts';
import { KubeApi, kubePath, type Cluster, type KubeRequest } from '../../cluster/kube-api.ts';

/** Milliseconds for a request with all its tries: less than the time in which a heartbeat must move. */
const WITHIN = 4_000;

const VERSION = 'coordination.k8s.io/v1';

interface LeaseList {
  readonly items?: readonly object[];
  readonly metadata?: { readonly continue?: string };
}

/** A Lease of coordination.k8s.io/v1; members that are not named here are sent back unchanged, except managedFields. */
export interface Lease {
  readonly apiVersion: 'coordination.k8s.io/v1';
  readonly kind: 'Lease';
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/** `conflict`: the object is there already, or is another version by now. `none`: it is not there. */
type LeaseAnswer =
  | { readonly kind: 'lease'; readonly lease: Lease }
  | { readonly kind: 'conflict' | 'none' };

/** The Leases of one namespace. Throws a SetpointError (lock-failed) for every answer but those. */
export class LeaseApi {
  readonly #api: KubeApi;
  readonly #path: string;

  constructor(cluster: Cluster, clock: Clock) {
    const { namespace } = cluster;
    this.#path = kubePath('/apis/coordination.k8s.io/v1', namespace, 'leases');
    this.#api = new KubeApi(cluster, clock, {
      code: 'lock-failed',
      purpose: 'keep the locks',
      what: 'leases',
      namespace,
      rule: RULE,
      offered:
        'Check the namespace that is mounted next to the token, and that the cluster offers coordination.k8s.io/v1.',
    });
  }

  get(name: string): Promise<LeaseAnswer> {
    return this.#ask({ method: 'GET', path: `${this.#path}/${name}` });
  }

  create(lease: Lease): Promise<LeaseAnswer> {
    return this.#ask({ method: 'POST', path: this.#path, body: lease });
  }

  /** Replaces the version of the object that `lease` was made of, and no other. */
  replace(lease: Lease): Promise<LeaseAnswer> {
    return this.#ask({ method: 'PUT', path: `${this.#path}/${lease.metadata.name}`, body: lease });
  }

  /** Removes one version of an object, and no other. */
  async remove(name: string, resourceVersion: string): Promise<'conflict' | 'removed'> {
    const body = { preconditions: { resourceVersion } };
    const request = {
      method: 'DELETE',
      path: `${this.#path}/${name}`,
      body,
      within: WITHIN,
    } as const;
    const { kind } = await this.#api.ask(request);
    return kind === 'conflict' ? kind : 'removed';
  }

  /** Lists the Leases that have a label. */
  async list(label: string): Promise<readonly Lease[]> {
    const leases: Lease[] = [];
    let next = '';
    do {
      const query = new URLSearchParams({ labelSelector: label, limit: '500' });
      if (next !== '') query.set('continue', next);
      const path = `${this.#path}?${query.toString()}`;
      const answer = await this.#api.ask({ method: 'GET', path, within: WITHIN });
      const list = answer.kind === 'done' ? (answer.value as LeaseList) : {};
      // Its items have no kind of their own.
      for (const item of list.items ?? []) {
        const lease = parseLease({ ...item, kind: 'Lease', apiVersion: VERSION });
        if (lease !== null) leases.push(lease);
      }
      next = list.metadata?.continue ?? '';
    } while (next !== '');
    return leases;
  }

  close(): Promise<void> {
    return this.#api.close();
  }

  async #ask(request: Omit<KubeRequest, 'within'>): Promise<LeaseAnswer> {
    const answer = await this.#api.ask({ ...request, within: WITHIN });
    if (answer.kind === 'conflict' || answer.kind === 'none') return { kind: answer.kind };
    const lease = answer.kind === 'done' ? parseLease(answer.value) : null;
    if (lease === null) throw this.#api.notApi() satisfies SetpointError;
    return { kind: 'lease', lease };
  }
}

function parseLease(answer: unknown): Lease | null {
  const value = answer as Partial<Lease> | null;
  if (value?.kind !== 'Lease' || typeof value.metadata?.resourceVersion !== 'string') return null;
  // Thousands of them are stored. The API server leaves managedFields unchanged if they are absent.
  const { managedFields: _, ...metadata } = value.metadata as Lease['metadata'] & {
    readonly managedFields?: unknown;
  };
  return { ...value, metadata, spec: value.spec ?? {} } as Lease;
}

const RULE =
  'Bind a Role to it with apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, list, create, update, delete]; examples/kubernetes/watch has one.';
