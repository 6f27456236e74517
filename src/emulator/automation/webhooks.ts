import { createHmac, type Hmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Call, Routes } from '../call.ts';
import { type Answer, createJsonAnswer, detail } from '../http/answer.ts';
import {
  isJsonObject,
  type JsonObject,
  readObjectMember,
  readOwnMember,
  readTextMember,
} from '../json.ts';
import { fitScalar } from '../native/fit-scalar.ts';
import { checkObject, crash, flagRule, good, nullable, type Rule } from '../rules.ts';
import { judgeExpression, createJudgedText } from './rules.ts';
import { type Asked, handlersOf, listPage, ORGANIZATION, refuseId, type Result } from './stored.ts';

const PATH = '/api/automation/v1/webhooks';
const NO_WEBHOOK = detail(404, 'Webhook not found');

/** The sources of events. Source: contract "webhooks: created, its secret is not shown", "webhooks: patch, null". */
export function webhookRoutes(): Routes {
  return [
    [
      PATH,
      handlersOf('webhooks', {
        GET: { does: list },
        POST: { takes: newWebhook, does: storeWebhook },
      }),
    ],
    [
      `${PATH}/{id}`,
      handlersOf('webhooks', {
        GET: { does: (asked) => findWebhook(asked, (one) => createJsonAnswer(200, shown(one))) },
        PATCH: { takes: changed, does: patchWebhook },
        DELETE: { does: removeWebhook },
      }),
    ],
    [`${PATH}/{id}/rotate-secret`, handlersOf('webhooks', { POST: { does: rotate } })],
    ['/api/automation/v1/events/{id}', { POST: receive }],
    [`/api/automation/v1/events/${ORGANIZATION}/{id}`, { POST: receive }],
  ];
}

function text(minLength: number, maxLength: number): Rule {
  const node = { type: 'string', minLength, maxLength };
  return (value, at) => fitScalar(node, { isNamed: false }, value, at);
}

const BUILT_IN = ['azure_devops', 'bitbucket_data_center', 'github', 'jira_dc'];
const SCHEMES = ['hmac_sha256_hex', 'slack_v0', 'standard_webhooks'];

const source = createJudgedText((value) =>
  BUILT_IN.includes(value.toLowerCase())
    ? `'${value}' is a reserved source name. Use the built-in integration instead.`
    : /^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$/.test(value.toLowerCase())
      ? null
      : 'Source must be lowercase alphanumeric with hyphens, 1-50 chars, starting and ending with alphanumeric',
);
const header = createJudgedText((value) =>
  /^[A-Za-z][A-Za-z0-9-]{0,99}$/.test(value)
    ? null
    : 'Header must be alphanumeric with hyphens, 1-100 chars, starting with a letter',
);
const scheme = createJudgedText((value) =>
  SCHEMES.includes(value)
    ? null
    : `Invalid signature_scheme '${value}'. Must be one of: ${SCHEMES.join(', ')}`,
);
const expression = createJudgedText((value) => {
  const problem = judgeExpression(value);
  return problem === null ? null : `Invalid JMESPath expression: ${problem}`;
});

const NEW = {
  name: text(1, 255),
  source,
  event_key_expr: expression,
  signature_header: header,
  signature_scheme: scheme,
  event_id_header: nullable(header),
  webhook_secret: nullable(text(8, 255)),
} as const;

const ABSENT: JsonObject = {
  event_key_expr: 'type',
  signature_header: 'X-Signature-256',
  signature_scheme: SCHEMES[0] ?? '',
  event_id_header: null,
  webhook_secret: null,
};

const newWebhook: Rule = (body, at) =>
  checkObject(
    Object.entries(NEW).map(([name, rule]) => {
      const absent = readOwnMember(ABSENT, name);
      return { name, rule, ...(absent === undefined ? {} : { absent }) };
    }),
    'refused',
    body,
    at,
  );

/** Null for what has to be there crashes the server, which finds out when it stores it. */
const changed: Rule = (body, at) => {
  const { source: _, webhook_secret: __, ...own } = NEW;
  const rules: Readonly<Record<string, Rule>> = { ...own, enabled: flagRule };
  const members = Object.entries(rules).map(([name, rule]) => ({
    name,
    rule: nullable(rule),
    absent: null,
  }));
  const verdict = checkObject(members, 'refused', body, at);
  if (verdict.kind !== 'good' || !isJsonObject(body)) return verdict;
  const sent = Object.keys(body).map((name) => [name, verdict.value[name] ?? null] as const);
  const isBroken = sent.some(
    ([name, value]) => value === null && !['event_id_header', 'signature_scheme'].includes(name),
  );
  return isBroken ? crash : good(Object.fromEntries(sent));
};

