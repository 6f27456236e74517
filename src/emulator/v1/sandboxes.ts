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

const success = createJsonAnswer(200, { success: true });
const notFound = detail(404, 'Not Found');

/** GET /api/v1/sandboxes/search, newest first. Source: specification 4.1; behaviour 3.2: an outage reads as no sandboxes. */
async function searchSandboxes(call: Call): Promise<Answer> {
  if (!call.authorized) return unauthorized;
  const { service } = call;
  return answerPage(call, async () => {
    const { sandboxes } = await service.store.read();
    const now = service.now();
    return sandboxes.map((sandbox) => sandboxRecord(sandbox, service, now)).toReversed();
  });
}

/**
 * POST /api/v1/sandboxes: the spec is a parameter of the query, a body is ignored, and each call starts one more.
 * Source: specification 4.1; behaviour 3.2: an unknown spec is a crash.
 */
async function handleSandboxStart({ service, authorized, query }: Call): Promise<Answer> {
  if (!authorized) return unauthorized;
  const { store, knobs } = service;
  const specId = query.getAll('sandbox_spec_id').at(-1) ?? knobs.specs[0];
  return store.update((before) => {
    const now = service.now();
    if (!knobs.specs.includes(specId)) return { contents: before, answer: { kind: 'crash' } };
    const begun = beginSandbox(before, specId, knobs, now);
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
    const contents = idle ? before : pauseRunning(before, sandbox, knobs, now);
    return { contents, answer: success };
  });
}

/** POST /api/v1/sandboxes/{id}/resume. Source: specification 4.1; behaviour 3.2. */
async function resumeSandbox({ service, authorized, id }: Call): Promise<Answer> {
  if (!authorized) return unauthorized;
  const { store } = service;
  return store.update((before) => {
    const now = service.now();
    const sandbox = findSandbox(before, id, service, now);
    if (sandbox === undefined) return { contents: before, answer: notFound };
    return { contents: beginAgain(before, sandbox, now).contents, answer: success };
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

/** Starts a new sandbox. */
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

/** Starts a paused sandbox again, and leaves any other unchanged. */
export function beginAgain(before: StoreContents, sandbox: StoredSandbox, now: number): Begun {
  if (!sandbox.paused) return { contents: before, sandbox };
  const begun = { ...sandbox, startedAt: now, paused: false };
  const sandboxes = before.sandboxes.map((one) => (one === sandbox ? begun : one));
  return { contents: { ...before, sandboxes }, sandbox: begun };
}

/** Pauses a sandbox, and fails the starts of conversations that are in progress in it. */
function pauseRunning(
  before: StoreContents,
  sandbox: StoredSandbox,
  { startMs }: Knobs,
  now: number,
): StoreContents {
  const failure = { at: now, detail: 'The sandbox was paused' };
  const isCutShort = (task: StoredStartTask): boolean =>
    task.failure === null &&
    task.sandbox?.id === sandbox.id &&
    isStarting(startTaskStage(task, sandbox.becomes, startMs, now));
  return {
    ...before,
    sandboxes: before.sandboxes.map((one) => (one === sandbox ? { ...one, paused: true } : one)),
    startTasks: before.startTasks.map((task) => (isCutShort(task) ? { ...task, failure } : task)),
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
