import { type Routes, withOpenApi, type Call } from '../call.ts';
import { answerIn, schemaAnswer, snapshotIn } from '../native/schema.ts';
import { openVault } from '../native/vault.ts';
import { agentServerSecrets } from '../collections/agent-server-secrets.ts';
import { collectionRoutes } from '../collections/collection.ts';
import { readSentBody } from './body.ts';
import { SNAPSHOT, AGENT_SCHEMA, CONVERSATION_SCHEMA, SERVER_INFO } from './data.gen.ts';
import { agentProfiles } from './agent-profiles.ts';
import { metaProfiles } from './meta-profiles.ts';
import { patching, reading } from './handlers.ts';
import { connectionRoutes } from './connections.ts';
import { installedRoutes } from './installed.ts';
import { mcpEntryRequests, testing } from './mcp.ts';
import { namedRoutes } from './named.ts';
import { llmProfiles } from './profiles.ts';
import type { AgentServerKind } from './record.ts';
import { heldRoute } from './requests.ts';
import { type Answer, json } from '../http/answer.ts';
import { isJsonObject } from '../json.ts';

/** The paths of an Agent Server's settings. */
export function agentServerRoutes(apiKey: string | undefined): Routes {
  const kind: AgentServerKind = { snapshot: snapshotIn(SNAPSHOT), vault: openVault(apiKey) };
  const routes: Routes = [
    ['/', { GET: getServerInfo }],
    ['/server_info', { GET: getServerInfo }],
    ['/alive', { GET: getAlive }],
    ['/health', { GET: getAlive }],
    ['/ready', { GET: getReady }],
    heldRoute(kind, '/api/settings', { GET: reading(kind), PATCH: patching(kind) }),
    ['/api/settings/agent-schema', { GET: schemaAnswer(AGENT_SCHEMA) }],
    ['/api/settings/conversation-schema', { GET: schemaAnswer(CONVERSATION_SCHEMA) }],
    heldRoute(kind, '/api/settings/mcp/{id}', mcpEntryRequests(kind)),
    heldRoute(kind, '/api/mcp/test', { POST: testing(kind) }),
    ...collectionRoutes(agentServerSecrets(kind.vault), readSentBody),
    ...namedRoutes(kind, llmProfiles(kind)),
    ...connectionRoutes(kind),
    ...namedRoutes(kind, agentProfiles(kind)),
    ...namedRoutes(kind, metaProfiles),
    ...installedRoutes(kind),
  ];
  return withOpenApi(INFO, routes);
}

const INFO = {
  title: 'OpenHands Agent Server',
  description: 'OpenHands Agent Server - REST/WebSocket interface for OpenHands AI Agent',
  version: '1.57.0',
};
const PYTHON = '3.12.0';

/** What the server says of itself; no key is needed. Source: contract "detection: no key is needed". */
async function getServerInfo({ service }: Call): Promise<Answer> {
  const info = answerIn(SERVER_INFO);
  const uptime = (service.now() - service.startedAt) / 1000;
  const now = { uptime, idle_time: uptime, python_version: PYTHON };
  return json(200, isJsonObject(info) ? { ...info, ...now } : info);
}

async function getAlive(): Promise<Answer> {
  return json(200, { status: 'ok' });
}

async function getReady(): Promise<Answer> {
  return json(200, { status: 'ready' });
}
