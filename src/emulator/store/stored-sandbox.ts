import { isJsonObject, memberOf, type Json, type JsonObject } from '../json/json.ts';
import { isSandboxOutcome, type SandboxOutcome } from '../sandboxes/sandbox-outcome.ts';
import { storedTime } from './stored-time.ts';

/** What is known of a sandbox. Its status is computed from it; times are milliseconds since 1970. */
export interface StoredSandbox {
  readonly id: string;
  readonly specId: string;
  readonly becomes: SandboxOutcome;
  readonly createdAt: number;
  /** When its last start or resume began. */
  readonly startedAt: number;
  readonly paused: boolean;
}

export function writeStoredSandbox(sandbox: StoredSandbox): JsonObject {
  return {
    id: sandbox.id,
    sandbox_spec_id: sandbox.specId,
    becomes: sandbox.becomes,
    created_at: BigInt(sandbox.createdAt),
    started_at: BigInt(sandbox.startedAt),
    paused: sandbox.paused,
  };
}

/** The sandbox of a store's text, or undefined where the value is not what is written there. */
export function readStoredSandbox(value: Json): StoredSandbox | undefined {
  if (!isJsonObject(value)) return undefined;
  const id = memberOf(value, 'id');
  const specId = memberOf(value, 'sandbox_spec_id');
  const becomes = memberOf(value, 'becomes');
  const createdAt = storedTime(memberOf(value, 'created_at'));
  const startedAt = storedTime(memberOf(value, 'started_at'));
  const paused = memberOf(value, 'paused');
  if (typeof id !== 'string' || typeof specId !== 'string' || !isSandboxOutcome(becomes))
    return undefined;
  if (createdAt === undefined || startedAt === undefined || typeof paused !== 'boolean')
    return undefined;
  return { id, specId, becomes, createdAt, startedAt, paused };
}
