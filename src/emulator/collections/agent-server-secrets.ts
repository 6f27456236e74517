import { type Answer, detail, createJsonAnswer, unprocessable } from '../http/answer.ts';
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  readOwnMember,
  readObjectMember,
} from '../json.ts';
import { MASK } from '../native/secret-places.ts';
import type { Vault } from '../native/vault.ts';
import type { StoreContents, StoredSecret } from '../store/store-document.ts';
import { textRule } from '../rules.ts';
import type { Collection } from './collection.ts';
import {
  createSecretBodyRule,
  keepStore,
  secretNamed,
  parseSentSecret,
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
          does: (before, { query }) => keepStore(before, selectListedSecrets(before, query)),
        },
        PUT: {
          takes: createSecretBodyRule(textRule, 'with value'),
          does(before, { body }) {
            const { name, value, description } = parseSentSecret(body);
            if (!NAME.test(name)) return keepStore(before, badName);
            if (value.trim() === '' || value === MASK) return keepStore(before, noValue);
            const token = vault.seal(vault.open(value) ?? value);
            const contents = withSecret(before, { name, token, description });
            return { contents, answer: createJsonAnswer(200, { name, description }) };
          },
        },
      },
    ],
    [
      '/api/settings/secrets/{id}',
      {
        GET: {
          does(before, { id }) {
            if (!NAME.test(id)) return keepStore(before, badName);
            const text = vault.open(secretNamed(before, id)?.token ?? '');
            return keepStore(before, text === null ? notFound : { kind: 'text', text });
          },
        },
        DELETE: {
          does(before, { id }) {
            if (!NAME.test(id)) return keepStore(before, badName);
            if (secretNamed(before, id) === undefined) return keepStore(before, notFound);
            return {
              contents: withoutSecret(before, id),
              answer: createJsonAnswer(200, { deleted: true }),
            };
          },
        },
      },
    ],
    [
      '/api/git/repositories/search',
      {
        GET: {
          does: (before, { query }) =>
            keepStore(before, repositories(before, query.get('provider'), vault)),
        },
      },
    ],
  ];
}

const GIT_PROVIDERS = ['github', 'gitlab', 'bitbucket'];

/** Secrets of these names are a token for GitHub. */
const GITHUB_TOKENS = ['github_token', 'GITHUB_TOKEN', 'GH_TOKEN', 'github'];

/** With a token GitHub would be asked, which is not to be reached. Source: contract "git tokens: a custom secret of the right name is one". */
function repositories(before: StoreContents, provider: string | null, vault: Vault): Answer {
  const loc = ['query', 'provider'];
  if (provider === null)
    return unprocessable([{ type: 'missing', loc, msg: 'Field required', input: null }]);
  if (!GIT_PROVIDERS.includes(provider)) {
    const expected = "'github', 'gitlab' or 'bitbucket'";
    const msg = `Input should be ${expected}`;
    return unprocessable([{ type: 'enum', loc, msg, input: provider, ctx: { expected } }]);
  }
  if (provider !== 'github')
    return detail(400, `Repository discovery is not supported for provider '${provider}'`);
  const isThere = (name: string) => vault.open(secretNamed(before, name)?.token ?? '') !== null;
  if (GITHUB_TOKENS.some(isThere)) return detail(502, 'GitHub repository search failed');
  return createJsonAnswer(200, { items: [], next_page_id: null, missing_token: true });
}

/** All, or those that an agent profile names. Source: contract "secrets by agent profile", "secrets: agent profiles that name some". */
function selectListedSecrets(
  { secrets = [], collections }: StoreContents,
  query: URLSearchParams,
): Answer {
  const id = query.get('agent_profile_id');
  const profiles = Object.values(readObjectMember(collections, 'agent_profiles')).filter(
    isJsonObject,
  );
  const profile = profiles.find((one) => readOwnMember(one, 'id') === id);
  if (id !== null && profile === undefined) return noAgentProfile;
  const refs = readOwnMember(profile ?? {}, 'secret_refs') ?? null;
  const named = isJsonList(refs) ? secrets.filter(({ name }) => refs.includes(name)) : secrets;
  return createJsonAnswer(200, { secrets: named.map(createAgentSecretListing) });
}

function createAgentSecretListing({ name, description }: StoredSecret): JsonObject {
  return { name, description };
}
