import type {
  FingerprintDocument,
  FingerprintPlace,
} from '../../reconciler/host/fingerprint-file.ts';
import { SetpointError } from '../../reconciler/model/error.ts';
import type { KubeApi } from './kube-api.ts';
import type { Reflector } from './reflector.ts';
import { isBefore, type KubeResource } from './stored-object.ts';
import { targetPath, type TargetResource } from './target-resource.ts';

/** The member of a status with the fingerprints of written values. Other writers of the status leave it alone. */
export const FINGERPRINTS = 'secretFingerprints';

/** Milliseconds for one write, with all its tries. */
const WITHIN = 10_000;
const WHAT = 'the status of SettingsTargets';

/** Characters that the fingerprints of an object take: a status that is too large is not read. What has no room counts as not compared. */
const MOST_CHARACTERS = 32 * 1024;

/** The fingerprints of one address: an object has one. */
interface StatusFingerprints {
  readonly keyId: string;
  readonly address: string;
  readonly entries: readonly { readonly path: readonly string[]; readonly hmac: string }[];
}

/** The fingerprints of what was written to the server of each object, in its status: they outlive the pod, and go with the object. */
export class ClusterFingerprints {
  readonly #api: Pick<KubeApi, 'ask'>;
  readonly #objects: Pick<Reflector<TargetResource>, 'objects'>;
  /** The written fingerprints, and the version that the object gets by them: they count until that version is seen. */
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
      version: () => this.#findFingerprints(key),
      read: () => createFingerprintDocument(this.#findFingerprints(key)),
      replace: (document) => this.#replace(key, document),
    };
  }

  #findFingerprints(key: string): StatusFingerprints | null {
    const object = this.#objects.objects.get(key);
    const written = this.#written.get(key);
    if (written !== undefined && isBefore(object?.metadata.resourceVersion, written.version))
      return written.fingerprints;
    this.#written.delete(key);
    return (object?.status?.[FINGERPRINTS] ?? null) as StatusFingerprints | null;
  }

  async #replace(key: string, document: FingerprintDocument): Promise<void> {
    const { namespace = 'default', name } = this.#objects.objects.get(key)?.metadata ?? {
      name: key,
    };
    const fingerprints = createFingerprintStatus(document);
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
          hint: 'The object was deleted, or changed at the same time. The controller tries again at the next read.',
        },
      );
    const version = (answer.value as KubeResource).metadata.resourceVersion ?? '';
    this.#written.set(key, { version, fingerprints });
  }
}

function createFingerprintStatus({
  key_id: keyId,
  entries,
}: FingerprintDocument): StatusFingerprints {
  const address = entries.at(-1)?.address ?? '';
  const own = entries.filter((entry) => entry.address === address);
  let room = MOST_CHARACTERS;
  const fitting = own.toReversed().flatMap(({ path, hmac }) => {
    const entry = { path, hmac };
    room -= JSON.stringify(entry).length + 1;
    return room < 0 ? [] : [entry];
  });
  return { keyId, address, entries: fitting.toReversed() };
}

/** Null without fingerprints. The definition sees to their form. */
function createFingerprintDocument(found: StatusFingerprints | null): FingerprintDocument | null {
  if (found === null) return null;
  const { keyId, address, entries } = found;
  return {
    written_by: 'setpoint',
    format_version: 2,
    key_id: keyId,
    entries: entries.map((entry) => ({ origin: '', address, written_at: '', ...entry })),
  };
}
