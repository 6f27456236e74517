import { type Answer, json, unauthorized } from '../http/answer.ts';
import type { Call } from '../call.ts';
import { appServerSecrets } from '../collections/app-server-secrets.ts';
import { collectionRoutes } from '../collections/collection.ts';
import { readRequiredBody } from '../http/body.ts';
import { openApiPaths, type Routes } from '../http/route.ts';
import { answerIn, snapshotIn } from '../native/data.ts';
import { openVault } from '../native/vault.ts';
import { AGENT_SCHEMA, CONVERSATION_SCHEMA, SNAPSHOT } from './data.gen.ts';
import { getSettings, getUser, postSettings } from './handlers.ts';
import type { Kind } from './kind.ts';
import {
  activateProfile,
  getProfile,
  listProfiles,
  removeProfile,
  renameProfile,
  saveProfile,
} from './profiles.ts';

const RELEASE = '1.11.0';

/** The paths of the settings, as releases 1.9 to 1.11 of the service have them. */
export function appServerRoutes(apiKey: string | undefined): Routes {
  const kind: Kind = { snapshot: snapshotIn(SNAPSHOT), vault: openVault(apiKey) };
  const routes: Routes = [
    ['/alive', { GET: async () => json(200, { status: 'ok' }) }],
    ['/health', { GET: async () => json(200, 'OK') }],
    [
      '/api/v1/settings',
      { GET: (call) => getSettings(kind, call), POST: (call) => postSettings(kind, call) },
    ],
    ['/api/v1/settings/agent-schema', { GET: schemaAnswer(AGENT_SCHEMA) }],
    ['/api/v1/settings/conversation-schema', { GET: schemaAnswer(CONVERSATION_SCHEMA) }],
    ['/api/v1/settings/profiles', { GET: (call) => listProfiles(kind, call) }],
    ['/api/v1/settings/profiles/{id}/activate', { POST: (call) => activateProfile(kind, call) }],
    ['/api/v1/settings/profiles/{id}/rename', { POST: (call) => renameProfile(kind, call) }],
    [
      '/api/v1/settings/profiles/{id}',
      {
        GET: (call) => getProfile(kind, call),
        POST: (call) => saveProfile(kind, call),
        DELETE: (call) => removeProfile(kind, call),
      },
    ],
    ['/api/v1/users/me', { GET: (call) => getUser(kind, call) }],
    ...collectionRoutes(appServerSecrets(kind.vault), readRequiredBody),
  ];
  return [...routes, ['/openapi.json', { GET: async () => json(200, openApi(routes)) }]];
}

function openApi(routes: Routes) {
  const info = { title: 'OpenHands Cloud API', version: RELEASE };
  return { openapi: '3.1.0', info, paths: openApiPaths(routes) };
}

/** What the server says of its own fields. Source: contract "schemas". */
function schemaAnswer(text: string): (call: Call) => Promise<Answer> {
  return async ({ authorized }) => (authorized ? json(200, answerIn(text)) : unauthorized);
}
