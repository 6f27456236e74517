import { type Answer, json, unauthorized, unprocessable } from '../http/answer.ts';
import { type Call, withOpenApi, type Routes } from '../call.ts';
import { appServerSecrets } from '../collections/app-server-secrets.ts';
import { collectionRoutes } from '../collections/collection.ts';
import { appServerGitProviders, movedStore, tokensSet } from '../collections/git-providers.ts';
import { readRequiredBody, decodeBody } from '../http/body.ts';
import { schemaAnswer, snapshotIn } from '../native/schema.ts';
import { openVault } from '../native/vault.ts';
import { AGENT_SCHEMA, CONVERSATION_SCHEMA, SNAPSHOT } from './data.gen.ts';
import {
  type AppServerKind,
  PARTS,
  answered,
  answeredUser,
  loadedRecord,
  openRecord,
  sealedRecord,
} from './record.ts';
import {
  activateProfile,
  getProfile,
  listProfiles,
  removeProfile,
  renameProfile,
  saveProfile,
} from './profiles.ts';
import { isJsonObject, memberOf } from '../json.ts';
import { refusalText } from '../native/refusal-text.ts';
import type { StoreContents } from '../store/store-document.ts';
import { checkedBody, writtenRecord } from './write.ts';

/** What a service works with whose key is `apiKey`. */
export function appServerKind(apiKey: string | undefined): AppServerKind {
  return { snapshot: snapshotIn(SNAPSHOT), vault: openVault(apiKey) };
}

/** The paths of the settings, as releases 1.9 to 1.11 of the service have them. */
export function appServerRoutes(kind: AppServerKind): Routes {
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
    // Those that a server has besides its own are read from the network.
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
  const contents = await movedStore(service.store, kind.vault);
  if (contents.settings === undefined) return json(404, { error: 'Settings not found' });
  const loaded = loadedRecord(kind, openRecord(kind, contents.settings), service.now());
  if (loaded.kind !== 'good') return { kind: 'crash' };
  return json(200, answered(kind, loaded.value, tokensSet(contents)));
}

/** GET /api/v1/users/me: of an empty store, the defaults. */
async function getUser(kind: AppServerKind, { service, authorized }: Call): Promise<Answer> {
  if (!authorized) return unauthorized;
  const { settings } = await service.store.read();
  const record = settings === undefined ? {} : openRecord(kind, settings);
  const loaded = loadedRecord(kind, record, service.now());
  return loaded.kind === 'good' ? json(200, answeredUser(kind, loaded.value)) : { kind: 'crash' };
}

function emptyPage({ authorized }: Call): Answer {
  return authorized ? json(200, { items: [], next_page_id: null }) : unauthorized;
}

/** POST /api/v1/settings: the body is read as JSON before the key is checked. Source: contract "body is not JSON, no key". */
async function postSettings(kind: AppServerKind, call: Call): Promise<Answer> {
  const decoded = decodeBody(call.body, call.contentType);
  if (decoded.kind === 'refused') return decoded.answer;
  if (!call.authorized) return unauthorized;
  const checked = checkedBody(decoded.value);
  if (checked.kind === 'bad') return unprocessable(checked.problems);
  const { value: body } = decoded;
  if (!isJsonObject(body)) return { kind: 'crash' };
  const keys = PARTS.filter((name) => memberOf(body, name) !== undefined);
  if (keys.length > 0) return json(422, { error: LEGACY, keys });
  const { service } = call;
  return service.store.update<Answer>((before) => {
    const now = service.now();
    const record = before.settings === undefined ? {} : openRecord(kind, before.settings);
    const loaded = loadedRecord(kind, record, now);
    if (loaded.kind !== 'good')
      return refusedStore(
        before,
        refusalText('Settings', loaded.kind === 'bad' ? loaded.problems : []),
      );
    const written = writtenRecord(kind, record, loaded.value, body, now);
    if (written.kind === 'failed')
      return {
        contents: before,
        answer: json(500, { error: 'Something went wrong storing settings' }),
      };
    if (written.kind === 'refused') return refusedStore(before, written.reason);
    const settings = sealedRecord(kind, written.record);
    return { contents: { ...before, settings }, answer: json(200, STORED) };
  });
}

const LEGACY = 'Use *_diff nested settings payloads instead of legacy keys';
const STORED = { message: 'Settings stored' };

function refusedStore(contents: StoreContents, error: string) {
  return { contents, answer: json(400, { error }) };
}
