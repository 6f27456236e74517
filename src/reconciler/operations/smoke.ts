import { asSetpointError, errorReport, SetpointError } from '../model/error.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import { redactDocument } from '../model/redacted.ts';
import type { EnvironmentSmoke, SmokeDocument } from '../model/documents.gen.ts';
import { TOOL } from '../model/version.ts';
import { SYSTEM_CLOCK } from '../host/this-process.ts';
import { inParallel } from '../reconcile/in-order.ts';
import { findInterruption } from '../reconcile/interruption.ts';
import {
  conversing,
  followConversation,
  type ConversationProgress,
  conversationRemover,
  removeConversation,
} from '../resources/sandboxes/conversation.ts';
import type { SmokeRequest } from './options.ts';
import { SANDBOX_READER } from '../resources/sandboxes/wire.ts';
import { chooseTargets } from './select.ts';
import { type OpenTarget, withTarget } from './open-target.ts';
import { DEFAULT_WAIT } from './options.ts';
import { prepareTargets, formatOrigin, type PreparedTarget } from './prepare.ts';
import { redacting, type Running } from './redacting.ts';

const GREETING = 'Hello. Answer with one word, please.';

/**
 * Starts one conversation in each environment, one after another, follows it until it is ready, and removes it again. That costs
 * a call to the model. What cannot be removed without harm remains, and is named. Throws a SetpointError if nothing was begun.
 */
export function smoke(request: SmokeRequest): Promise<SmokeDocument> {
  return redacting(request, runSmoke);
}

async function runSmoke(request: Running<SmokeRequest>): Promise<SmokeDocument> {
  const clock = request.clock ?? SYSTEM_CLOCK;
  const startedAt = clock.now();
  const prepared = await prepareTargets(chooseTargets(request, 'smoke'), request);
  for (const { server } of prepared) if (server instanceof SetpointError) throw server;
  const environments = await inParallel(prepared, 1, (target) => tryTarget(target, request));
  return {
    format_version: FORMAT_VERSION,
    kind: 'smoke',
    tool: TOOL,
    started_at: new Date(startedAt).toISOString(),
    finished_at: new Date(clock.now()).toISOString(),
    environments,
  };
}

async function tryTarget(
  prepared: PreparedTarget,
  request: Running<SmokeRequest>,
): Promise<EnvironmentSmoke> {
  const { name } = prepared.target;
  const origin = formatOrigin(prepared);
  const { origin: redactedOrigin } = redactDocument({ origin }, request.resolved.of(name));
  const ended = (
    { error, ...followed }: ConversationProgress,
    end: Pick<EnvironmentSmoke, 'removed' | 'remains'> = { removed: false, remains: null },
  ): EnvironmentSmoke => ({
    name,
    origin,
    status: error === null ? 'ready' : 'failed',
    ...followed,
    ...end,
    error: error === null ? null : errorReport(error),
  });
  const notBegun = (error: SetpointError): EnvironmentSmoke =>
    ended({ steps: [], conversation: null, sandbox: null, error });
  const stopped = findInterruption(request.signal);
  if (stopped !== null) return notBegun(stopped);
  try {
    if ((await request.confirm?.(name, redactedOrigin)) === false) {
      const declined = new SetpointError('declined', 'Cancelled. Nothing was started.');
      return notBegun(findInterruption(request.signal) ?? declined);
    }
    return await withTarget(prepared, request, async (open) => {
      const done = await converse(open, name, request);
      return done instanceof SetpointError ? notBegun(done) : ended(done.followed, done.end);
    });
  } catch (thrown) {
    return notBegun(asSetpointError(thrown));
  }
}

/** Starts a conversation, and removes it if it was answered. Returns the error of a service that starts none. */
async function converse(
  open: OpenTarget,
  name: string,
  request: Running<SmokeRequest>,
): Promise<
  | SetpointError
  | {
      readonly followed: ConversationProgress;
      readonly end?: Pick<EnvironmentSmoke, 'removed' | 'remains'>;
    }
> {
  await open.ready();
  const reader = open.reader(SANDBOX_READER);
  const before = await reader.sandboxes(request.signal, LIST_TIME).then(
    ({ sandboxes }) => new Set(sandboxes.map(({ id }) => id)),
    () => null,
  );
  const unfit = before === null ? await findSmokeRefusal(open) : null;
  if (unfit !== null) return unfit;
  const followed = await open.aside(() =>
    followConversation({
      conversing: conversing(open.connection),
      message: request.message ?? GREETING,
      clock: request.clock ?? SYSTEM_CLOCK,
      wait: request.wait ?? DEFAULT_WAIT,
      onStep: (step) => request.onStep?.(name, redactDocument(step, request.resolved.of(name))),
      signal: request.signal,
      abandon: request.abandon,
    }),
  );
  const { conversation, sandbox, error } = followed;
  if (error !== null || conversation === null) return { followed };
  const remains = await removeConversation({
    conversation,
    sandbox,
    before,
    conversations: () => reader.conversations(),
    remove: async (id) => {
      const { dialect } = await open.settings.observe();
      return conversationRemover(open.connection, dialect.name)(id);
    },
  });
  return { followed, end: { removed: remains === null, remains } };
}

/** The time limit for listing the sandboxes before a conversation is started, in milliseconds. */
const LIST_TIME = 10_000;

/** Explains why a service that lists no sandboxes starts no conversation either; null if it may. */
async function findSmokeRefusal(open: OpenTarget): Promise<SetpointError | null> {
  const state = await open.settings.observe().catch(() => null);
  if (state?.dialect.name !== 'agent-server') return null;
  return new SetpointError(
    'unfit-for-service',
    'An Agent Server starts no conversation from what it has stored: a client sends all of it along.',
    { hint: 'Try the model and the key that it has stored with setpoint doctor --check.' },
  );
}
