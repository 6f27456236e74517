import { type Answer, detail, createJsonAnswer } from '../http/answer.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  readObjectMember,
} from '../json.ts';
import type { Vault } from '../native/vault.ts';
import { mergeVerdicts, bad, checkObject, good, type Location, type Member } from '../rules.ts';
import { nullable, type Rule, textRule, type Verdict } from '../rules.ts';
import { mcpConfig } from '../settings/mcp-config.ts';
import type { StoreContents, StoredGitToken } from '../store/store-document.ts';
import type { Store } from '../store/store.ts';
import type { Collection, CollectionRequest } from './collection.ts';
import { confirmProduct, type GitProduct } from './git-check.ts';
import { keepStore } from './named-secrets.ts';

/** The way in which a dialect stores the tokens of git providers. */
interface GitDialect {
  /** The names that a body may have, in the order in which a refusal lists them. */
  readonly names: readonly string[];
  /** The products that a token is offered to, one after the other. */
  readonly order: readonly GitProduct[];
  /** The deciding token: the first one that is not confirmed refuses the body, or the last one that was offered decides. */
  readonly decides: 'first' | 'last';
  readonly refused: (sentence: string) => Answer;
  /** Additional members that a body may have, which change nothing. */
  readonly besides: readonly Member[];
}

const SETTINGS_V0: GitDialect = {
  names: ['github', 'gitlab', 'bitbucket', 'enterprise_sso'],
  order: ['github', 'gitlab', 'bitbucket'],
  decides: 'last',
  refused: (error) => createJsonAnswer(401, { error }),
  besides: [{ name: 'mcp_config', rule: nullable(mcpConfig), absent: null }],
};

const APP_SERVER: GitDialect = {
  names: [
    'github',
    'gitlab',
    'bitbucket',
    'bitbucket_data_center',
    'forgejo',
    'azure_devops',
    'enterprise_sso',
  ],
  order: ['github', 'gitlab', 'forgejo', 'bitbucket', 'bitbucket_data_center', 'azure_devops'],
  decides: 'first',
  refused: (sentence) => detail(401, sentence),
  besides: [],
};

const failed = createJsonAnswer(500, { error: 'Something went wrong unsetting tokens' });

/** The git providers of release 0.62. Source: contract "git providers: a bad one before a good one is stored". */
export function settingsV0GitProviders(vault: Vault): Collection {
  return [
    ['/api/add-git-providers', { POST: replacing(SETTINGS_V0, vault) }],
    ['/api/unset-provider-tokens', { POST: createTokensRemoval(failed) }],
  ];
}

/** The git providers of releases 1.9 to 1.11. Source: contract "providers: one bad among good ones, nothing is stored". */
export function appServerGitProviders(vault: Vault): Collection {
  return [
    [
      '/api/v1/secrets/git-providers',
      { POST: replacing(APP_SERVER, vault), DELETE: createTokensRemoval() },
    ],
  ];
}

/** Returns the part of the settings about tokens: the host of each stored one. */
export function tokensSet({ gitTokens }: StoreContents): JsonObject {
  return Object.fromEntries(gitTokens.map(({ name, host }) => [name, host] as const));
}

/**
 * The store, in which tokens that the settings of an older release hold have taken the place of the others and of all custom secrets: so
 * a GET of the settings leaves it. Source: contract "git providers: tokens of a settings.json of old are moved by the first GET, and
 * secrets.json is overwritten".
 */
export async function moveOldTokens(store: Store, vault: Vault): Promise<StoreContents> {
  return store.update((before) => {
    const { settings } = before;
    if (settings === undefined || settings.dialect === 'settings-v0')
      return { contents: before, answer: before };
    const { secrets_store = {}, ...record } = settings.record;
    const old = parseSentTokens(isJsonObject(secrets_store) ? secrets_store : {});
    if (old.length === 0) return { contents: before, answer: before };
    const gitTokens = old.map((one) => ({ ...one, token: vault.seal(one.token) }));
    const contents = { ...before, settings: { ...settings, record }, secrets: [], gitTokens };
    return { contents, answer: contents };
  });
}

