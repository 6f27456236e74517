import { type SpecifiedField, fieldNamed, isNativePath } from '../model/field.ts';
import { holdsMask } from '../model/mask.ts';
import { pathNamed, type Path } from '../model/path.ts';
import type { SetpointError } from '../model/error.ts';
import type { WriteAnswer } from '../model/ports.ts';
import { placed, recordOf, type Value, type ValueRecord } from '../model/value.ts';
import type { Connection } from './connect.ts';
import { encode } from './json.ts';
import { nativeChanges } from './native.ts';
import type { Places } from './places.ts';
import type { TimeLimits } from './retry.ts';
import { sendOnce } from './send.ts';
import { ServiceError } from './service-error.ts';
import type { Reply } from './json-reply.ts';

/** The body of a write, or why the service must not be sent it. */
export type BodyToStore = { readonly record: ValueRecord } | Problem;

/** What is sent for a value, or why it must not be. */
export type Sendable = { readonly value: Value } | Problem;

interface Problem {
  readonly problem: string;
}

/** How a service that merges what it is sent takes each part of a write. */
interface Merging {
  readonly places: Places;
  /** The members whose changes are sent, each with the name of those changes. */
  readonly diffs: ReadonlyMap<string, string>;
  readonly ofNative: (path: Path, value: Value) => Sendable;
  readonly ofField: (field: SpecifiedField, value: Value) => Sendable;
  /** What the service would do with a mask. */
  readonly withMask: string;
}

/** The fields of a write, each in its place: a field of the specification may be inside a native part that is written as a whole. */
export function mergedBody(fields: ValueRecord, service: Merging): BodyToStore {
  const { places, diffs, ofNative, ofField } = service;
  let record: ValueRecord = recordOf([]);
  const put = (path: Path, value: Value): void => {
    const at = path.map((key, index) => (index === 0 ? (diffs.get(key) ?? key) : key));
    record = placed(record, at, value);
  };
  for (const [path, declared] of nativeChanges({ fields })) {
    const sent = ofNative(path, declared);
    if ('problem' in sent) return sent;
    put(path, sent.value);
  }
  for (const [name, declared] of Object.entries(fields)) {
    if (isNativePath(pathNamed(name))) continue;
    const field = fieldNamed(name);
    const at = field === undefined ? undefined : places.get(field.name);
    if (field === undefined || at === undefined)
      return { problem: `these services have no ${name}` };
    const sent = ofField(field, declared);
    if ('problem' in sent) return sent;
    put(at, sent.value);
  }
  return holdsMask(record) ? { problem: service.withMask } : { record };
}

/** Why a body must not be sent; null if it may be. */
export function bodyProblem(body: BodyToStore): string | null {
  return 'problem' in body ? body.problem : null;
}

interface Storing {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly limits: TimeLimits;
  /** Statuses that refuse what was sent, and the error for one of them, which shows nothing of the answer. */
  readonly refusals: readonly number[];
  readonly refusal: (place: string, reply: Reply) => SetpointError;
}

/** Sends the body of a write to a service that merges it, once. Nothing is sent if the body has a problem. */
export async function storeBody(
  connection: Connection,
  body: BodyToStore,
  { method, path, limits, refusals, refusal }: Storing,
): Promise<WriteAnswer> {
  const place = connection.place(method, path);
  if ('problem' in body) {
    const message = `${place} was not sent: ${body.problem}.`;
    const error = new ServiceError('settings-refused', message);
    return { kind: 'not-applied', retry: false, reached: false, error };
  }
  const answer = await sendOnce(connection, {
    method,
    path,
    body: encode(body.record),
    timeout: connection.timeout,
    limits,
    refusals,
    refused: refusal,
  });
  return answer.kind === 'done' ? { kind: 'stored' } : answer;
}
