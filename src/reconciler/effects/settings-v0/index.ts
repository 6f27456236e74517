import { fields, type SpecifiedField } from '../../model/field.ts';
import type { Definitions, SchemaNode } from '../../model/json-schema.ts';
import { MCP_DEFAULTS, MCP_LISTS, type McpList } from '../../model/mcp.ts';
import type { Json, ValueRecord } from '../../model/value.ts';
import type { Effects } from '../effects.ts';
import { requireFreeName, requireThing } from '../refusals.ts';
import { readRecord, withMembers, withPart } from '../stored.ts';
import { listVaultEffects } from '../vault.ts';

export const SETTINGS = '/api/settings';
export const SECRETS = '/api/secrets';
export const PROVIDERS = '/api/add-git-providers';
const POST = [`POST ${SETTINGS}`];

/** The members that an entry of each list has besides its defaults. */
const REQUIRED: Readonly<Record<McpList, readonly string[]>> = {
  sse_servers: ['url'],
  stdio_servers: ['name', 'command'],
  shttp_servers: ['url'],
};

/** The types of the settings, from the table of fields and the defaults of mcp entries. */
const DEFINITIONS: Definitions = {
  Settings: {
    properties: {
      ...Object.fromEntries(fields().map((field) => [field.name, fieldType(field)])),
      mcp_config: { $ref: '#/$defs/McpConfig' },
    },
  },
  McpConfig: {
    type: ['object', 'null'],
    properties: Object.fromEntries(
      MCP_LISTS.map((list) => [list, { type: 'array', items: { $ref: `#/$defs/${list}` } }]),
    ),
  },
  ...Object.fromEntries(MCP_LISTS.map((list) => [list, entryType(list)])),
};

function fieldType({ default: value, secret }: SpecifiedField): SchemaNode {
  return { default: value, ...(secret ? { format: 'password' } : {}) };
}

function entryType(list: McpList): SchemaNode {
  const required = REQUIRED[list].map((name) => [name, { default: null }] as const);
  const others = Object.entries(MCP_DEFAULTS[list]).map(
    ([name, value]) => [name, { default: value as Json }] as const,
  );
  return { properties: Object.fromEntries([...required, ...others]) };
}

/** The type of the whole record. */
export const SETTINGS_TYPE: SchemaNode = { $ref: '#/$defs/Settings' };

/** Fields that null, and a body without them, leave unchanged. */
const STAYS = fields().filter(({ onNull }) => onNull === 'keeps');

function readSecretName({ name }: ValueRecord): string {
  return typeof name === 'string' ? name : '';
}

/** What requests do to an app server of releases 0.62 to 1.6, as recorded of 0.62.0. */
export const SETTINGS_V0: Effects = {
  effects: [
    {
      rule: 'settings: a store replaces the record',
      on: POST,
      does: (stored, { body, before, shape }) =>
        withMembers(stored, {
          settings: shape(SETTINGS_TYPE, body, readRecord(before, 'settings')),
        }),
    },
    {
      rule: 'settings: the model, its address, keys and the consent stay where none is sent',
      on: POST,
      does: (stored, { body, before }) => {
        const was = readRecord(before, 'settings');
        const names = STAYS.map(({ name }) => name).filter((name) => (body[name] ?? null) === null);
        return withPart(
          stored,
          ['settings'],
          Object.fromEntries(names.map((name) => [name, was[name] ?? null])),
        );
      },
    },
    {
      rule: 'settings: secrets_store is dropped',
      on: POST,
      does: (stored) => withPart(stored, ['settings'], { secrets_store: null }),
    },
    ...listVaultEffects(SECRETS, `POST ${PROVIDERS}`),
  ],
  types: {
    defs: DEFINITIONS,
    rules: [
      {
        rule: 'mcp: blanks around an address go',
        of: ['sse_servers', 'shttp_servers'],
        fill: (entry) => {
          const { url } = entry;
          return typeof url === 'string' ? withMembers(entry, { url: url.trim() }) : entry;
        },
      },
    ],
  },
  settings: {},
  refusals: [
    requireFreeName('secrets', `POST ${SECRETS}`, 400, readSecretName),
    requireThing(
      'secrets',
      [`PUT ${SECRETS}/{}`, `DELETE ${SECRETS}/{}`],
      // One that never stored a secret takes a request for any.
      (stored, name) =>
        stored['secrets'] === undefined || Object.hasOwn(readRecord(stored, 'secrets'), name),
    ),
    {
      ...requireFreeName('secrets', `PUT ${SECRETS}/{}`, 400, readSecretName),
      rule: 'secrets: none gets the name of another',
    },
  ],
};
