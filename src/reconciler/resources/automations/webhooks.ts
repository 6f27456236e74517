import { WEBHOOKS_FORM } from '../../model/collection-forms.ts';
import type { ListedItem } from '../../model/collection.ts';
import { SetpointError } from '../../model/error.ts';
import { Secret, UnseenSecret } from '../../model/secret.ts';
import { createRecord, type Value, type ValueRecord } from '../../model/value.ts';
import { collection } from '../collections/collection.ts';
import {
  createRemovals,
  type Asking,
  type Get,
  type CollectionState,
  type ItemRequest,
  type ItemWork,
  type UnsupportedItem,
  type RequestRefusal,
  type Prerequisite,
} from '../collections/wire.ts';
import {
  AUTOMATIONS_PATH,
  createLostItemRefusal,
  findIds,
  listAllPages,
  refusedMembers,
  refuseLaterMembers,
} from './service.ts';

const PATH = `${AUTOMATIONS_PATH}/webhooks`;

/** The sources of events of an automation service. It never takes another secret: a webhook with another one is a new webhook. */
export const WEBHOOKS = collection(WEBHOOKS_FORM, {
  'agent-server': {
    list: listWebhooks,
    replaces: () => 'in-place',
    describes: true,
    requests: createWebhookRequests,
    unfit: findUnfitWebhooks,
  },
});

/** The members of the file by the names of the service. */
const MEMBERS = [
  'event_key_expr',
  'signature_header',
  'signature_scheme',
  'event_id_header',
  'enabled',
] as const;

async function listWebhooks(asking: Asking): Promise<readonly ListedItem[] | null> {
  const entries = await listAllPages(asking, PATH, 'webhooks');
  if (entries === null) return null;
  const isPlanned = !asking.isReferred && (asking.names !== 'all' || asking.isExhaustive);
  if (isPlanned && entries.length === 0)
    await refuseLaterMembers(asking, WEBHOOKS_FORM.block, ['event_id_header']);
  const items: ListedItem[] = [];
  for (const entry of entries) {
    const { id, source } = entry;
    if (typeof id !== 'string' || typeof source !== 'string') throw asking.unlike(PATH);
    const shown = MEMBERS.filter((name) => Object.hasOwn(entry, name));
    const secret = await readSecret(asking, source, entry);
    const members = [
      ['display_name', entry['name'] ?? null] as const,
      ...shown.map((name) => [name, entry[name] ?? null] as const),
      secret,
    ];
    const shows = ['display_name', ...shown, 'secret'];
    items.push({ id, name: source, members: createRecord(members), shows });
  }
  return items;
}

/** A value that no reference has: the service has another one than is declared. */
const ANOTHER = new Secret('\0');

/** The declared secret if the webhook has it, another one if not, and an unseen one if that does not show. */
async function readSecret(
  { declared, names, isExhaustive, isReferred, compareBySignature }: Asking,
  source: string,
  entry: ValueRecord,
): Promise<readonly ['secret', Value]> {
  const secret = declared.find(({ name }) => name === source)?.members?.['secret'];
  const {
    enabled,
    webhook_url: url,
    signature_header: header,
    signature_scheme: scheme = 'hmac_sha256_hex',
  } = entry;
  const path = typeof url === 'string' && URL.canParse(url) ? eventPath(url, source) : null;
  const isAsked =
    !isReferred &&
    (names !== 'all' || isExhaustive) &&
    enabled === true &&
    secret instanceof Secret &&
    !(secret instanceof UnseenSecret);
  if (!isAsked || path === null || typeof header !== 'string' || typeof scheme !== 'string')
    return ['secret', new UnseenSecret()];
  const has = await compareBySignature(path, { header, scheme, secret });
  return ['secret', has === null ? new UnseenSecret() : has ? secret : ANOTHER];
}

/** The path of the events of a source: what the service says of it, but only in the form that it has. */
function eventPath(url: string, source: string): string | null {
  const [, own] =
    /\/api\/automation\/v1\/events\/([A-Za-z0-9-]+)\/[^/]+$/.exec(new URL(url).pathname) ?? [];
  return own === undefined ? null : `${AUTOMATIONS_PATH}/events/${own}/${source}`;
}

