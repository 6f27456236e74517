import { GIT_PROVIDERS_FORM } from '../model/collection-forms.ts';
import type { DesiredItem, ListedItem, Listing } from '../model/collection.ts';
import { SetpointError, type Warning } from '../model/error.ts';
import type { PartPlan } from '../model/plan.ts';
import { MASK, Secret, UnseenSecret } from '../model/secret.ts';
import { isEmpty, isRecord, createRecord, sameValue, type Value } from '../model/value.ts';
import { DIALECTS } from '../service/dialects.ts';
import { collection } from './collections/collection.ts';
import {
  ABSENT,
  LACKING,
  createRemovalRequest,
  type Call,
  type ItemRequest,
  type ItemWork,
  type RequestRefusal,
  type CollectionCodec,
  type Wires,
} from './collections/wire.ts';
import { readChangedItemName } from './collections/send.ts';

/** The git providers of each kind of server. An agent server has none: it finds a token among its custom secrets. Source: behaviour 6.2. */
const WIRES: Wires = {
  'settings-v0': createTokenCodec('settings-v0', {
    storing: '/api/add-git-providers',
    emptying: { method: 'POST', path: '/api/unset-provider-tokens', body: createRecord({}) },
  }),
  'app-server': createTokenCodec('app-server', {
    storing: '/api/v1/secrets/git-providers',
    emptying: { method: 'DELETE', path: '/api/v1/secrets/git-providers', body: null },
  }),
};

/** The tokens by which a service works with the repositories of its users. */
export const GIT_PROVIDERS = collection(GIT_PROVIDERS_FORM, WIRES, {
  instead: asSecrets,
  warned: warnings,
});

interface Paths {
  readonly storing: string;
  readonly emptying: Call;
}

function createTokenCodec(dialect: 'settings-v0' | 'app-server', paths: Paths): CollectionCodec {
  const { path } = DIALECTS[dialect];
  return {
    list: async ({ get, unlike }) => {
      const json = await get(path);
      if (json === LACKING) return null;
      if (json === ABSENT)
        throw new SetpointError(
          'state-unknown',
          'The service has no settings stored. It lists its git providers only after settings are stored, so a write could remove hidden ones.',
          {
            hint: 'Declare a setting next to git_providers, such as language. It is stored first.',
          },
        );
      const items = isRecord(json) ? listStoredTokens(json['provider_tokens_set']) : 'unlike';
      if (items === 'unlike') throw unlike(path);
      return items;
    },
    inSettings: ({ stored, answer, saved = false }) => {
      if (!stored) return 'untold';
      const items = listStoredTokens(answer['provider_tokens_set']);
      if (items === 'unlike' || (saved && items?.some(hasMaskedHost) === true))
        throw new SetpointError(
          saved ? 'not-in-snapshot' : 'bad-response',
          'The settings do not show which git providers the service has.',
        );
      return items;
    },
    replaces: () => 'in-place',
    describes: true,
    isOneMap: true,
    requests: (work) => [requestFor(work, paths)],
  };
}

/** The host of each token that is stored, as the settings show it; null if the service has no git providers. */
function listStoredTokens(tokens: Value | undefined): readonly ListedItem[] | null | 'unlike' {
  if (tokens === undefined || tokens === null) return null;
  if (!isRecord(tokens)) return 'unlike';
  const items = Object.entries(tokens).map(([name, shown]): ListedItem | null => {
    const host = shown instanceof Secret ? shown.reveal() : shown;
    if (host !== null && typeof host !== 'string') return null;
    const members = createRecord({ token: new UnseenSecret(), host });
    return { name, members };
  });
  const known = items.filter((item) => item !== null);
  return known.length === items.length ? known : 'unlike';
}

function hasMaskedHost({ members: { host } }: ListedItem): boolean {
  return typeof host === 'string' && host.includes(MASK);
}

/** Milliseconds in which a server has asked every product about one token, silent hosts among them. */
const ASKING = 30_000;

/**
 * One request with the whole map: the others with their own host and no token, which preserves them without a request to their providers.
 */
