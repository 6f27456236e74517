import { detail, json } from '../http/answer.ts';
import type { JsonObject } from '../json.ts';
import { MASK } from '../native/secret-places.ts';
import type { Vault } from '../native/vault.ts';
import type { StoredSecret } from '../store/store-document.ts';
import { textRule } from '../rules.ts';
import type { Collection } from './collection.ts';
import {
  bodyOf,
  unchangedStore,
  secretNamed,
  sentSecret,
  withoutSecret,
  withSecret,
} from './named-secrets.ts';

/** A line end after the name slips through. Source: contract "secrets: names". */
const NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}\n?$/;

const badName = detail(
  422,
  'Invalid secret name format. Must start with a letter, contain only letters, numbers, and underscores, and be 1-64 characters long.',
);
const noValue = detail(422, 'Secret value must not be empty or redacted');
const notFound = detail(404, 'Secret not found');
const noAgentProfile = detail(404, 'Agent profile not found');

/**
 * The custom secrets of an Agent Server: in the order of creation; PUT writes the whole of one; the value can be read, unless
 * another key has sealed it. Source: behaviour 6.1; contract "secrets: put, list, value, put again, delete", "secrets: masks and tokens".
 */
export function agentServerSecrets(vault: Vault): Collection {
  return [
    [
      '/api/settings/secrets',
      {
        GET: {
          // There are no agent profiles. Source: contract "secrets by agent profile".
          does: (before, { query }) =>
            unchangedStore(
              before,
              query.has('agent_profile_id')
                ? noAgentProfile
                : json(200, { secrets: (before.secrets ?? []).map(listedSecret) }),
            ),
        },
        PUT: {
          takes: bodyOf(textRule, 'with value'),
          does(before, { body }) {
            const { name, value, description } = sentSecret(body);
            if (!NAME.test(name)) return unchangedStore(before, badName);
            if (value.trim() === '' || value === MASK) return unchangedStore(before, noValue);
            const token = vault.seal(vault.open(value) ?? value);
            const contents = withSecret(before, { name, token, description });
            return { contents, answer: json(200, { name, description }) };
          },
        },
      },
    ],
    [
      '/api/settings/secrets/{id}',
      {
        GET: {
          does(before, { id }) {
            if (!NAME.test(id)) return unchangedStore(before, badName);
            const text = vault.open(secretNamed(before, id)?.token ?? '');
            return unchangedStore(before, text === null ? notFound : { kind: 'text', text });
          },
        },
        DELETE: {
          does(before, { id }) {
            if (!NAME.test(id)) return unchangedStore(before, badName);
            if (secretNamed(before, id) === undefined) return unchangedStore(before, notFound);
            return { contents: withoutSecret(before, id), answer: json(200, { deleted: true }) };
          },
        },
      },
    ],
  ];
}

function listedSecret({ name, description }: StoredSecret): JsonObject {
  return { name, description };
}
