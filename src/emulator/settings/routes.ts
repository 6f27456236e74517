import type { Routes, Call } from '../call.ts';
import { type Answer, json, unauthorized, unprocessable } from '../http/answer.ts';
import { decodeBody } from '../http/body.ts';
import { movedStore, tokensSet } from '../collections/git-providers.ts';
import type { JsonObject } from '../json.ts';
import type { Vault } from '../native/vault.ts';
import { loadAnswer, mergeSettings, validateSettings } from './settings-fields.ts';
import { heldFields } from '../store/held-settings.ts';
import type { Store } from '../store/store.ts';

export function settingsRoutes(vault: Vault): Routes {
  return [
    ['/api/settings', { GET: (call) => loadSettings(vault, call), POST: postSettings }],
    ['/api/reset-settings', { POST: resetSettings }],
  ];
}

/** GET /api/settings. Source: specification 4.3; contract "load on an empty store", "store every field, then load". */
async function loadSettings(vault: Vault, { service, authorized }: Call): Promise<Answer> {
  if (!authorized) return unauthorized;
  const contents = await movedStore(service.store, vault).catch(() => undefined);
  if (contents === undefined) return { kind: 'crash' };
  if (contents.settings === undefined) return json(404, { error: 'Settings not found' });
  const fields = heldFields(contents.settings);
  return fields === undefined
    ? { kind: 'crash' }
    : json(200, loadAnswer(fields, service.serverMcp, tokensSet(contents)));
}

/** POST /api/settings: the body is read as JSON before the key is checked. Source: specification 4.2; contract "body is not JSON". */
async function postSettings({ service, authorized, contentType, body }: Call): Promise<Answer> {
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
  return json(410, { error: 'Reset settings functionality has been removed.' });
}

async function storeChecked(store: Store, sent: JsonObject): Promise<Answer> {
  try {
    return await store.update((before) => {
      const fields = before.settings && heldFields(before.settings);
      const settings = { dialect: 'settings-v0', ...mergeSettings(fields, sent) } as const;
      return {
        contents: { ...before, settings },
        answer: json(200, { message: 'Settings stored' }),
      };
    });
  } catch {
    return json(500, { error: 'Something went wrong storing settings' });
  }
}
