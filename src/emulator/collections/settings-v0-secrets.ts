import { json } from '../http/answer.ts';
import type { Vault } from '../native/vault.ts';
import { textRule } from '../rules.ts';
import type { Collection } from './collection.ts';
import {
  changeSecret,
  created,
  deleteSecret,
  bodyOf,
  unchangedStore,
  listedSecret,
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
          does: (before) =>
            unchangedStore(
              before,
              json(200, { custom_secrets: (before.secrets ?? []).map(listedSecret) }),
            ),
        },
        POST: {
          takes: bodyOf(textRule, 'with value'),
          failed: failedAt('creating'),
          does(before, { body }) {
            const { name, value, description } = sentSecret(body);
            if (secretNamed(before, name) !== undefined)
              return unchangedStore(before, REFUSALS.taken(taken(name)));
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
          takes: bodyOf(textRule, 'without value'),
          failed: failedAt('updating'),
          does: (before, asked) =>
            before.secrets === undefined
              ? unchangedStore(before, updated)
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

function failedAt(doing: string) {
  return json(500, { error: `Something went wrong ${doing} secret` });
}
