import type { Service } from '../call.ts';
import type { JsonObject } from '../json/json.ts';
import { sandboxStatus } from './sandbox-status.ts';
import type { StoredSandbox } from '../store/stored-sandbox.ts';

/**
 * A sandbox as it is answered. It has a session key and addresses only while it is RUNNING; the addresses lead nowhere,
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

/** Where the agent server of a sandbox would answer. */
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
