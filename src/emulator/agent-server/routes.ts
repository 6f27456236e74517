import type { Routes } from '../http/route.ts';
import { openApiPaths } from '../http/route.ts';
import { snapshotIn } from '../native/data.ts';
import { openVault } from '../native/vault.ts';
import { agentServerSecrets } from '../collections/agent-server-secrets.ts';
import { collectionRoutes } from '../collections/collection.ts';
import { readSentBody } from './body.ts';
import { SNAPSHOT } from './data.gen.ts';
import {
  getAgentSchema,
  getAlive,
  getConversationSchema,
  getOpenApi,
  getReady,
  getServerInfo,
} from './detection.ts';
import { getSettings, patchSettings } from './handlers.ts';
import { addEntry, changeEntry, removeEntry } from './mcp.ts';
import {
  activateProfile,
  getProfile,
  listProfiles,
  removeProfile,
  saveProfile,
} from './profiles.ts';
import type { Kind } from './record.ts';

/** The paths of an Agent Server's settings. It has no sandboxes. */
export function agentServerRoutes(apiKey: string | undefined): Routes {
  const kind: Kind = { snapshot: snapshotIn(SNAPSHOT), vault: openVault(apiKey) };
  const routes: Routes = [
    ['/', { GET: getServerInfo }],
    ['/server_info', { GET: getServerInfo }],
    ['/alive', { GET: getAlive }],
    ['/health', { GET: getAlive }],
    ['/ready', { GET: getReady }],
    [
      '/api/settings',
      { GET: (call) => getSettings(kind, call), PATCH: (call) => patchSettings(kind, call) },
    ],
    ['/api/settings/agent-schema', { GET: getAgentSchema }],
    ['/api/settings/conversation-schema', { GET: getConversationSchema }],
    [
      '/api/settings/mcp/{id}',
      {
        POST: (call) => addEntry(kind, call),
        PATCH: (call) => changeEntry(kind, call),
        DELETE: (call) => removeEntry(kind, call),
      },
    ],
    ...collectionRoutes(agentServerSecrets(kind.vault), readSentBody),
    ['/api/profiles', { GET: (call) => listProfiles(kind, call) }],
    ['/api/profiles/{id}/activate', { POST: (call) => activateProfile(kind, call) }],
    [
      '/api/profiles/{id}',
      {
        GET: (call) => getProfile(kind, call),
        POST: (call) => saveProfile(kind, call),
        DELETE: (call) => removeProfile(kind, call),
      },
    ],
  ];
  return [...routes, ['/openapi.json', { GET: getOpenApi(openApiPaths(routes)) }]];
}
