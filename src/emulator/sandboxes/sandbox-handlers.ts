import type { Call, Service } from '../call.ts';
import { type Answer, detail, json, unauthorized } from '../http/answer.ts';
import { answerPage } from '../http/query.ts';
import type { JsonObject } from '../json.ts';
import type { StoreContents } from '../store/store-document.ts';
import type { StoredSandbox } from '../store/stored-records.ts';
import { beginAgain, beginSandbox, makeRoom, noRoom, pauseSandboxes } from './sandbox-changes.ts';
import { sandboxRecord } from './sandbox-record.ts';
import { sandboxStatus } from './sandbox-status.ts';

const success = json(200, { success: true });
const notFound = detail(404, 'Not Found');
const limitReached = detail(500, noRoom);

/** GET /api/v1/sandboxes/search, newest first. Source: specification 4.1; behaviour 3.2: an outage reads as no sandboxes. */
export async function searchSandboxes(call: Call): Promise<Answer> {
  if (!call.authorized) return unauthorized;
  const { service } = call;
  return answerPage(call, async () => {
    if (service.takeEmptyList()) return [];
    const { sandboxes } = await service.store.read();
    const now = service.now();
    return sandboxes.map((sandbox) => sandboxRecord(sandbox, service, now)).toReversed();
  });
}

/**
 * POST /api/v1/sandboxes: the spec is a parameter of the query, a body is ignored, and each call starts one more.
 * Source: specification 4.1; behaviour 3.2: room is made before the spec is looked up, an unknown spec is a crash.
 */
export async function startSandbox({ service, authorized, query }: Call): Promise<Answer> {
  if (!authorized) return unauthorized;
  const { store, knobs } = service;
  const specId = query.getAll('sandbox_spec_id').at(-1) ?? knobs.specs[0];
  return store.update((before) => {
    const now = service.now();
    const contents = makeRoom(before, knobs, now);
    if (contents === undefined) return { contents: before, answer: limitReached };
    if (!knobs.specs.includes(specId)) return { contents, answer: { kind: 'crash' } };
    const begun = beginSandbox(contents, specId, knobs, now);
    const answer = json(200, sandboxRecord(begun.sandbox, service, now));
    return { contents: begun.contents, answer };
  });
}

/**
 * POST /api/v1/sandboxes/{id}/pause: 200 also if there is nothing to do, and if the sandbox is not running yet.
 * Source: specification 4.1; behaviour 3.2: one that is MISSING is not found, though it is listed.
 */
export async function pauseSandbox({ service, authorized, id }: Call): Promise<Answer> {
  if (!authorized) return unauthorized;
  const { store, knobs } = service;
  return store.update((before) => {
    const now = service.now();
    const sandbox = findSandbox(before, id, service, now);
    if (sandbox === undefined) return { contents: before, answer: notFound };
    const status = sandboxStatus(sandbox, knobs.startMs, now);
    const idle = status === 'PAUSED' || (status === 'STARTING' && sandbox.becomes !== 'starting');
    const contents = pauseSandboxes(before, idle ? [] : [sandbox], knobs, now);
    return { contents, answer: success };
  });
}

/**
 * POST /api/v1/sandboxes/{id}/resume. Room is made first, whatever the sandbox's status: that may pause a running one, which
 * is then started again.
 * Source: specification 4.1; behaviour 3.2, the limit of running sandboxes.
 */
export async function resumeSandbox({ service, authorized, id }: Call): Promise<Answer> {
  if (!authorized) return unauthorized;
  const { store, knobs } = service;
  return store.update((before) => {
    const now = service.now();
    const contents = makeRoom(before, knobs, now);
    if (contents === undefined) return { contents: before, answer: limitReached };
    const sandbox = findSandbox(contents, id, service, now);
    if (sandbox === undefined) return { contents, answer: notFound };
    return { contents: beginAgain(contents, sandbox, now).contents, answer: success };
  });
}

function findSandbox(
  { sandboxes }: StoreContents,
  id: string,
  { knobs }: Service,
  now: number,
): StoredSandbox | undefined {
  const sandbox = sandboxes.find((one) => one.id === id);
  if (sandbox === undefined) return undefined;
  return sandboxStatus(sandbox, knobs.startMs, now) === 'MISSING' ? undefined : sandbox;
}

/**
 * GET /api/v1/sandbox-specs/search, the default spec first.
 * Source: specification 4.1; behaviour 3.3: `created_at` is when the service was started.
 */
export async function searchSandboxSpecs(call: Call): Promise<Answer> {
  if (!call.authorized) return unauthorized;
  const { service } = call;
  return answerPage(call, async () => service.knobs.specs.map((id) => specRecord(id, service)));
}

function specRecord(id: string, { startedAt }: Service): JsonObject {
  return {
    id,
    command: null,
    created_at: new Date(startedAt).toISOString(),
    initial_env: {},
    working_dir: '/workspace/project',
  };
}
