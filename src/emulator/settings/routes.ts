import type { Routes, Call } from '../call.ts';
import { type Answer, createJsonAnswer, unauthorized, unprocessable } from '../http/answer.ts';
import { decodeBody } from '../http/body.ts';
import { moveOldTokens, tokensSet } from '../collections/git-providers.ts';
import type { JsonObject } from '../json.ts';
import type { Vault } from '../native/vault.ts';
import { loadAnswer, mergeSettings, validateSettings } from './settings-fields.ts';
import { readHeldFields } from '../store/held-settings.ts';
import type { Store } from '../store/store.ts';

export function settingsRoutes(vault: Vault): Routes {
  return [
    ['/api/settings', { GET: (call) => loadSettings(vault, call), POST: handleSettingsPost }],
    ['/api/reset-settings', { POST: resetSettings }],
  ];
}

/** GET /api/settings. Source: specification 4.3; contract "load on an empty store", "store every field, then load". */
async function loadSettings(vault: Vault, { service, authorized }: Call): Promise<Answer> {
  if (!authorized) return unauthorized;
  const contents = await moveOldTokens(service.store, vault).catch(() => undefined);
  if (contents === undefined) return { kind: 'crash' };
  if (contents.settings === undefined)
    return createJsonAnswer(404, { error: 'Settings not found' });
  const fields = readHeldFields(contents.settings);
  return fields === undefined
    ? { kind: 'crash' }
    : createJsonAnswer(200, loadAnswer(fields, service.serverMcp, tokensSet(contents)));
}

/** POST /api/settings: the body is read as JSON before the key is checked. Source: specification 4.2; contract "body is not JSON". */
async function handleSettingsPost({
  service,
  authorized,
  contentType,
  body,
}: Call): Promise<Answer> {
  const decoded = decodeBody(body, contentType);
  if (decoded.kind === 'refused') return decoded.answer;
  if (!authorized) return unauthorized;
  const verdict = validateSettings(decoded.value);
  if (verdict.kind === 'crash') return { kind: 'crash' };
  if (verdict.kind === 'bad') return unprocessable(verdict.problems);
  return storeChecked(service.store, verdict.value);
}

/** POST /api/reset-settings, which real servers have removed. Source: behaviour 1.5. */
async function resetSettings({ authorized }: Call): Promise<Answer> {
  if (!authorized) return unauthorized;
  return createJsonAnswer(410, { error: 'Reset settings functionality has been removed.' });
}

async function storeChecked(store: Store, sent: JsonObject): Promise<Answer> {
  try {
    return await store.update((before) => {
      const fields = before.settings && readHeldFields(before.settings);
      const settings = { dialect: 'settings-v0', ...mergeSettings(fields, sent) } as const;
      return {
        contents: { ...before, settings },
        answer: createJsonAnswer(200, { message: 'Settings stored' }),
      };
    });
  } catch {
    return createJsonAnswer(500, { error: 'Something went wrong storing settings' });
  }
}
