import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { Pool } from 'undici';
import { SetpointError } from '../../../reconciler/model/error.ts';
import type { Clock, Variables } from '../../../reconciler/model/ports.ts';
import { VERSION } from '../../../reconciler/model/version.ts';
import { readOptional, readText } from '../../../reconciler/host/read-text.ts';
import {
  exchange,
  headerOf,
  type Method,
  type WireAnswer,
} from '../../../reconciler/service/exchange.ts';
import type { WireFault } from '../../../reconciler/service/fault-error.ts';

/** Where the API server of the cluster is that this process runs in, and the folder with the token of its service account. */
export interface Cluster {
  readonly origin: string;
  readonly folder: string;
  readonly namespace: string;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const LARGEST_FILE = 1024 * 1024;
const LARGEST_ANSWER = 1024 * 1024;
/** Milliseconds for a request with all its tries: less than the time in which a heartbeat must move. */
const WITHIN = 4_000;

/** Null if this process does not run in a cluster, or its pod mounts no token. */
export function clusterHere(variables: Variables): Cluster | null {
  const {
    KUBERNETES_SERVICE_HOST: host = '',
    KUBERNETES_SERVICE_PORT: port = '443',
    SETPOINT_SERVICE_ACCOUNT: folder = SERVICE_ACCOUNT,
  } = variables;
  if (host === '' || readOptional(join(folder, 'token'), LARGEST_FILE) === null) return null;
  return {
    origin: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    folder,
    namespace: readOptional(join(folder, 'namespace'), LARGEST_FILE)?.trim() ?? 'default',
  };
}

/** A Lease of coordination.k8s.io/v1; members that are not named here are sent back as they came. */
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
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  #network: { readonly ca: string; readonly pool: Pool } | null = null;

  constructor(cluster: Cluster, clock: Clock) {
    this.#cluster = cluster;
    this.#clock = clock;
  }

  get(name: string): Promise<LeaseAnswer> {
    return this.#ask('GET', name, null);
  }

  create(lease: Lease): Promise<LeaseAnswer> {
    return this.#ask('POST', null, lease);
  }

  /** Replaces the version of the object that `lease` was made of, and no other. */
  replace(lease: Lease): Promise<LeaseAnswer> {
    return this.#ask('PUT', lease.metadata.name, lease);
  }

  /** Removes one version of an object, and no other. */
  async remove(name: string, resourceVersion: string): Promise<'conflict' | 'removed'> {
    const { kind } = await this.#ask('DELETE', name, { preconditions: { resourceVersion } });
    return kind === 'conflict' ? kind : 'removed';
  }

  async close(): Promise<void> {
    await this.#network?.pool.destroy();
  }

  async #ask(method: Method, name: string | null, body: unknown): Promise<LeaseAnswer> {
    const { namespace } = this.#cluster;
    const until = this.#clock.monotonic() + WITHIN;
    for (let tries = 1; ; tries += 1) {
      const left = until - this.#clock.monotonic();
      const answer = await this.#send(method, name, body, Math.max(1, left));
      if (answer.kind === 'reply') {
        if (answer.status === 409) return { kind: 'conflict' };
        if (answer.status === 404 && method !== 'POST') return { kind: 'none' };
        if (answer.status >= 200 && answer.status < 300) return leaseIn(answer, method);
      }
      const after = answer.kind === 'reply' ? headerOf(answer.headers, 'retry-after') : undefined;
      const pause = pauseOf(answer, after, tries);
      if (pause === null || this.#clock.monotonic() + pause >= until) {
        throw answer.kind === 'reply'
          ? statusError(method, answer.status, namespace)
          : unreached(answer.fault);
      }
      await this.#clock.sleep(pause);
    }
  }

  async #send(
    method: Method,
    name: string | null,
    body: unknown,
    total: number,
  ): Promise<WireAnswer> {
    const { origin, namespace } = this.#cluster;
    const path = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
    return exchange(this.#pool(), origin, {
      method,
      path: name === null ? path : `${path}/${name}`,
      headers: {
        accept: 'application/json',
        // The token is replaced by and by: it is read for each request.
        authorization: `Bearer ${this.#file('token').trim()}`,
        'user-agent': `setpoint/${VERSION}`,
        ...(body === null ? {} : { 'content-type': 'application/json' }),
      },
      body: body === null ? null : JSON.stringify(body),
      deadlines: { connect: total, headers: total, total },
      largestBody: LARGEST_ANSWER,
      signal: undefined,
      wantsBody: (status) => status >= 200 && status < 300,
      onSent: () => {},
    });
  }

  /** The authority is replaced, too, though rarely. */
  #pool(): Pool {
    const ca = this.#file('ca.crt');
    if (this.#network?.ca !== ca) {
      void this.#network?.pool.close();
      const connect = { ca, rejectUnauthorized: true, timeout: WITHIN };
      // Without a limit of its own undici asks node:http for one, which the command leaves out.
      const options = { connect, connections: 4, maxHeaderSize: 16_384 };
      this.#network = { ca, pool: new Pool(this.#cluster.origin, options) };
    }
    return this.#network.pool;
  }

  #file(name: string): string {
    const path = join(this.#cluster.folder, name);
    try {
      const read = readText(path, LARGEST_FILE);
      if ('text' in read) return read.text;
      throw new SetpointError('file-unreadable', `${path} is not a text.`);
    } catch (thrown) {
      throw new SetpointError(
        'lock-failed',
        `The service account cannot be used: ${path} cannot be read.`,
        {
          hint: 'Let the pod mount the token of its service account (automountServiceAccountToken).',
          cause: thrown,
        },
      );
    }
  }
}

