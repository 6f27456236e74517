import { createHmac, randomBytes } from 'node:crypto';
import type { Service } from '../call.ts';
import type { JsonObject } from '../json.ts';
import type { StoredSandbox } from '../store/stored-records.ts';
import { sandboxStatus } from './sandbox-status.ts';

/**
 * A sandbox in an answer. It has a session key and addresses only while it is RUNNING; the addresses lead nowhere,
 * because no agent runs. Source: behaviour 3.2, SandboxInfo.
 */
export function sandboxRecord(
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
    exposed_urls: key === null ? null : exposedUrls(sandbox.id, key),
    created_at: new Date(sandbox.createdAt).toISOString(),
  };
}

/** The address that the agent server of a sandbox would have. */
export function agentServerUrl(sandboxId: string): string {
  return `https://sandboxes.invalid/${sandboxId}`;
}

function exposedUrls(id: string, key: string): readonly JsonObject[] {
  const editor = `${agentServerUrl(id)}/vscode/?tkn=${key}&folder=/workspace/project`;
  return [
    { name: 'AGENT_SERVER', url: agentServerUrl(id) },
    { name: 'VSCODE', url: editor },
  ];
}

/** Makes the session keys of sandboxes from their ids. Each run of the service has its own keys; none is ever stored. */
export function sessionKeys(): (sandboxId: string) => string {
  const secret = randomBytes(32);
  return (sandboxId) => createHmac('sha256', secret).update(sandboxId).digest('base64url');
}
