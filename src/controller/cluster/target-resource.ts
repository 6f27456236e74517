import { API_VERSION } from '../../reconciler/kubernetes/crd.ts';
import type { TargetSpec } from '../../reconciler/kubernetes/settings-target.ts';
import type { Value } from '../../reconciler/model/value.ts';
import { kubePath } from './kube-api.ts';
import type { KubeResource } from './stored-object.ts';

/** A SettingsTarget as the API server hands it out. */
export interface TargetResource extends KubeResource {
  readonly spec: TargetSpec;
  readonly status?: Readonly<Record<string, Value>>;
}

/** The path of a SettingsTarget, or of all in a namespace; null is all namespaces. */
export function targetPath(namespace: string | null, name?: string): string {
  return kubePath(`/apis/${API_VERSION}`, namespace, 'settingstargets', name);
}

export function isSuspended({ spec }: TargetResource): boolean {
  return spec['suspend'] === true;
}

/** Its watch has ended, although a finalizer of another controller may delay its deletion for long. */
export function isDeleted({ metadata }: KubeResource): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Formats the version by which a state was read: the generation and the uid, because another object of the same name may follow. */
export function formatStateVersion(generation: number, uid: string): string {
  return `generation-${generation}-of-${uid.slice(0, 8)}`;
}

/** Formats the current version of an object in the same way. */
export function versionNow(object: KubeResource): string {
  return formatStateVersion(parseGeneration(object), parseUid(object));
}

export function parseGeneration({ metadata }: KubeResource): number {
  return metadata.generation ?? 0;
}

export function parseNamespace({ metadata }: KubeResource): string {
  return metadata.namespace ?? 'default';
}

export function parseUid({ metadata }: KubeResource): string {
  return metadata.uid ?? '';
}

/** Returns the digest that `spec.approval` names; null if nothing is to be approved. */
export function readApprovedDigest({ spec }: Pick<TargetResource, 'spec'>): string | null {
  const approval = spec['approval'] as { readonly planDigest?: string } | undefined;
  return approval === undefined ? null : (approval.planDigest ?? '');
}

/** The address of the server of an object, in its written form. */
export function readServerAddress({ server }: Partial<Pick<TargetSpec, 'server'>>): string {
  const url = server?.['url'];
  return typeof url === 'string' ? url.replace(/\/+$/, '') : '';
}

/** The origin that an object sends its values to; null if it names none. */
export function readServerOrigin(object: TargetResource | undefined): string | null {
  const { server } = (object?.spec ?? {}) as Partial<TargetSpec>;
  const url = server?.['url'];
  if (typeof url !== 'string' || !URL.canParse(url)) return null;
  return new URL(url).origin.toLowerCase();
}

/** The objects from the oldest to the newest, as they count for the limits of their namespaces. */
export function sortByAge(
  objects: ReadonlyMap<string, TargetResource>,
): readonly (readonly [string, TargetResource])[] {
  const aged = [...objects].map((one) => {
    const { creationTimestamp = '', name } = one[1].metadata;
    return { one, age: `${creationTimestamp} ${name}` };
  });
  return aged.toSorted((one, other) => (one.age < other.age ? -1 : 1)).map(({ one }) => one);
}

/** The names of other objects of its namespace that name the same server. */
export function listRivals(
  object: TargetResource,
  objects: ReadonlyMap<string, TargetResource>,
): readonly string[] {
  const { namespace, name } = object.metadata;
  const address = readServerAddress(object.spec);
  return [...objects.values()].flatMap(({ metadata, spec }) =>
    metadata.name !== name &&
    metadata.namespace === namespace &&
    readServerAddress(spec) === address
      ? [metadata.name]
      : [],
  );
}