function leaseIn(answer: WireAnswer, method: Method): LeaseAnswer {
  // Removed; what is answered then is a Status or the object.
  if (method === 'DELETE') return { kind: 'none' };
  const lease = leaseFrom(answer);
  if (lease !== null) return { kind: 'lease', lease };
  throw new SetpointError('lock-failed', 'What answers at the address of the API server is none.', {
    hint: 'Check KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT.',
  });
}

function leaseFrom(answer: WireAnswer): Lease | null {
  if (answer.kind !== 'reply' || !(answer.body instanceof Uint8Array)) return null;
  try {
    const value = JSON.parse(Buffer.from(answer.body).toString('utf8')) as Partial<Lease> | null;
    if (value?.kind !== 'Lease' || typeof value.metadata?.resourceVersion !== 'string') return null;
    return { ...value, spec: value.spec ?? {} } as Lease;
  } catch {
    return null;
  }
}

const RULE =
  'Bind a Role to it with apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, create, update, delete]; examples/kubernetes/watch has one.';

/** Milliseconds until a request is sent again; null if that would not help. */
export function pauseOf(
  answer: WireAnswer,
  retryAfter: string | undefined,
  tries: number,
): number | null {
  const usual = 100 * 2 ** tries;
  if (answer.kind === 'fault') return answer.fault.kind === 'tls' ? null : usual;
  const { status } = answer;
  // A token that has just been replaced is read anew.
  if (status === 401) return tries === 1 ? usual : null;
  if (status !== 429 && status !== 410 && status < 500) return null;
  const seconds = Number(retryAfter ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.max(usual, seconds * 1000) : usual;
}

/** The error of a status. What the answer says besides is not repeated. */
export function statusError(method: Method, status: number, namespace: string): SetpointError {
  const because = ` (${status}).`;
  switch (status) {
    case 401:
      return apiFailed(
        `The API server refuses the token of this service account${because}`,
        'Check that the service account exists, and that the pod mounts its token.',
      );
    case 403:
      return apiFailed(
        `The API server does not let this service account ${VERBS[method] ?? 'use'} leases in the namespace ${namespace}${because}`,
        RULE,
      );
    case 404:
      return apiFailed(
        `The API server has no namespace ${namespace}, or no leases in it${because}`,
        'Check the namespace that is mounted beside the token, and that the cluster offers coordination.k8s.io/v1.',
      );
    case 429:
      return apiFailed(
        `The API server refuses requests because there are too many${because}`,
        'Watch fewer environments with one controller, or more seldom.',
      );
    default:
      return apiFailed(
        `The API server cannot keep the locks${because}`,
        'Check the API server; nothing is written without a lock.',
      );
  }
}

const VERBS: Partial<Record<Method, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  DELETE: 'delete',
};

export function unreached(fault: WireFault): SetpointError {
  if (fault.kind === 'tls') {
    return apiFailed(
      'The certificate of the API server cannot be trusted.',
      'ca.crt beside the token must be the authority of the cluster.',
      fault.cause,
    );
  }
  return apiFailed(
    fault.kind === 'timeout'
      ? 'The API server did not answer in time.'
      : 'The API server cannot be reached.',
    'Check that the network policy lets this pod reach the API server.',
    fault.cause,
  );
}

function apiFailed(message: string, hint: string, cause?: Error): SetpointError {
  return new SetpointError('lock-failed', message, { hint, cause });
}