/** A change sends what changes. Another secret needs another webhook: the one that is there is removed first. */
function createWebhookRequests({ item, changes, there }: ItemWork): readonly ItemRequest[] {
  const { name, members } = item;
  const removals = createRemovals({ item, there }, toWebhookPath);
  if (members === null) return removals;
  const changed = changes.map(({ path: [, , member = ''] }) => member);
  if (there === undefined) return createWebhook(name, members);
  // The list may lag behind the removal.
  const isGone: Prerequisite['isShown'] = ({ items }) => items.every((one) => one.id !== there.id);
  if (changed.includes('secret')) {
    const stays = createRecord([...Object.entries(there.members), ...Object.entries(members)]);
    const [creation, ...rest] = createWebhook(name, stays);
    const needs = { isShown: isGone, otherwise: createOldWebhookRefusal(name) };
    return creation === undefined ? [] : [...removals, { ...creation, needs }, ...rest];
  }
  return [patchRequest(name, there.members, pick(members, changed), toWebhookPath(there))];
}

function pick(members: ValueRecord, names: readonly string[]): ValueRecord {
  return createRecord(names.map((name) => [name, members[name] ?? null]));
}

/** One that is off is created on, and switched off. */
function createWebhook(name: string, members: ValueRecord): readonly ItemRequest[] {
  const { secret = null, enabled, display_name: title = name, ...own } = members;
  const body = createRecord([
    ['name', title],
    ...Object.entries(own).filter(([, value]) => value !== null),
    ['source', name],
    ['webhook_secret', secret],
  ]);
  const shows = createRecord([['display_name', title], ...Object.entries(own)]);
  const call = { method: 'POST', path: PATH, body, refusals: REFUSALS } as const;
  const isThere: Prerequisite['isShown'] = ({ items }) => items.some((one) => one.name === name);
  const creation = { kind: 'store', name, shows, call, isShown: isThere } as const;
  if (enabled !== false) return [creation];
  const off = createRecord([['enabled', false]]);
  return [
    creation,
    {
      ...patchRequest(name, shows, off, PATH),
      needs: { isShown: isThere, otherwise: createLostItemRefusal(name) },
      call: async (get) => ({ method: 'PATCH', path: await findPath(get, name), body: off }),
    },
  ];
}

function patchRequest(
  name: string,
  before: ValueRecord,
  body: ValueRecord,
  path: string,
): ItemRequest {
  const shows = createRecord([...Object.entries(before), ...Object.entries(body)]);
  return {
    kind: 'describe',
    name,
    shows,
    call: { method: 'PATCH', path, body: toWebhookBody(body), refusals: REFUSALS },
  };
}

/** Members by the names of the service. */
function toWebhookBody(members: ValueRecord): ValueRecord {
  return createRecord(
    Object.entries(members).map(([name, value]) => [
      name === 'display_name' ? 'name' : name,
      value,
    ]),
  );
}

function createOldWebhookRefusal(name: string): RequestRefusal {
  return {
    why: `The service still lists the old webhook ${name}, which was removed.`,
    hint: 'Run setpoint plan to see what the service has now.',
  };
}

const REFUSALS = {
  409: 'it has a webhook of this source already',
  422: refusedMembers({ webhook_secret: 'secret' }),
};

async function findPath(get: Get, source: string): Promise<string> {
  const [id] = await findIds(get, [PATH, 'webhooks'], 'source', source);
  if (id === undefined) throw new SetpointError('contended', createLostItemRefusal(source).why);
  return `${PATH}/${encodeURIComponent(id)}`;
}

function toWebhookPath(there: ListedItem | undefined): string {
  return `${PATH}/${encodeURIComponent(there?.id ?? '')}`;
}

/** The answer that makes a webhook without a secret has the only copy of it. */
function findUnfitWebhooks({ items, listing }: CollectionState): readonly UnsupportedItem[] {
  return items.flatMap((item): UnsupportedItem[] => {
    const isThere = listing.items.some(({ name }) => name === item.name);
    const secret = item.members?.['secret'] ?? null;
    if (item.members === null || isThere || secret !== null) return [];
    const why = 'has no secret, which a new webhook needs.';
    const hint = 'Declare secret as a reference, such as ${env:WEBHOOK_SECRET}.';
    return [{ item, why, hint }];
  });
}
