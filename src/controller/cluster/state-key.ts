import { randomBytes } from 'node:crypto';
import { SetpointError } from '../../reconciler/model/error.ts';
import { kubePath, type KubeApi } from './kube-api.ts';
import type { KubeResource } from './stored-object.ts';
import { PINNED } from './secrets.ts';

/** Milliseconds for one request, with all its tries. */
const WITHIN = 10_000;
const SHORTEST = 20;
const TRIES = 5;

/**
 * The key of the fingerprints: the member `key` of a Secret in the namespace of the pod. If the Secret has none yet, this makes one; of several pods
 * that do so at once, one key stays. Throws a SetpointError if it cannot be read or written.
 */
export async function loadStateKey(
  api: Pick<KubeApi, 'ask'>,
  namespace: string,
  name: string,
): Promise<string> {
  const path = kubePath('/api/v1', namespace, 'secrets', name);
  const rule = `Bind a Role to it with resources: [secrets], resourceNames: [${name}], verbs: [get, patch].`;
  const about = { what: 'Secrets', purpose: `use the Secret ${name}`, namespace, rule };
  for (let tries = 0; tries < TRIES; tries += 1) {
    const found = await api.ask({ method: 'GET', path, within: WITHIN, about });
    if (found.kind !== 'done') throw createMissingKeyError(name, namespace);
    const { metadata, data } = found.value as KubeResource & {
      readonly data?: Readonly<Record<string, string>>;
    };
    if (data?.['key'] !== undefined) return usableKey(data['key'], name);
    const { resourceVersion } = metadata;
    await api.ask({
      method: 'PATCH',
      path,
      contentType: 'application/merge-patch+json',
      // No object may have it sent anywhere.
      body: {
        metadata: { resourceVersion, annotations: { [PINNED]: 'none' } },
        data: { key: newKey() },
      },
      within: WITHIN,
      about,
    });
  }
  throw new SetpointError('cluster-failed', `The Secret ${name} did not take a key.`, {
    hint: 'Check what else writes it.',
  });
}

function newKey(): string {
  return Buffer.from(randomBytes(32).toString('base64url')).toString('base64');
}

function usableKey(packed: string, name: string): string {
  const key = Buffer.from(packed, 'base64').toString();
  if (key.length >= SHORTEST) return key;
  throw new SetpointError('cluster-failed', `The key in the Secret ${name} is too short.`, {
    hint: `It takes ${SHORTEST} random characters or more. Remove it to let the controller create one.`,
  });
}

function createMissingKeyError(name: string, namespace: string): SetpointError {
  return new SetpointError(
    'cluster-failed',
    `There is no Secret ${name} in the namespace ${namespace}.`,
    { hint: 'Create it without data: the controller puts a key into it.' },
  );
}