/** The map is replaced: a name that is left out loses its token, one with an empty token keeps it. */
function replacing(dialect: GitDialect, vault: Vault): CollectionRequest {
  return {
    takes: bodyRule(dialect),
    does(before, { body, gitProviders }) {
      const sent = parseSentTokens(body);
      const held = (name: string) => before.gitTokens.find((one) => one.name === name);
      const checks = sent.flatMap(({ name, token, host }): Check[] => {
        const confirms = (text: string) =>
          confirmProduct(dialect.order, gitProviders, text, host) === name;
        const former = held(name);
        const moved = former === undefined || former.host === host ? [] : [former];
        return [
          ...(token === '' ? [] : [{ name, isNew: true, isConfirmed: confirms(token) }]),
          ...moved.map((one) => {
            return { name, isNew: false, isConfirmed: confirms(vault.load(one.token)) };
          }),
        ];
      });
      const refused = findRefusedProvider(dialect, checks);
      if (refused !== undefined) {
        const sentence = `Invalid token. Please make sure it is a valid ${refused} token.`;
        return keepStore(before, dialect.refused(sentence));
      }
      const gitTokens = sent.flatMap(({ name, token, host, userId }): StoredGitToken[] => {
        const former = held(name);
        if (token !== '') return [{ name, token: vault.seal(token), host, userId }];
        return former === undefined ? [] : [{ ...former, host }];
      });
      const contents = { ...before, secrets: before.secrets ?? [], gitTokens };
      return { contents, answer: createJsonAnswer(200, { message: 'Git providers stored' }) };
    },
  };
}

/** The result of offering a token to the products: one that was sent, or a stored one that gets another host. */
interface Check {
  readonly name: string;
  readonly isNew: boolean;
  readonly isConfirmed: boolean;
}

function findRefusedProvider(
  { decides }: GitDialect,
  checks: readonly Check[],
): string | undefined {
  if (decides === 'first') return checks.find(({ isConfirmed }) => !isConfirmed)?.name;
  const last = checks.findLast(({ isNew, isConfirmed }) => isNew || !isConfirmed);
  return last?.isConfirmed === false ? last.name : undefined;
}

function createTokensRemoval(failed?: Answer): CollectionRequest {
  return {
    ...(failed === undefined ? {} : { failed }),
    does(before) {
      const answer = createJsonAnswer(200, { message: 'Unset Git provider tokens' });
      if (before.secrets === undefined) return keepStore(before, answer);
      return { contents: { ...before, gitTokens: [] }, answer };
    },
  };
}

interface SentToken {
  readonly name: string;
  /** Empty: the one that is stored. */
  readonly token: string;
  readonly host: string | null;
  readonly userId: string | null;
}

function parseSentTokens(body: JsonObject): readonly SentToken[] {
  return Object.entries(readObjectMember(body, 'provider_tokens')).map(([name, entry]) => {
    const text = (member: string) => {
      const value = isJsonObject(entry) ? readOwnMember(entry, member) : null;
      return typeof value === 'string' ? value : null;
    };
    return { name, token: text('token') ?? '', host: text('host'), userId: text('user_id') };
  });
}

const text = (name: string) => ({ name, rule: nullable(textRule), absent: null });

function bodyRule({ names, besides }: GitDialect): Rule {
  const members = [...besides, { name: 'provider_tokens', rule: mapRule(names), absent: {} }];
  return (body, at) => checkObject(members, 'ignored', body, at);
}

function mapRule(names: readonly string[]): Rule {
  return (value, at) => {
    if (!isJsonObject(value))
      return bad('dict_type', at, 'Input should be a valid dictionary', value);
    const whole = mergeVerdicts(
      Object.entries(value).flatMap(([name, entry]) => [
        ...(names.includes(name)
          ? []
          : [refuseUnknownProvider(names, name, [...at, name, '[key]'])]),
        entryRule(entry, [...at, name]),
      ]),
    );
    return whole.kind === 'good' ? good(value) : whole;
  };
}

function entryRule(entry: Json, at: Location): Verdict {
  return checkObject([text('token'), text('user_id'), text('host')], 'ignored', entry, at);
}

function refuseUnknownProvider(names: readonly string[], input: string, loc: Location): Verdict {
  const quoted = names.map((name) => `'${name}'`);
  const expected = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1) ?? ''}`;
  const msg = `Input should be ${expected}`;
  return { kind: 'bad', problems: [{ type: 'enum', loc, msg, input, ctx: { expected } }] };
}
