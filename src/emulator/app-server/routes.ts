import { type Answer, createJsonAnswer, unauthorized, unprocessable } from '../http/answer.ts';
import { type Call, withOpenApi, type Routes } from '../call.ts';
import { appServerSecrets } from '../collections/app-server-secrets.ts';
import { collectionRoutes } from '../collections/collection.ts';
import { appServerGitProviders, moveOldTokens, tokensSet } from '../collections/git-providers.ts';
import { readRequiredBody, decodeBody } from '../http/body.ts';
import { schemaAnswer, parseSchemaSnapshot } from '../native/schema.ts';
import { openVault } from '../native/vault.ts';
import { AGENT_SCHEMA, CONVERSATION_SCHEMA, SNAPSHOT } from './data.gen.ts';
import {
  type AppServerKind,
  PARTS,
  createAppSettingsAnswer,
  createUserAnswer,
  loadAppRecord,
  openAppRecord,
  sealAppRecord,
} from './record.ts';
import {
  handleProfileActivation,
  getProfile,
  listProfiles,
  removeProfile,
  renameProfile,
  saveProfile,
} from './profile-routes.ts';
import { isJsonObject, readOwnMember } from '../json.ts';
import { refusalText } from '../native/refusal-text.ts';
import type { StoreContents } from '../store/store-document.ts';
import { checkObjectBody, writeAppRecord } from './write-record.ts';

/** Creates the context of a service whose key is `apiKey`. */
export function appServerKind(apiKey: string | undefined): AppServerKind {
  return { snapshot: parseSchemaSnapshot(SNAPSHOT), vault: openVault(apiKey) };
}

/** The paths of the settings, as releases 1.9 to 1.11 of the service have them. */
export function appServerRoutes(kind: AppServerKind): Routes {
  const routes: Routes = [
    ['/alive', { GET: async () => createJsonAnswer(200, { status: 'ok' }) }],
    ['/health', { GET: async () => createJsonAnswer(200, 'OK') }],
    [
      '/api/v1/settings',
      { GET: (call) => getSettings(kind, call), POST: (call) => handleAppSettingsPost(kind, call) },
    ],
    ['/api/v1/settings/agent-schema', { GET: schemaAnswer(AGENT_SCHEMA) }],
    ['/api/v1/settings/conversation-schema', { GET: schemaAnswer(CONVERSATION_SCHEMA) }],
    ['/api/v1/settings/profiles', { GET: (call) => listProfiles(kind, call) }],
    [
      '/api/v1/settings/profiles/{id}/activate',
      { POST: (call) => handleProfileActivation(kind, call) },
    ],
    ['/api/v1/settings/profiles/{id}/rename', { POST: (call) => renameProfile(kind, call) }],
    [
      '/api/v1/settings/profiles/{id}',
      {
        GET: (call) => getProfile(kind, call),
        POST: (call) => saveProfile(kind, call),
        DELETE: (call) => removeProfile(kind, call),
      },
    ],
    // The additional ones of a server are read from the network.
    ['/api/v1/skills/search', { GET: async (call) => emptyPage(call) }],
    ['/api/v1/users/me', { GET: (call) => getUser(kind, call) }],
    ...collectionRoutes(
      [...appServerGitProviders(kind.vault), ...appServerSecrets(kind.vault)],
      readRequiredBody,
    ),
  ];
  return withOpenApi({ title: 'OpenHands Cloud API', version: '1.11.0' }, routes);
}

/** GET /api/v1/settings. A record that cannot be read is a crash. Source: contract "load on an empty store". */
async function getSettings(kind: AppServerKind, { service, authorized }: Call): Promise<Answer> {
  if (!authorized) return unauthorized;
  const contents = await moveOldTokens(service.store, kind.vault);
  if (contents.settings === undefined)
    return createJsonAnswer(404, { error: 'Settings not found' });
  const loaded = loadAppRecord(kind, openAppRecord(kind, contents.settings), service.now());
  if (loaded.kind !== 'good') return { kind: 'crash' };
  return createJsonAnswer(200, createAppSettingsAnswer(kind, loaded.value, tokensSet(contents)));
}

/** GET /api/v1/users/me: of an empty store, the defaults. */
async function getUser(kind: AppServerKind, { service, authorized }: Call): Promise<Answer> {
  if (!authorized) return unauthorized;
  const { settings } = await service.store.read();
  const record = settings === undefined ? {} : openAppRecord(kind, settings);
  const loaded = loadAppRecord(kind, record, service.now());
  return loaded.kind === 'good'
    ? createJsonAnswer(200, createUserAnswer(kind, loaded.value))
    : { kind: 'crash' };
}

function emptyPage({ authorized }: Call): Answer {
  return authorized ? createJsonAnswer(200, { items: [], next_page_id: null }) : unauthorized;
}

/** POST /api/v1/settings: the body is read as JSON before the key is checked. Source: contract "body is not JSON, no key". */
async function handleAppSettingsPost(kind: AppServerKind, call: Call): Promise<Answer> {
  const decoded = decodeBody(call.body, call.contentType);
  if (decoded.kind === 'refused') return decoded.answer;
  if (!call.authorized) return unauthorized;
  const checked = checkObjectBody(decoded.value);
  if (checked.kind === 'bad') return unprocessable(checked.problems);
  const { value: body } = decoded;
  if (!isJsonObject(body)) return { kind: 'crash' };
  const keys = PARTS.filter((name) => readOwnMember(body, name) !== undefined);
  if (keys.length > 0) return createJsonAnswer(422, { error: LEGACY, keys });
  const { service } = call;
  return service.store.update<Answer>((before) => {
    const now = service.now();
    const record = before.settings === undefined ? {} : openAppRecord(kind, before.settings);
    const loaded = loadAppRecord(kind, record, now);
    if (loaded.kind !== 'good')
      return refuseStoreChange(
        before,
        refusalText('Settings', loaded.kind === 'bad' ? loaded.problems : []),
      );
    const written = writeAppRecord(kind, record, loaded.value, body, now);
    if (written.kind === 'failed')
      return {
        contents: before,
        answer: createJsonAnswer(500, { error: 'Something went wrong storing settings' }),
      };
    if (written.kind === 'refused') return refuseStoreChange(before, written.reason);
    const settings = sealAppRecord(kind, written.record);
    return { contents: { ...before, settings }, answer: createJsonAnswer(200, STORED) };
  });
}

const LEGACY = 'Use *_diff nested settings payloads instead of legacy keys';
const STORED = { message: 'Settings stored' };

function refuseStoreChange(contents: StoreContents, error: string) {
  return { contents, answer: createJsonAnswer(400, { error }) };
}
