import {
  SECRETS,
  SETTINGS,
  SETTINGS_V0,
} from '../../../src/reconciler/effects/settings-v0/index.ts';
import { matchPathName } from '../../../src/reconciler/effects/effects.ts';
import { readRecord, type Stored, withMembers } from '../../../src/reconciler/effects/stored.ts';
import { fields } from '../../../src/reconciler/model/field.ts';
import { findSchemaFaults } from '../../../src/reconciler/model/json-schema.ts';
import {
  createRecord,
  isEmpty,
  isRecord,
  type Value,
  type ValueRecord,
} from '../../../src/reconciler/model/value.ts';
import { type Exchange, type Folding, isMap, valueOf } from './fold.ts';

const record = (members: Readonly<Record<string, Value>>): ValueRecord =>
  createRecord(Object.entries(members));

function answer(stored: Stored, { request }: Exchange): Value | undefined {
  const { method, path } = request;
  const named = (pattern: string) => matchPathName([pattern], method, path);
  if (named(`GET ${SECRETS}`) !== null)
    return record({
      custom_secrets: Object.entries(readRecord(stored, 'secrets')).map(([name, one]) =>
        record({ name, description: readRecord(one)['description'] ?? '' }),
      ),
    });
  return named(`GET ${SETTINGS}`) === null ? undefined : settingsShown(stored);
}

function settingsShown(stored: Stored): Value {
  const settings = readRecord(stored, 'settings');
  const passwords = fields().filter(({ secret }) => secret);
  const tokens = Object.entries(readRecord(stored, 'git_providers')).map(
    ([name, one]) => [name, readRecord(one)['host'] ?? null] as const,
  );
  return withMembers(settings, {
    ...Object.fromEntries(passwords.map(({ name }) => [name, null])),
    secrets_store: settings['secrets_store'] ?? record({ provider_tokens: record({}) }),
    provider_tokens_set: createRecord(tokens),
    llm_api_key_set: !isEmpty(settings['llm_api_key']),
    search_api_key_set: !isEmpty(settings['search_api_key']),
  });
}

const MASK = /\*{10}/;

function odd({ request }: Exchange): string | null {
  const { method, path, body, raw } = request;
  if (raw !== undefined) return 'bytes';
  if (body !== undefined && MASK.test(JSON.stringify(body))) return 'a mask';
  if (matchPathName([`POST ${SETTINGS}`], method, path) === null || !isMap(body)) return null;
  if ('llm_api_key_set' in body) return 'an answer sent back';
  const faults = fields().filter(
    ({ name, type, nullable }) =>
      type !== 'object' &&
      name in body &&
      findSchemaFaults(valueOf(body[name]), { type: nullable ? [type, 'null'] : type }, {}).length >
        0,
  );
  const servers = readRecord(valueOf(body), 'mcp_config');
  const isOtherEntry = Object.entries(servers).some(([, list]) =>
    (Array.isArray(list) ? (list as readonly Value[]) : []).some(
      (one) => !isRecord(one) || typeof one['args'] === 'string' || typeof one['env'] === 'string',
    ),
  );
  if (isOtherEntry) return 'another form of an mcp entry';
  return faults.length === 0 ? null : `another type: ${faults.map(({ name }) => name).join()}`;
}

/** With what secrets.json holds; a settings.json is of an older form, and is not read here. */
function given(stored: Stored, file: string, content: unknown): Stored | null {
  if (file !== 'secrets.json' || !isMap(content)) return null;
  const { custom_secrets: secrets = {}, provider_tokens: tokens = {} } = content;
  const own = Object.entries(secrets as Record<string, unknown>).map(([name, one]) => {
    const { secret: value = null, description = '' } = readRecord(valueOf(one));
    return [name, record({ value, description })] as const;
  });
  return withMembers(stored, { secrets: createRecord(own), git_providers: valueOf(tokens) });
}

export const SETTINGS_V0_FOLD: Folding = {
  files: ['settings', 'collections-settings-v0'],
  effects: SETTINGS_V0,
  start: () => record({}),
  given,
  answer,
  inert: /reset-settings/,
  refusals: [400, 404],
  odd,
};
