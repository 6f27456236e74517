import { bareUrl, isLoopbackHost } from '../model/address.ts';
import { COLLECTION_FORMS } from '../model/collection-forms.ts';
import { itemNamed, itemsDeclared } from '../model/collection.ts';
import { entryPaths, listPathedEntries } from '../model/mcp.ts';
import { findPathFacts, placesWithin, type TextUse } from '../model/path-facts.ts';
import { formatPath, isWithin, type Path, type Source } from '../model/path.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredField, DesiredState } from '../model/state.ts';
import {
  holdsNothing,
  isEmpty,
  isList,
  isRecord,
  collectSecrets,
  readPath,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { originProblem, type TravelPolicy, type TravelProblem } from './key-travel.ts';

type DesiredContent = Pick<DesiredState, 'items' | 'fields'>;

/** An address that a file declares for the service, and what the file declares of the credentials that go there. */
interface DeclaredAddress {
  readonly path: Path;
  readonly host: Value;
  /** Without those that the file leaves out: what is stored of them goes along. */
  readonly credentials: readonly Value[];
  /** True if stored credentials that are not declared never go to another address. */
  readonly isNew?: boolean;
  readonly source: Source;
}

/**
 * The reason why credentials may not be sent to the addresses that a file declares; null if they may. The service sends them, not setpoint,
 * so they are checked wherever the service is. An address is one by its type, whichever way the file spells its path.
 */
export function hostProblem(desired: DesiredContent, policy: TravelPolicy): TravelProblem | null {
  const isListed = policy.origins.length > 0 || policy.required !== null;
  const addresses = [
    ...itemAddresses(desired),
    ...(isListed ? [...settingsAddresses(desired), ...listSecretUrls(desired)] : []),
  ];
  for (const { path, host, credentials, isNew = false, source } of addresses) {
    const isSent =
      credentials.length === 0 ? isListed && !isNew : !credentials.every(holdsNoCredential);
    const problem = isSent ? problemOfHost(host, policy) : null;
    if (problem === null) continue;
    const at = `${source.file}:${source.line}`;
    const message = `${formatPath(path)} (${at}) names where its secret is sent. ${problem.message}`;
    return { ...problem, message };
  }
  return null;
}

function holdsNoCredential(value: Value): boolean {
  return holdsNothing(value) || (isRecord(value) && Object.values(value).every(isEmpty));
}

function itemAddresses(desired: DesiredContent): readonly DeclaredAddress[] {
  return COLLECTION_FORMS.flatMap((form) =>
    itemsDeclared(desired, form).flatMap((item): DeclaredAddress[] => {
      const { members, source } = item;
      const path = [form.block, item.name];
      const declaredAt = (place: Path): Value | undefined => {
        const [first = '', ...inner] = place.slice(path.length);
        const { item: block } = findPathFacts([...path, first]);
        const named = members?.[first];
        if (block === null || typeof named !== 'string')
          return readPath(members ?? null, [first, ...inner]);
        return readPath(itemNamed(desired, { block }, named)?.members ?? null, inner);
      };
      return listAddressesInside(path, declaredAt).map((one) => ({ ...one, source }));
    }),
  );
}

function settingsAddresses(desired: DesiredContent): readonly DeclaredAddress[] {
  const { fields } = desired;
  const declaredAt = (place: Path): Value | undefined => {
    const around = fields.find(({ field }) => isWithin(place, field.place));
    const inside = place.slice(around?.field.place.length);
    return inside.length === 0 ? around?.value : readPath(around?.value, inside);
  };
  return fields.flatMap((declared): readonly DeclaredAddress[] => {
    const { field, source } = declared;
    if (field.name === 'mcp_config') return serverAddresses(declared);
    return listAddressesInside(field.place, declaredAt).map((one) => ({
      ...one,
      path: field.place.length === one.path.length ? field.path : one.path,
      source: source(),
    }));
  });
}

/** The addresses at a place and inside it. */
function listAddressesInside(
  path: Path,
  declaredAt: (place: Path) => Value | undefined,
): readonly Omit<DeclaredAddress, 'source'>[] {
  return [path, ...placesWithin(path)].flatMap((place) => {
    const { address } = findPathFacts(place);
    const host = declaredAt(place);
    if (address?.by !== 'url' || host === undefined) return [];
    const credentials = address.sends.flat().flatMap((one) => declaredAt(one) ?? []);
    return [{ path: place, host, credentials }];
  });
}

/** A write takes the stored credentials of an mcp server away if its address moves: only those that are declared are sent. */
function serverAddresses(declared: DesiredField): readonly DeclaredAddress[] {
  return listPathedEntries(declared.value, entryPaths(declared)).flatMap(({ entry, path }) => {
    const { url, ...others } = entry;
    if (url === undefined) return [];
    const at = [...path, 'url'];
    const sent = findPathFacts(at).address?.sends.flat() ?? [];
    const credentials = [
      ...(isSecretUrl(url) ? [url] : []),
      ...sent.flatMap((place) => collectSecrets(others[place.at(-1) ?? ''])),
    ];
    return [{ path: at, host: url, credentials, isNew: true, source: declared.source() }];
  });
}

/**
 * The urls that have a reference behind their host or as userinfo, such as the source of a skill, and those of repositories with a reference
 * as `ref`: the value is sent to that host.
 */
function listSecretUrls(desired: DesiredContent): readonly DeclaredAddress[] {
  const inside = (path: Path, value: Value, source: Source): readonly DeclaredAddress[] => {
    if (isList(value))
      return value.flatMap((one, at) => inside([...path, String(at)], one, source));
    if (isRecord(value))
      return [
        ...findSecretRef(path, value, source),
        ...Object.entries(value).flatMap(([name, one]) => inside([...path, name], one, source)),
      ];
    const isUrl = isSecretUrl(value) && URL_USES.has(findPathFacts(path).use);
    return isUrl ? [{ path, host: value, credentials: [value], source }] : [];
  };
  return [
    ...desired.fields
      .filter(({ field }) => field.name !== 'mcp_config')
      .flatMap(({ field, value, source }) => inside(field.path, value, source())),
    ...COLLECTION_FORMS.flatMap((form) =>
      itemsDeclared(desired, form).flatMap(({ name, members, source }) =>
        inside([form.block, name], members, source),
      ),
    ),
  ];
}

/** A `ref` from a reference beside the address of its repository: git sends it to that host. */
function findSecretRef(
  path: Path,
  { source: place, url, ref }: ValueRecord,
  source: Source,
): readonly DeclaredAddress[] {
  const repository = place ?? url ?? null;
  if (!(ref instanceof Secret) || ref instanceof UnseenSecret || isEmpty(repository)) return [];
  const host = repository instanceof Secret ? repository : readGitHost(repository);
  return host === null ? [] : [{ path: [...path, 'ref'], host, credentials: [ref], source }];
}

/** The host that git asks for a repository, as an address; null for a folder of the server and for owner/repo of a known host. */
function readGitHost(repository: Value): string | null {
  const text = typeof repository === 'string' ? repository.trim() : '';
  const [, user = ''] = /^(?:[a-z][a-z0-9+.-]*:\/\/)?([^/?#]*@)/i.exec(text) ?? [];
  const [, host = null] =
    /^[a-z][a-z0-9+.-]*:\/\/([^/?#]+)/i.exec(text.replace(user, '')) ??
    (user === '' ? null : /^([^/:]+):/.exec(text.replace(user, ''))) ??
    [];
  return host === null ? null : /^http:/i.test(text) ? `http://${host}` : `https://${host}`;
}

/** Sources of skills and plugins are one-line texts like names. */
const URL_USES: ReadonlySet<TextUse> = new Set(['url', 'endpoint', 'host', 'name']);

function isSecretUrl(value: Value): boolean {
  const rest = value instanceof Secret ? readBehindScheme(value) : '';
  return /\$.*@|[/?#].*\$/s.test(rest.replaceAll(/\$\{[^}]*\}/g, '$'));
}

/** The url as the file writes it, without its scheme; empty for another text. */
function readBehindScheme({ ref }: Secret): string {
  return /^[a-z][a-z0-9+.-]*:\/\/(.*)$/is.exec(ref ?? '')?.[1] ?? '';
}

/** The reference; of a url that contains some behind its host only the host, because documents mask the parts of such a url. */
function describeSecretHost(host: Secret): string {
  const [, named] = isSecretUrl(host)
    ? (/^(?:.*@)?([^/?#@${}]+)/s.exec(readBehindScheme(host)) ?? [])
    : [];
  return named ?? host.ref ?? 'The host';
}

function problemOfHost(host: Value, policy: TravelPolicy): TravelProblem | null {
  if (isEmpty(host) || host instanceof UnseenSecret) return null;
  const value = host instanceof Secret ? host.reveal() : host;
  const text = typeof value === 'string' ? value.trim() : '';
  const shown = host instanceof Secret ? describeSecretHost(host) : bareUrl(text);
  const full = text.includes('://') ? text : `https://${text}`;
  const address = full.replace(/^ws(?=s?:)/i, 'http');
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    return {
      code: 'not-allowed',
      message: `${shown} is not the host of a service.`,
      hint: 'Write a host, such as gitlab.example.com.',
    };
  const url = new URL(address);
  return isLoopbackHost(url.hostname) ? null : originProblem(url, shown, policy);
}
