import type {
  FingerprintDocument,
  FingerprintPlace,
} from '../../reconciler/host/fingerprint-file.ts';
import { SetpointError } from '../../reconciler/model/error.ts';
import type { KubeApi } from './kube-api.ts';
import type { Reflector } from './reflector.ts';
import { isBefore, type KubeResource } from './stored-object.ts';
import { targetPath, type TargetResource } from './target-resource.ts';

/** The member of a status with the fingerprints of what was written. Whoever else writes the status leaves it alone. */
export const FINGERPRINTS = 'secretFingerprints';

/** Milliseconds for one write, with all its tries. */
const WITHIN = 10_000;
const WHAT = 'the status of SettingsTargets';

interface StatusFingerprints {
  readonly keyId: string;
  readonly entries: readonly {
    readonly address: string;
    readonly path: readonly string[];
    readonly hmac: string;
    readonly writtenAt: string;
  }[];
}

/** The fingerprints of what was written to the server of each object, in its status: they outlive the pod, and go with the object. */
export class ClusterFingerprints {
  readonly #api: Pick<KubeApi, 'ask'>;
  readonly #objects: Pick<Reflector<TargetResource>, 'objects'>;
  /** What was written, and the version that the object has by it: until that is seen, it counts. */
  readonly #written = new Map<
    string,
    { readonly version: string; readonly fingerprints: StatusFingerprints }
  >();

  constructor(api: Pick<KubeApi, 'ask'>, objects: Pick<Reflector<TargetResource>, 'objects'>) {
    this.#api = api;
    this.#objects = objects;
  }

  of(key: string): FingerprintPlace {
    return {
      version: () => this.#found(key),
      read: () => documentOf(this.#found(key)),
      replace: (document) => this.#replace(key, document),
    };
  }

  #found(key: string): StatusFingerprints | null {
    const object = this.#objects.objects.get(key);
    const written = this.#written.get(key);
    if (written !== undefined && isBefore(object?.metadata.resourceVersion, written.version))
      return written.fingerprints;
    this.#written.delete(key);
    return (object?.status?.[FINGERPRINTS] ?? null) as StatusFingerprints | null;
  }

  async #replace(key: string, { key_id: keyId, entries }: FingerprintDocument): Promise<void> {
    const { namespace = 'default', name } = this.#objects.objects.get(key)?.metadata ?? {
      name: key,
    };
    const fingerprints = {
      keyId,
      entries: entries.map(({ address, path, hmac, written_at: writtenAt }) => ({
        address,
        path,
        hmac,
        writtenAt,
      })),
    };
    const answer = await this.#api.ask({
      method: 'PATCH',
      path: `${targetPath(namespace, name)}/status`,
      contentType: 'application/merge-patch+json',
      body: { status: { [FINGERPRINTS]: fingerprints } },
      within: WITHIN,
      about: { what: WHAT, purpose: `write ${WHAT}`, namespace },
    });
    if (answer.kind !== 'done')
      throw new SetpointError(
        'output-failed',
        'The fingerprints of its secrets could not be written into the status.',
        {
          hint: 'The object is gone, or was changed at the same time. It is tried again at the next read.',
        },
      );
    const version = (answer.value as KubeResource).metadata.resourceVersion ?? '';
    this.#written.set(key, { version, fingerprints });
  }
}

/** Null without fingerprints. The definition sees to their form. */
function documentOf(found: StatusFingerprints | null): FingerprintDocument | null {
  if (found === null) return null;
  const { keyId, entries } = found;
  return {
    written_by: 'setpoint',
    format_version: 2,
    key_id: keyId,
    entries: entries.map(({ address, path, hmac, writtenAt }) => ({
      origin: '',
      address,
      path,
      hmac,
      written_at: writtenAt,
    })),
  };
}