function shown(one: JsonObject): JsonObject {
  const { webhook_secret: _, ...rest } = one;
  return rest;
}

function list({ things, query }: Asked): Answer {
  return listPage('webhooks', Object.values(things).map(shown), query);
}

function storeWebhook({ things, body, host, now }: Asked): Result {
  const own = readTextMember(body, 'source').toLowerCase();
  if (Object.values(things).some((one) => one['source'] === own))
    return detail(409, `Webhook source '${own}' already exists for this org`);
  const { webhook_secret: given = null, name = '', source: _, ...rest } = body;
  const made = given === null ? newSecret() : null;
  const id = randomUUID();
  const one: JsonObject = {
    id,
    org_id: ORGANIZATION,
    name,
    source: own,
    webhook_url: `http://${host}/api/automation/v1/events/${ORGANIZATION}/${own}`,
    ...rest,
    enabled: true,
    created_at: now,
    updated_at: now,
    webhook_secret: made ?? given,
  };
  const answer = createJsonAnswer(201, { ...shown(one), webhook_secret: made });
  return { answer, things: { ...things, [id]: one } };
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function findWebhook(asked: Asked, does: (one: JsonObject) => Result): Result {
  const refused = refuseId('webhook_id', asked.id);
  const one = asked.things[asked.id];
  return refused ?? (one === undefined ? NO_WEBHOOK : does(one));
}

function patchWebhook(asked: Asked): Result {
  return findWebhook(asked, (one) => {
    const { signature_scheme: sent, ...rest } = asked.body;
    const own = sent === undefined ? {} : { signature_scheme: sent ?? SCHEMES[0] ?? '' };
    const after = { ...one, ...rest, ...own, updated_at: asked.now };
    return {
      answer: createJsonAnswer(200, shown(after)),
      things: { ...asked.things, [asked.id]: after },
    };
  });
}

function removeWebhook(asked: Asked): Result {
  return findWebhook(asked, () => {
    const { [asked.id]: _, ...things } = asked.things;
    return { answer: { kind: 'empty' }, things };
  });
}

function rotate(asked: Asked): Result {
  return findWebhook(asked, (one) => {
    const webhook_secret = newSecret();
    const after = { ...one, webhook_secret, updated_at: asked.now };
    return {
      answer: createJsonAnswer(200, { webhook_secret }),
      things: { ...asked.things, [asked.id]: after },
    };
  });
}

/** An event needs no key: its signature is judged, then its body. No event starts anything here. */
async function receive({ service, id, headers, body }: Call): Promise<Answer> {
  const { collections } = await service.store.read();
  const all = Object.values(readObjectMember(collections, 'webhooks')).filter(isJsonObject);
  const one = all.find((own) => own['source'] === id && own['enabled'] === true);
  if (one === undefined) return detail(404, `Unknown webhook source: ${id}`);
  const name = readTextMember(one, 'signature_header').toLowerCase();
  const sent = headers[name];
  if (typeof sent !== 'string' || !isSigned(one, sent, headers, body))
    return detail(401, 'Invalid signature');
  if (body.length === 0)
    return detail(400, 'Invalid JSON: Expecting value: line 1 column 1 (char 0)');
  return createJsonAnswer(200, { matched: 0n });
}

function isSigned(one: JsonObject, sent: string, headers: Call['headers'], body: Buffer): boolean {
  const secret = readTextMember(one, 'webhook_secret');
  const mac = (key: string | Buffer, before: string) =>
    createHmac('sha256', key).update(before).update(body);
  const expected = signatureOf(readTextMember(one, 'signature_scheme'), secret, headers, mac);
  const [left, right] = [Buffer.from(sent), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The header that an event would have, by the scheme of its webhook. */
function signatureOf(
  scheme: string,
  secret: string,
  headers: Call['headers'],
  mac: (key: string | Buffer, before: string) => Hmac,
): string {
  const sent = (name: string) => String(headers[name]);
  switch (scheme) {
    case 'slack_v0':
      return `v0=${mac(secret, `v0:${sent('x-slack-request-timestamp')}:`).digest('hex')}`;
    case 'standard_webhooks': {
      const own = secret.replace(/^whsec_/, '');
      const isEncoded = own.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(own);
      const key = isEncoded ? Buffer.from(own, 'base64') : secret;
      return `v1,${mac(key, `${sent('webhook-id')}.${sent('webhook-timestamp')}.`).digest('base64')}`;
    }
    default:
      return `sha256=${mac(secret, '').digest('hex')}`;
  }
}
