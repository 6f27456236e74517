import { type Answer, detail, createJsonAnswer, unprocessable } from '../http/answer.ts';
import type { Json, JsonObject } from '../json.ts';
import type { Vault } from '../native/vault.ts';
import type { StoreContents } from '../store/store-document.ts';
import type { StoredSecret } from '../store/store-document.ts';
import { refuseValue, type Location, type Verdict } from '../rules.ts';
import { integerRule, textRule } from '../rules.ts';
import type { AskedByPath, Collection } from './collection.ts';
import {
  createSecretBodyRule,
  changeSecret,
  created,
  deleteSecret,
  keepStore,
  createSecretListing,
  type Refusals,
  secretNamed,
  parseSentSecret,
  withSecret,
} from './named-secrets.ts';

const REFUSALS: Refusals = {
  missing: (sentence) => detail(404, sentence),
  taken: (sentence) => detail(400, sentence),
};

/** The custom secrets of releases 1.9 to 1.11: in the order of their names, on pages; POST overwrites. Source: behaviour 6.1. */
export function appServerSecrets(vault: Vault): Collection {
  return [
    [
      '/api/v1/secrets',
      {
        POST: {
          takes: createSecretBodyRule(checkSecretName, 'with value'),
          // Source: contract "secrets: created again, the description kept, replaced, emptied".
          does(before, { body }) {
            const { name, value, description } = parseSentSecret(body);
            const former = secretNamed(before, name)?.description;
            const token = vault.seal(value);
            const secret = { name, token, description: description ?? former ?? '' };
            return { contents: withSecret(before, secret), answer: created };
          },
        },
      },
    ],
    [
      '/api/v1/secrets/search',
      { GET: { does: (before, asked) => keepStore(before, selectPage(before, asked)) } },
    ],
    [
      '/api/v1/secrets/{id}',
      {
        PUT: {
          takes: createSecretBodyRule(checkSecretName, 'without value'),
          does: (before, asked) => changeSecret(before, asked, REFUSALS),
        },
        DELETE: { does: (before, asked) => deleteSecret(before, asked, REFUSALS) },
      },
    ],
  ];
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function checkSecretName(value: Json, at: Location): Verdict {
  const verdict = textRule(value, at);
  if (typeof value !== 'string' || NAME.test(value)) return verdict;
  const rule =
    'Must start with a letter or underscore, and contain only alphanumeric characters and underscores.';
  return refuseValue(`Invalid secret name '${value}'. ${rule}`, at, value);
}

/** The secrets after the one that `page_id` names, or from the first if it is not there. Source: contract "secrets: pages". */
function selectPage({ secrets = [] }: StoreContents, { query, pageSize }: AskedByPath): Answer {
  const limit = parseLimit(query);
  if (typeof limit !== 'number') return limit;
  const part = (query.getAll('name__contains').at(-1) ?? '').toLowerCase();
  const found = secrets
    .filter(({ name }) => name.toLowerCase().includes(part))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const last = query.getAll('page_id').at(-1) ?? '';
  const begin = found.findIndex(({ name }) => name === last && last !== '') + 1;
  const items = found.slice(begin, begin + Math.min(limit, pageSize));
  const isMore = begin + items.length < found.length;
  return createJsonAnswer(200, {
    items: items.map(createSecretListing),
    next_page_id: isMore ? pageAfter(items.at(-1)) : null,
  });
}

function pageAfter(secret: StoredSecret | undefined): string | null {
  return secret?.name ?? null;
}

const LIMIT_AT: Location = ['query', 'limit'];
const MOST = 100;

function parseLimit(query: URLSearchParams): number | Answer {
  const input = query.getAll('limit').at(-1) ?? String(MOST);
  const verdict = integerRule(input, LIMIT_AT);
  if (verdict.kind !== 'good')
    return verdict.kind === 'bad' ? unprocessable(verdict.problems) : { kind: 'crash' };
  const limit = Number(verdict.value);
  const problem = (type: string, msg: string, ctx: JsonObject) =>
    unprocessable([{ type, loc: LIMIT_AT, msg, input, ctx }]);
  if (limit <= 0) return problem('greater_than', 'Input should be greater than 0', { gt: 0n });
  if (limit > MOST)
    return problem('less_than_equal', `Input should be less than or equal to ${MOST}`, {
      le: BigInt(MOST),
    });
  return limit;
}
