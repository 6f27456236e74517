import { createJsonAnswer } from '../http/answer.ts';
import type { Vault } from '../native/vault.ts';
import { textRule } from '../rules.ts';
import type { Collection } from './collection.ts';
import {
  changeSecret,
  created,
  deleteSecret,
  createSecretBodyRule,
  keepStore,
  createSecretListing,
  type Refusals,
  secretNamed,
  parseSentSecret,
  describeNameConflict,
  updated,
  withSecret,
} from './named-secrets.ts';

const REFUSALS: Refusals = {
  missing: (error) => createJsonAnswer(404, { error }),
  taken: (message) => createJsonAnswer(400, { message }),
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
            keepStore(
              before,
              createJsonAnswer(200, {
                custom_secrets: (before.secrets ?? []).map(createSecretListing),
              }),
            ),
        },
        POST: {
          takes: createSecretBodyRule(textRule, 'with value'),
          failed: createFailureAnswer('creating'),
          does(before, { body }) {
            const { name, value, description } = parseSentSecret(body);
            if (secretNamed(before, name) !== undefined)
              return keepStore(before, REFUSALS.taken(describeNameConflict(name)));
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
          takes: createSecretBodyRule(textRule, 'without value'),
          failed: createFailureAnswer('updating'),
          does: (before, asked) =>
            before.secrets === undefined
              ? keepStore(before, updated)
              : changeSecret(before, asked, REFUSALS),
        },
        DELETE: {
          failed: createFailureAnswer('deleting'),
          does: (before, asked) => deleteSecret(before, asked, REFUSALS),
        },
      },
    ],
  ];
}

function createFailureAnswer(doing: string) {
  return createJsonAnswer(500, { error: `Something went wrong ${doing} secret` });
}
