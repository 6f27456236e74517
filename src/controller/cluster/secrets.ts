import { asSetpointError, SetpointError } from '../../reconciler/model/error.ts';
import type { RequestedValue, SecretRequest } from '../../reconciler/model/ports.ts';
import { withoutStop } from '../../reconciler/model/wording.ts';
import type { RequestedSecrets } from '../../reconciler/host/reference-source.ts';
import { freeGrownMemory } from '../../reconciler/host/this-process.ts';
import { secretLabel } from '../../reconciler/kubernetes/secret-keys.ts';
import { formatBytes, VALUE_LIMITS } from './limits.ts';
import { KubeForbidden, kubePath, type KubeApi } from './kube-api.ts';
import type { KubeResource } from './stored-object.ts';

/** Milliseconds for one Secret, with all its tries. */
const WITHIN = 10_000;

const RULE =
  'Bind a Role to it with resources: [secrets], verbs: [get]; setpoint render prints one that names them.';

/** The annotation by which a Secret limits where its values may be sent: origins, comma-separated. */
export const PINNED = 'setpoint.dev/allowed-origins';

type SecretText = { readonly text: string } | { readonly problem: string };

interface KubeSecret extends KubeResource {
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * The values of Secrets for the runs of a controller. A Secret is read by its name when a run requests it, and dropped after the run. A
 * Secret that names origins gives its values to objects of those alone. If the API server does not answer, the run fails.
 */
export class ClusterSecrets {
  readonly #api: Pick<KubeApi, 'ask'>;

  constructor(api: Pick<KubeApi, 'ask'>) {
    this.#api = api;
  }

  forRun(): RequestedSecrets {
    const found = new Map<string, RequestedValue>();
    return {
      request: async (requests) => {
        let room = VALUE_LIMITS.ofRun;
        // One Secret after the other: no more than one is in memory.
        for (const ofSecret of groupSecretRequests(requests)) {
          const [[, first]] = ofSecret;
          const secret = await this.#read(first);
          // An answer of a megabyte leaves several behind.
          freeGrownMemory();
          for (const [text, request] of ofSecret) {
            const value = this.#readValue(secret, request);
            room -= 'text' in value ? value.text.length : 0;
            const held = room < 0 ? { problem: TOO_MUCH } : value;
            found.set(text, { ref: secretLabel(request), ...held });
          }
        }
      },
      valueFor: (text) => found.get(text) ?? null,
    };
  }

  /** The keys of a Secret; null if there is none. Throws if that cannot be known. */
  async listKeys(namespace: string, name: string): Promise<ReadonlySet<string> | null> {
    const found = await this.#get({ namespace, name });
    return found === null ? null : new Set(Object.keys(found.data ?? {}));
  }

  async #read({
    namespace,
    name,
  }: Pick<SecretRequest, 'name' | 'namespace'>): Promise<
    KubeSecret | { readonly problem: string }
  > {
    try {
      const found = await this.#get({ namespace, name });
      if (found !== null) return found;
      return { problem: `there is no Secret ${name} in the namespace ${namespace}` };
    } catch (thrown) {
      if (!(thrown instanceof KubeForbidden))
        throw createSecretReadError(name, asSetpointError(thrown));
      return { problem: withoutStop(`the Secret ${name} cannot be read: ${thrown.message}`) };
    }
  }

  /** Null if there is none. */
  async #get({
    namespace,
    name,
  }: Pick<SecretRequest, 'name' | 'namespace'>): Promise<KubeSecret | null> {
    const path = kubePath('/api/v1', namespace, 'secrets', name);
    const about = { what: 'Secrets', purpose: 'read Secrets', namespace, rule: RULE };
    const answer = await this.#api.ask({ method: 'GET', path, within: WITHIN, about });
    return answer.kind === 'done' ? (answer.value as KubeSecret) : null;
  }

  #readValue(read: KubeSecret | { readonly problem: string }, key: SecretRequest): SecretText {
    if ('problem' in read) return read;
    const pinned = read.metadata.annotations?.[PINNED];
    if (pinned !== undefined && !origins(pinned).includes(key.origin.toLowerCase()))
      return {
        problem: `the annotation ${PINNED} of the Secret ${key.name} does not list the origin`,
      };
    const packed = read.data?.[key.key];
    if (packed === undefined) return { problem: `the Secret ${key.name} has no key ${key.key}` };
    if (Buffer.byteLength(packed, 'base64') > VALUE_LIMITS.bytes)
      return {
        problem: `${key.key} of the Secret ${key.name} has more than ${formatBytes(VALUE_LIMITS.bytes)}`,
      };
    const bytes = Buffer.from(packed, 'base64');
    const text = bytes.toString('utf8');
    if (!Buffer.from(text).equals(bytes))
      return { problem: `${key.key} of the Secret ${key.name} is not UTF-8` };
    return { text: text.replace(/\r?\n$/, '') };
  }
}

type Requests = [[string, SecretRequest], ...[string, SecretRequest][]];

/** Requests by the Secret that they name. */
function groupSecretRequests(
  requests: Iterable<readonly [text: string, request: SecretRequest]>,
): Iterable<Requests> {
  const groups = new Map<string, Requests>();
  for (const [text, request] of requests) {
    const name = `${request.namespace}/${request.name}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [[text, request]]);
    else group.push([text, request]);
  }
  return groups.values();
}

const TOO_MUCH = `the values that the object names have more than ${formatBytes(VALUE_LIMITS.ofRun)} in all`;

/** Not a reference without a value: the API server may answer at any moment. */
function createSecretReadError(
  name: string,
  { code, message, hint }: SetpointError,
): SetpointError {
  return new SetpointError(code, `The Secret ${name} cannot be read: ${message}`, { hint });
}

function origins(list: string): readonly string[] {
  return list.split(',').map((origin) => origin.trim().replace(/\/$/, '').toLowerCase());
}
