import { hasTypes, statusSchema } from '../../reconciler/kubernetes/crd.ts';
import { isRecord, type Value, type ValueRecord } from '../../reconciler/model/value.ts';
import { OBJECT_LIMITS, estimateStoredSize } from './limits.ts';
import type { RawObject } from './object-stream.ts';

/** The annotations that ask for a read: a new value is answered in `status.lastHandledReconcileAt`. */
export const ASKING = ['reconcile.fluxcd.io/requestedAt', 'setpoint.dev/requestedAt'] as const;

/**
 * The reason why the spec of an object is not stored: it is too large itself (`size` is its bytes, tokens or levels), or its namespace or
 * the cluster is.
 */
export interface Refusal {
  readonly by: 'bytes' | 'cluster' | 'depth' | 'namespace' | 'tokens';
  readonly size: number;
}

/** The common members of every Kubernetes object. */
export interface KubeResource {
  readonly metadata: KubeMetadata;
  readonly spec?: unknown;
  readonly refused?: Refusal;
}

interface KubeMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly generation?: number;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  /** Set for an object that is being deleted, and waits for a finalizer of another client. */
  readonly deletionTimestamp?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

/** The name of an object with its namespace. */
export function objectKey({ metadata: { namespace = '', name } }: KubeResource): string {
  return `${namespace}/${name}`;
}

const MEMBERS: Readonly<Record<string, number>> = {
  metadata: OBJECT_LIMITS.metadataBytes,
  spec: OBJECT_LIMITS.specBytes,
  status: OBJECT_LIMITS.statusBytes,
};

/** Bytes that are read of a member of an object. */
export function largestMember(name: string): number {
  return MEMBERS[name] ?? 0;
}

/** An object with what is stored of it, and its size in memory. Null if its metadata is too large: then it has no name. `isShared`: it belongs to people who share the controller. */
export function readObject(
  raw: RawObject,
  find: (key: string) => KubeResource | undefined,
  isShared = false,
): { readonly object: KubeResource; readonly size: number } | null {
  const metadata = readMetadata(raw, isShared);
  if (metadata === null) return null;
  const [spec, status] = [raw.get('spec'), raw.get('status')];
  const named = { metadata };
  const before = find(objectKey(named));
  const shown = isShared ? parseStoredStatus(status) : parseStoredMember('status', status);
  const refused = findSpecRefusal(spec);
  const counted = isShared ? Math.max(0, (status?.bytes ?? 0) - OBJECT_LIMITS.freeStatusBytes) : 0;
  const size = estimateStoredSize(spec?.bytes ?? 0, spec?.tokens ?? 0) + counted;
  if (refused !== null)
    return {
      object: { ...named, spec: {}, refused, ...shown },
      size: estimateStoredSize(0, 0) + counted,
    };
  const isSame = before?.refused === undefined && isSameSpec(before, named);
  const specified = isSame ? { spec: before?.spec } : parseStoredMember('spec', spec);
  return { object: { ...named, ...specified, ...shown }, size };
}

/** Returns the name of an object, and its version. */
export function readObjectName(
  raw: RawObject,
): Pick<KubeMetadata, 'name' | 'namespace' | 'resourceVersion'> {
  const text = raw.get('metadata')?.text;
  return typeof text !== 'string' ? { name: '' } : (JSON.parse(text) as KubeMetadata);
}

/** An object without its spec, because there is no room for it. */
export function withoutSpec(object: KubeResource, refused: Refusal): KubeResource {
  return { ...object, spec: {}, refused };
}

function parseStoredMember(name: 'spec' | 'status', member: ReturnType<RawObject['get']>) {
  const { text = null, depth = 0 } = member ?? {};
  return text !== null && depth <= OBJECT_LIMITS.depth
    ? { [name]: JSON.parse(text) as unknown }
    : {};
}

/** Members of another form count as absent: another client may have written them, under an older definition. */
function parseStoredStatus(member: ReturnType<RawObject['get']>) {
  const { status } = parseStoredMember('status', member);
  if (!isRecord(status as Value)) return {};
  const { properties = {} } = statusSchema();
  const fitting = Object.entries(status as ValueRecord).filter(([name, value]) =>
    hasTypes(properties[name] ?? {}, value),
  );
  return { status: Object.fromEntries(fitting) };
}

function findSpecRefusal(spec: ReturnType<RawObject['get']>): Refusal | null {
  if (spec === undefined) return null;
  if (spec.text === null) return { by: 'bytes', size: spec.bytes };
  const { tokens, depth } = spec;
  if (depth > OBJECT_LIMITS.depth) return { by: 'depth', size: depth };
  return tokens > OBJECT_LIMITS.specTokens ? { by: 'tokens', size: tokens } : null;
}

/** Not who wrote which of its fields, of its annotations those that are read, and labels of namespaces alone: people may write more than a MiB of them. */
function readMetadata(raw: RawObject, isShared: boolean): KubeMetadata | null {
  const text = raw.get('metadata')?.text;
  if (typeof text !== 'string') return null;
  const all = JSON.parse(text) as KubeMetadata;
  const { name, namespace, uid, generation, resourceVersion, labels } = all;
  const { creationTimestamp, deletionTimestamp } = all;
  if (typeof name !== 'string') return null;
  const stored = { namespace, uid, generation, resourceVersion, creationTimestamp };
  const named = isShared ? {} : { labels };
  const given = Object.entries({ ...stored, deletionTimestamp, ...named }).filter(
    ([, value]) => value !== undefined,
  );
  const annotations = isRecord(all.annotations) ? readAnnotations(all.annotations) : [];
  return {
    name,
    ...Object.fromEntries(given),
    ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations) }),
  };
}

function readAnnotations(all: Readonly<Record<string, string>>): readonly [string, string][] {
  return Object.entries(all).filter(
    ([name, value]) =>
      ASKING.some((one) => one === name) && value.length <= OBJECT_LIMITS.annotationBytes,
  );
}

/** Reports whether an object declares the same as before: its generation grows with its spec only. */
export function isSameSpec(before: KubeResource | undefined, { metadata }: KubeResource): boolean {
  const { uid, generation } = metadata;
  return (
    generation !== undefined &&
    before?.metadata.uid === uid &&
    before?.metadata.generation === generation
  );
}

/** Reports whether a version of an object is older than another one. */
export function isBefore(version: string | undefined, other: string): boolean {
  const [one, two] = [Number(version), Number(other)];
  return Number.isSafeInteger(one) && Number.isSafeInteger(two) && one < two;
}
