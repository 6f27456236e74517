import { type Routes, withOpenApi, type Call } from '../call.ts';
import { parseAnswerModule, schemaAnswer, parseSchemaSnapshot } from '../native/schema.ts';
import { openVault } from '../native/vault.ts';
import { automationRoutes } from '../automation/automations.ts';
import { agentServerSecrets } from '../collections/agent-server-secrets.ts';
import { collectionRoutes } from '../collections/collection.ts';
import { readSentBody } from './body.ts';
import { SNAPSHOT, AGENT_SCHEMA, CONVERSATION_SCHEMA, SERVER_INFO } from './data.gen.ts';
import { agentProfiles } from './agent-profiles.ts';
import { metaProfiles } from './meta-profiles.ts';
import { patching, reading } from './handlers.ts';
import { connectionRoutes } from './connections.ts';
import { createAllInstalledRoutes } from './installed.ts';
import { mcpEntryRequests, testing } from './mcp.ts';
import { createNamedRoutes } from './named.ts';
import { llmProfiles } from './llm-profiles.ts';
import type { AgentServerKind } from './record.ts';
import { createHeldRoute } from './requests.ts';
import { createWorkspaceRoutes } from './workspaces.ts';
import { type Answer, createJsonAnswer } from '../http/answer.ts';
import { isJsonObject } from '../json.ts';

/** The paths of an Agent Server's settings. */
export function agentServerRoutes(apiKey: string | undefined): Routes {
  const kind: AgentServerKind = {
    snapshot: parseSchemaSnapshot(SNAPSHOT),
    vault: openVault(apiKey),
  };
  const routes: Routes = [
    ['/', { GET: getServerInfo }],
    ['/server_info', { GET: getServerInfo }],
    ['/alive', { GET: getAlive }],
    ['/health', { GET: getAlive }],
    ['/ready', { GET: getReady }],
    createHeldRoute(kind, '/api/settings', { GET: reading(kind), PATCH: patching(kind) }),
    ['/api/settings/agent-schema', { GET: schemaAnswer(AGENT_SCHEMA) }],
    ['/api/settings/conversation-schema', { GET: schemaAnswer(CONVERSATION_SCHEMA) }],
    createHeldRoute(kind, '/api/settings/mcp/{id}', mcpEntryRequests(kind)),
    createHeldRoute(kind, '/api/mcp/test', { POST: testing(kind) }),
    ...collectionRoutes(agentServerSecrets(kind.vault), readSentBody),
    ...createNamedRoutes(kind, llmProfiles(kind)),
    ...connectionRoutes(kind),
    ...createNamedRoutes(kind, agentProfiles(kind)),
    ...createNamedRoutes(kind, metaProfiles),
    ...createAllInstalledRoutes(kind),
    ...createWorkspaceRoutes(kind),
  ];
  // The automation service answers at the same address, and is another process.
  return [...withOpenApi(INFO, routes), ...automationRoutes()];
}

const INFO = {
  title: 'OpenHands Agent Server',
  description: 'OpenHands Agent Server - REST/WebSocket interface for OpenHands AI Agent',
  version: '1.57.0',
};
const PYTHON = '3.12.0';

/** Answers with the server's facts about itself; no key is needed. Source: contract "detection: no key is needed". */
async function getServerInfo({ service }: Call): Promise<Answer> {
  const info = parseAnswerModule(SERVER_INFO);
  const uptime = (service.now() - service.startedAt) / 1000;
  const now = { uptime, idle_time: uptime, python_version: PYTHON };
  return createJsonAnswer(200, isJsonObject(info) ? { ...info, ...now } : info);
}

async function getAlive(): Promise<Answer> {
  return createJsonAnswer(200, { status: 'ok' });
}

async function getReady(): Promise<Answer> {
  return createJsonAnswer(200, { status: 'ready' });
}