function requestFor(
  { item, changes, there, listing }: ItemWork,
  { storing, emptying }: Paths,
): ItemRequest {
  const { name, members } = item;
  const others = listing.items
    .filter((other) => other.name !== name)
    .map((other) => [other.name, createTokenEntry('', other.members['host'] ?? null)] as const);
  const storingAll = (entries: readonly (readonly [string, Value])[]): Call => ({
    method: 'POST',
    path: storing,
    body: createRecord({ provider_tokens: createRecord(entries) }),
  });
  if (members === null)
    return createRemovalRequest(name, others.length === 0 ? emptying : storingAll(others));
  const isSent = changes.some(({ path }) => path.length === 2 || path[2] !== 'host');
  const { token = null, host: declared = there?.members['host'] ?? null, user_id: user } = members;
  const host = isEmpty(declared) ? null : declared;
  const isMoved = there !== undefined && !sameValue(there.members['host'] ?? null, host);
  const own = createTokenEntry(isSent ? token : '', host, isSent ? user : undefined);
  return {
    kind: isSent ? 'store' : 'describe',
    name,
    shows: createRecord({ token: new UnseenSecret(), host }),
    call: {
      // A server that judges by the last of several has to judge by this one.
      ...storingAll([...others, [name, own]]),
      headersTimeout: ASKING * (Number(isSent) + Number(isMoved)),
      refusals: { 401: (answer) => notAccepted(name, answer), 422: notKnown(name) },
    },
  };
}

/** An empty token is the one that is stored. */
function createTokenEntry(token: Value, host: Value, user?: Value): Value {
  return createRecord({
    token,
    ...(host === null ? {} : { host }),
    ...(user === undefined ? {} : { user_id: user }),
  });
}

/** A server also reports an unknown token with the status of a wrong key. */
function notAccepted(name: string, answer: Value): RequestRefusal | null {
  const said = isRecord(answer) ? (answer['error'] ?? answer['detail']) : null;
  if (typeof said !== 'string' || !said.startsWith('Invalid token')) return null;
  return {
    why: `the service rejects this as an invalid ${name} token`,
    hint: `The service asks the providers itself, and it may not have reached them. Check the token, its host, and the network of the service.`,
  };
}

/** The first release that has a product which not every release has. */
const SINCE: Readonly<Record<string, string>> = {
  azure_devops: '1.0',
  forgejo: '1.2',
  bitbucket_data_center: '1.6',
};

function notKnown(name: string): string {
  const since = SINCE[name];
  return since === undefined
    ? 'it takes no such git provider, token or host'
    : `it has no git provider ${name}, which releases have from ${since} on`;
}

const AS_SECRETS: Readonly<Record<string, string>> = {
  github: 'github_token',
  gitlab: 'gitlab_token',
  bitbucket: 'bitbucket_token',
};

/** The custom secrets in which an agent server finds the tokens of the same products. */
function asSecrets(desired: readonly DesiredItem[]): string {
  const secrets = desired.flatMap(({ name, members }) => {
    const token = members?.['token'];
    const secret = AS_SECRETS[name];
    return token instanceof Secret && secret !== undefined ? [`${secret}: ${token.ref ?? ''}`] : [];
  });
  const shown = secrets.length === 0 ? ['github_token: ${env:SETPOINT_GITHUB_TOKEN}'] : secrets;
  return `An agent server takes a git token from a custom secret of a certain name. Write instead: secrets: {${shown.join(', ')}}.`;
}

/** Reports the recipients of tokens in a write, once. */
function warnings(
  { changes }: PartPlan,
  desired: readonly DesiredItem[],
  { items }: Listing,
): Warning[] {
  const sent = desired.filter(
    ({ name, members }) =>
      members !== null && changes.some((change) => readChangedItemName(change) === name),
  );
  if (sent.length === 0) return [];
  const storedHost = ({ name }: DesiredItem): Value =>
    items.find((item) => item.name === name)?.members['host'] ?? null;
  const isPublic = (item: DesiredItem): boolean =>
    isEmpty(item.members?.['host'] === undefined ? storedHost(item) : item.members['host']);
  const elsewhere = sent.filter((item) => isPublic(item) && item.name !== 'github');
  const namesOf = (some: readonly DesiredItem[]) => some.map(({ name }) => name).join(', ');
  const first =
    elsewhere.length === 0
      ? ''
      : ` Without a host that begins with GitHub (${namesOf(elsewhere)}).`;
  const asked: Warning = {
    code: 'shown-to-providers',
    message: `Before the service stores a token of ${namesOf(sent)}, it sends the token to one product after another until one accepts it.${first} From release 1.6 on, dev.azure.com is the last, even with a host. Without a network the service accepts no token.`,
    path: ['git_providers'],
  };
  const unnamed = sent.flatMap((item): Warning[] => {
    const host = storedHost(item);
    if (item.members?.['host'] !== undefined || typeof host !== 'string' || host === '') return [];
    return [
      {
        code: 'shown-to-providers',
        message: `The token of ${item.name} goes to ${host}, its stored host. The file does not name this host.`,
        path: ['git_providers', item.name],
      },
    ];
  });
  return [asked, ...unnamed];
}
