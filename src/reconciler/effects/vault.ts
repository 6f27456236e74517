import { isEmpty, createRecord, type Value, type ValueRecord } from '../model/value.ts';
import type { Effect } from './effects.ts';
import { readRecord, withMembers, withoutMember, withPart } from './stored.ts';

/** The effects of requests for custom secrets and for the tokens of git providers, which settings-v0 and app-server store in the same way. */
export function listVaultEffects(secrets: string, tokens: string): readonly Effect[] {
  return [
    {
      rule: 'secrets: what is stored again keeps a description that is not sent',
      on: [`POST ${secrets}`],
      does: (stored, { body, before }) => {
        const { name = null, value = null, description = null } = body;
        if (typeof name !== 'string') return stored;
        const was = readRecord(before, 'secrets', name)['description'] ?? '';
        return withPart(stored, ['secrets'], {
          [name]: createStoredSecret(value, description ?? was),
        });
      },
    },
    {
      rule: 'secrets: another name or description keeps the value, and moves to the end',
      on: [`PUT ${secrets}/{}`],
      does: (stored, { name, body }) => {
        const was = readRecord(stored, 'secrets', name)['value'] ?? null;
        const others = withoutMember(readRecord(stored, 'secrets'), name);
        const to = typeof body['name'] === 'string' ? body['name'] : name;
        const made = createStoredSecret(was, body['description'] ?? '');
        return withMembers(stored, { secrets: withMembers(others, { [to]: made }) });
      },
    },
    {
      rule: 'secrets: one is removed',
      on: [`DELETE ${secrets}/{}`],
      does: (stored, { name }) =>
        name === 'git-providers'
          ? stored
          : withMembers(stored, { secrets: withoutMember(readRecord(stored, 'secrets'), name) }),
    },
    {
      rule: 'git providers: the map is replaced, and an empty token keeps the stored one',
      on: [tokens],
      does: (stored, { body, before }) => {
        const was = readRecord(before, 'git_providers');
        const sent = Object.entries(readRecord(body, 'provider_tokens'));
        const made = sent.flatMap(([name, one]): [string, Value][] => {
          const { token = null, host = null, user_id = null } = readRecord(one);
          const former = readRecord(was, name);
          if (isEmpty(token))
            return Object.hasOwn(was, name) ? [[name, withMembers(former, { host })]] : [];
          return [[name, createRecord(Object.entries({ token, host, user_id }))]];
        });
        return withMembers(stored, { git_providers: createRecord(made) });
      },
    },
  ];
}

function createStoredSecret(value: Value, description: Value): ValueRecord {
  return createRecord([
    ['value', value],
    ['description', description],
  ]);
}
