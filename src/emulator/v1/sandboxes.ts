import { randomBytes } from 'node:crypto';
import type { Call, Service, Routes } from '../call.ts';
import { type Answer, detail, createJsonAnswer, unauthorized } from '../http/answer.ts';
import { answerPage } from '../http/query.ts';
import type { JsonObject } from '../json.ts';
import type { StoreContents } from '../store/store-document.ts';
import {
  type StoredSandbox,
  sandboxStatus,
  isStarting,
  startTaskStage,
  type StoredStartTask,
} from './stored.ts';
import type { Knobs } from '../options.ts';

/** The paths of sandboxes and their specs. */
export const sandboxRoutes: Routes = [
  ['/api/v1/sandboxes', { POST: handleSandboxStart }],
  ['/api/v1/sandboxes/search', { GET: searchSandboxes }],
  ['/api/v1/sandboxes/{id}/pause', { POST: pauseSandbox }],
  ['/api/v1/sandboxes/{id}/resume', { POST: resumeSandbox }],
  ['/api/v1/sandbox-specs/search', { GET: searchSandboxSpecs }],
];

/** The error that a real server reports if there is no room. */
export const noRoom = 'max_num_sandboxes must be greater than 0';

const success = createJsonAnswer(200, { success: true });
const notFound = detail(404, 'Not Found');
const limitReached = detail(500, noRoom);

/** GET /api/v1/sandboxes/search, newest first. Source: specification 4.1; behaviour 3.2: an outage reads as no sandboxes. */
async function searchSandboxes(call: Call): Promise<Answer> {
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
async function handleSandboxStart({ service, authorized, query }: Call): Promise<Answer> {
  if (!authorized) return unauthorized;
  const { store, knobs } = service;
  const specId = query.getAll('sandbox_spec_id').at(-1) ?? knobs.specs[0];
  return store.update((before) => {
    const now = service.now();
    const contents = makeRoom(before, knobs, now);
    if (contents === undefined) return { contents: before, answer: limitReached };
    if (!knobs.specs.includes(specId)) return { contents, answer: { kind: 'crash' } };
    const begun = beginSandbox(contents, specId, knobs, now);
    const answer = createJsonAnswer(200, sandboxRecord(begun.sandbox, service, now));
    return { contents: begun.contents, answer };
  });
}

/**
 * POST /api/v1/sandboxes/{id}/pause: 200 also if there is nothing to do, and if the sandbox is not running yet.
 * Source: specification 4.1; behaviour 3.2: one that is MISSING is not found, though it is listed.
 */
async function pauseSandbox({ service, authorized, id }: Call): Promise<Answer> {
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
async function resumeSandbox({ service, authorized, id }: Call): Promise<Answer> {
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
async function searchSandboxSpecs(call: Call): Promise<Answer> {
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

/** The store after a start or a resume, and the sandbox at that time. */
interface Begun {
  readonly contents: StoreContents;
  readonly sandbox: StoredSandbox;
}

/** Starts a new sandbox. Call `makeRoom` before. */
export function beginSandbox(
  before: StoreContents,
  specId: string,
  { becomes }: Knobs,
  now: number,
): Begun {
  const times = { createdAt: now, startedAt: now };
  const sandbox = { id: newSandboxId(), specId, becomes, ...times, paused: false };
  return { contents: { ...before, sandboxes: [...before.sandboxes, sandbox] }, sandbox };
}

/** Starts a paused sandbox again, and leaves any other unchanged. Call `makeRoom` before. */
export function beginAgain(before: StoreContents, sandbox: StoredSandbox, now: number): Begun {
  if (!sandbox.paused) return { contents: before, sandbox };
  const begun = { ...sandbox, startedAt: now, paused: false };
  const sandboxes = before.sandboxes.map((one) => (one === sandbox ? begun : one));
  return { contents: { ...before, sandboxes }, sandbox: begun };
}

/**
 * Pauses the oldest RUNNING sandboxes so that one more stays within the limit: every start and every resume does this first.
 * Sandboxes that are STARTING or in ERROR do not count. Undefined if the limit leaves no room for any other.
 * Source: behaviour 3.2, the limit of running sandboxes.
 */
export function makeRoom(
  before: StoreContents,
  knobs: Knobs,
  now: number,
): StoreContents | undefined {
  if (knobs.maxRunning === undefined) return before;
  const others = knobs.maxRunning - 1;
  if (others === 0) return undefined;
  const running = before.sandboxes.filter(
    (sandbox) => sandboxStatus(sandbox, knobs.startMs, now) === 'RUNNING',
  );
  return pauseSandboxes(before, running.slice(0, Math.max(0, running.length - others)), knobs, now);
}

/** Pauses sandboxes, and fails the starts of conversations that are in progress in them. */
function pauseSandboxes(
  before: StoreContents,
  toPause: readonly StoredSandbox[],
  { startMs }: Knobs,
  now: number,
): StoreContents {
  if (toPause.length === 0) return before;
  const failure = { at: now, detail: 'The sandbox was paused' };
  const cutShort = (task: StoredStartTask): boolean => {
    if (task.failure !== null) return false;
    const sandbox = toPause.find(({ id }) => id === task.sandbox?.id);
    return sandbox !== undefined && isStarting(startTaskStage(task, sandbox.becomes, startMs, now));
  };
  return {
    ...before,
    sandboxes: before.sandboxes.map((one) =>
      toPause.includes(one) ? { ...one, paused: true } : one,
    ),
    startTasks: before.startTasks.map((task) => (cutShort(task) ? { ...task, failure } : task)),
  };
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const length = 22;

/** 128 random bits in base 62, always 22 characters. */
function newSandboxId(): string {
  let left = BigInt(`0x${randomBytes(16).toString('hex')}`);
  let id = '';
  while (id.length < length) {
    id = `${digits[Number(left % 62n)] ?? ''}${id}`;
    left /= 62n;
  }
  return id;
}

/**
 * A sandbox in an answer. It has a session key and addresses only while it is RUNNING; the addresses lead nowhere,
 * because no agent runs. Source: behaviour 3.2, SandboxInfo.
 */
function sandboxRecord(
  sandbox: StoredSandbox,
  { knobs, sessionKey }: Service,
  now: number,
): JsonObject {
  const status = sandboxStatus(sandbox, knobs.startMs, now);
  const key = status === 'RUNNING' ? sessionKey(sandbox.id) : null;
  return {
    id: sandbox.id,
    created_by_user_id: null,
    sandbox_spec_id: sandbox.specId,
    status,
    session_api_key: key,
    exposed_urls: key === null ? null : listExposedUrls(sandbox.id, key),
    created_at: new Date(sandbox.createdAt).toISOString(),
  };
}

/** The address that the agent server of a sandbox would have. */
export function agentServerUrl(sandboxId: string): string {
  return `https://sandboxes.invalid/${sandboxId}`;
}

function listExposedUrls(id: string, key: string): readonly JsonObject[] {
  const editor = `${agentServerUrl(id)}/vscode/?tkn=${key}&folder=/workspace/project`;
  return [
    { name: 'AGENT_SERVER', url: agentServerUrl(id) },
    { name: 'VSCODE', url: editor },
  ];
}
