import { asSetpointError, errorReport, SetpointError } from '../model/error.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import { redacted } from '../model/redacted.ts';
import type { EnvironmentSmoke, SmokeDocument, SmokeStep } from '../model/documents.gen.ts';
import { TOOL } from '../model/version.ts';
import { SYSTEM_CLOCK } from '../host/system-clock.ts';
import { inParallel } from '../reconcile/in-parallel.ts';
import { interruption } from '../reconcile/interruption.ts';
import {
  conversing,
  followConversation,
  type Followed,
} from '../resources/sandboxes/conversation.ts';
import type { WritingRequest } from './options.ts';
import { chooseTargets } from './select.ts';
import { withTarget } from './open-target.ts';
import { DEFAULT_WAIT } from './options.ts';
import { prepareTargets, shownOrigin, type Prepared } from './prepare.ts';
import { redacting, type Running } from './redacting.ts';

export interface SmokeRequest extends WritingRequest {
  /** The first message of the conversation. Default: a greeting. */
  readonly message?: string | undefined;
  /** Approves each start of a conversation. Absent: every one is approved. */
  readonly confirm?: ((target: string, origin: string | null) => Promise<boolean>) | undefined;
  /** Receives every step as it is observed. */
  readonly onStep?: ((target: string, step: SmokeStep) => void) | undefined;
  readonly abandon?: AbortSignal | undefined;
}

const GREETING = 'Hello. Answer with one word, please.';

/**
 * Starts one conversation in each environment, one after another, and follows it until it is ready. That costs a call to the
 * model, and leaves a conversation and a sandbox behind. Throws a SetpointError if nothing was begun.
 */
export function smoke(request: SmokeRequest): Promise<SmokeDocument> {
  return redacting(request, smoked);
}

async function smoked(request: Running<SmokeRequest>): Promise<SmokeDocument> {
  const clock = request.clock ?? SYSTEM_CLOCK;
  const startedAt = clock.now();
  const prepared = prepareTargets(chooseTargets(request, 'smoke').targets, request);
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
  prepared: Prepared,
  request: Running<SmokeRequest>,
): Promise<EnvironmentSmoke> {
  const { name } = prepared.target;
  const origin = shownOrigin(prepared);
  const { origin: redactedOrigin } = redacted({ origin }, request.resolved.of(name));
  const ended = ({ error, ...followed }: Followed): EnvironmentSmoke => ({
    name,
    origin,
    status: error === null ? 'ready' : 'failed',
    ...followed,
    error: error === null ? null : errorReport(error),
  });
  const notBegun = (error: SetpointError): EnvironmentSmoke =>
    ended({ steps: [], conversation: null, sandbox: null, error });
  const stopped = interruption(request.signal);
  if (stopped !== null) return notBegun(stopped);
  try {
    if ((await request.confirm?.(name, redactedOrigin)) === false) {
      const declined = new SetpointError('declined', 'Cancelled. Nothing was started.');
      return notBegun(interruption(request.signal) ?? declined);
    }
    return await withTarget(prepared, request, async (open) => {
      await open.ready();
      return ended(
        await followConversation({
          conversing: conversing(open.connection),
          message: request.message ?? GREETING,
          clock: request.clock ?? SYSTEM_CLOCK,
          wait: request.wait ?? DEFAULT_WAIT,
          onStep: (step) => request.onStep?.(name, redacted(step, request.resolved.of(name))),
          signal: request.signal,
          abandon: request.abandon,
        }),
      );
    });
  } catch (thrown) {
    return notBegun(asSetpointError(thrown));
  }
}
