import { json } from '../http/answer.ts';
import type { Vault } from '../native/vault.ts';
import { checkObject, type Member, type Rule } from '../validation/rule.ts';
import { nullable, textRule } from '../validation/scalar-rules.ts';
import type { Collection } from './collection.ts';
import {
  changeSecret,
  created,
  deleteSecret,
  kept,
  type Refusals,
  secretNamed,
  sentSecret,
  taken,
  updated,
  withSecret,
} from './named-secrets.ts';

const REFUSALS: Refusals = {
  missing: (error) => json(404, { error }),
  taken: (message) => json(400, { message }),
};

const NAMED: readonly Member[] = [
  { name: 'name', rule: textRule },
  { name: 'description', rule: nullable(textRule), absent: null },
];

const WITH_VALUE: readonly Member[] = [...NAMED, { name: 'value', rule: textRule }];

/**
 * The custom secrets of releases up to 1.6: any name, in the order of creation, and no request that changes a value.
 * Source: behaviour 6.1; contract "secrets: created again", "secrets: PUT does not take a value", "secrets: names, no rule at all".
 */
export function settingsV0Secrets(vault: Vault): Collection {
  return [
    [
      '/api/secrets',
      {
        GET: {
          does(before) {
            const custom_secrets = (before.secrets ?? []).map(({ name, description }) => ({
              name,
              description: description ?? '',
            }));
            return kept(before, json(200, { custom_secrets }));
          },
        },
        POST: {
          takes: bodyOf(WITH_VALUE),
          failed: failedAt('creating'),
          does(before, { body }) {
            const { name, value, description } = sentSecret(body);
            if (secretNamed(before, name) !== undefined)
              return kept(before, REFUSALS.taken(taken(name)));
            const secret = { name, token: vault.seal(value), description: description ?? '' };
            return { contents: withSecret(before, secret), answer: created };
          },
        },
      },
    ],
    [
      '/api/secrets/{id}',
      {
        PUT: {
          takes: bodyOf(NAMED),
          failed: failedAt('updating'),
          does: (before, asked) =>
            before.secrets === undefined
              ? kept(before, updated)
              : changeSecret(before, asked, REFUSALS),
        },
        DELETE: {
          failed: failedAt('deleting'),
          does: (before, asked) => deleteSecret(before, asked, REFUSALS),
        },
      },
    ],
  ];
}

function bodyOf(members: readonly Member[]): Rule {
  return (body, at) => checkObject(members, 'ignored', body, at);
}

function failedAt(doing: string) {
  return json(500, { error: `Something went wrong ${doing} secret` });
}
