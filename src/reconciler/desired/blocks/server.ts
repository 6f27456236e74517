import { isServiceAddress, urlOrigin, isReservedHeader } from '../../model/address.ts';
import {
  member,
  overlay,
  readNodeText,
  type MapNode,
  type Member,
  type Node,
  type PlacedFinding,
} from '../node.ts';
import { mayHoldReference } from '../references.ts';
import { isMisspelt } from '../schema-lookup.ts';
import {
  createFindingForNode,
  type Block,
  type FilePath,
  isPlainAddress,
  isPlainWord,
} from './block.ts';

/** The members of a server that name PEM files. */
export const TLS_FILES = ['ca_file', 'client_cert', 'client_key'] as const;

/** Reports whether a text of one of them is PEM itself, and no path. */
export function isPem(text: string): boolean {
  return text.includes('-----BEGIN ');
}

export const server: Block<'server'> = {
  name: 'server',
  pulled: false,
  textKind: ([key]) =>
    key === 'api_key' || key === 'headers'
      ? 'secret'
      : key === 'url' || key === 'automation_url' || TLS_FILES.some((name) => name === key)
        ? 'text'
        : 'plain',
  check: (holder, path) => [
    ...impossibleUrl(holder, path),
    ...findReservedHeaders(holder, path),
    ...findLiteralKey(holder, path),
  ],
  isQuotable: (value, [key]) =>
    key === 'url' || key === 'automation_url'
      ? isPlainAddress(value)
      : (key === 'auth' || key === 'dialect') && isPlainWord(value),
  textForm: ([key]) =>
    key === 'url'
      ? [
          'embedded:, or an address with http or https and a host',
          'Write it like https://agents.example.com, without userinfo, query and fragment.',
        ]
      : key === 'automation_url'
        ? [
            'an address with http or https and a host',
            'Write it like https://automations.example.com, without userinfo, query and fragment.',
          ]
        : null,
  keyForm: () => [
    'This is not a valid header name.',
    'Use letters, digits and -, without spaces and colons.',
  ],
  overlay: overlayServer,
};

/** A url that has the form of one, but a host or port that no url can have. */
function impossibleUrl(holder: MapNode, path: FilePath): PlacedFinding[] {
  return ADDRESSES.flatMap((name) => impossibleAddress(name, holder, path));
}

/** The members of a server that name where its key is sent. */
export const ADDRESSES = ['url', 'automation_url'] as const;

function impossibleAddress(
  name: (typeof ADDRESSES)[number],
  holder: MapNode,
  path: FilePath,
): PlacedFinding[] {
  const url = member(member(holder, 'server'), name);
  const text = readNodeText(url)?.trim() ?? '';
  const isOfForm = /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/i.test(text);
  if (url === undefined || !isOfForm || mayHoldReference(text) || URL.canParse(text)) return [];
  return [
    createFindingForNode(url, {
      code: 'bad-value',
      message: 'This address has an invalid host or port.',
      hint: 'Write it like https://agents.example.com.',
      path: [...path, 'server', name],
    }),
  ];
}

function findReservedHeaders(holder: MapNode, path: FilePath): PlacedFinding[] {
  const headers = member(member(holder, 'server'), 'headers');
  if (headers?.kind !== 'map') return [];
  return [...headers.members.values()]
    .filter(({ key }) => isReservedHeader(key))
    .map(({ key, keyFile, keyAt }) => ({
      file: keyFile,
      at: keyAt,
      finding: {
        code: 'bad-value',
        message: `server.headers cannot contain ${key}: setpoint sets it for each request.`,
        hint:
          key.toLowerCase() === 'x-expose-secrets'
            ? 'Remove it; to have secrets compared, write server.compare_secrets: true.'
            : 'Remove it; the host of a request is that of server.url.',
        path: [...path, 'server', 'headers', key],
      },
    }));
}

function findLiteralKey(holder: MapNode, path: FilePath): PlacedFinding[] {
  const key = member(member(holder, 'server'), 'client_key');
  if (key === undefined || !isPem(readNodeText(key) ?? '')) return [];
  return [
    createFindingForNode(key, {
      code: 'literal-secret',
      message: 'A private key does not belong in this file.',
      hint: 'Write the path of its file, or a reference to its text: ${file:/run/secrets/client.key}. Get a new key if this file was committed.',
      path: [...path, 'server', 'client_key'],
    }),
  ];
}

/** A client certificate without its key, or the reverse, at the one that is there. */
export function findHalfIdentity(
  merged: Node | undefined,
  environment: Member | null,
): PlacedFinding[] {
  const [cert, key] = [member(merged, 'client_cert'), member(merged, 'client_key')];
  const one = cert ?? key;
  if (one === undefined || (cert !== undefined && key !== undefined)) return [];
  const [given, missing] =
    cert === undefined ? ['client_key', 'client_cert'] : ['client_cert', 'client_key'];
  return [
    createFindingForNode(one, {
      code: 'missing-key',
      message: `server.${given} needs server.${missing}.`,
      hint: `Add ${missing} next to it, or remove ${given}.`,
      path: [...(environment === null ? [] : ['environments', environment.key]), 'server', given],
    }),
  ];
}

const CREDENTIALS = ['api_key', 'headers'] as const;

/**
 * A key never follows a changed address: neither the service's key nor an access proxy's headers. The automation service of another server
 * is another one too.
 */
function overlayServer(below: Node | undefined, above: Node | undefined): Node | undefined {
  const changed = ADDRESSES.filter((name) => member(above, name) !== undefined);
  if (below?.kind !== 'map' || changed.length === 0) return overlay(below, above);
  const members = new Map(below.members);
  for (const key of CREDENTIALS) members.delete(key);
  if (changed.includes('url')) members.delete('automation_url');
  return overlay({ ...below, members }, above);
}

/** The credentials of the server above that an environment with a url of its own must also declare. */
export function keysThatDoNotFollow(
  environment: Member,
  below: Node | undefined,
  above: Node | undefined,
): PlacedFinding[] {
  const members = above?.kind === 'map' ? above.members : undefined;
  const url = members?.get('url') ?? members?.get('automation_url');
  if (url === undefined || readNodeText(url.node)?.trim().startsWith('embedded:') === true)
    return [];
  return CREDENTIALS.filter(
    (key) => hasMemberValue(below, key) && member(above, key) === undefined,
  ).map((key) => ({
    file: url.keyFile,
    at: url.keyAt,
    finding: {
      code: 'key-does-not-follow',
      message: `The ${url.key} changes here, and server.${key} of the blocks above does not follow it.`,
      hint:
        key === 'api_key'
          ? `Declare api_key next to the ${url.key}: a reference, or null for no key.`
          : `Declare headers next to the ${url.key}; {} for no headers.`,
      path: ['environments', environment.key, 'server', url.key],
    },
  }));
}

function hasMemberValue(node: Node | undefined, key: string): boolean {
  const value = member(node, key);
  return value !== undefined && !(value.kind === 'scalar' && value.value === null);
}

/** A missing url, at the block that should name it. Nothing if that block, or its key, has a problem that was reported. */
export function missingServer(
  root: MapNode,
  merged: Node | undefined,
  environment: Member | null,
): PlacedFinding[] {
  if (member(merged, 'url') !== undefined) return [];
  const block = environment === null ? root : environment.node;
  const path = environment === null ? [] : ['environments', environment.key];
  const own = block.kind === 'map' ? block.members.get('server') : undefined;
  const reported =
    (merged !== undefined && merged.kind !== 'map') ||
    block.kind !== 'map' ||
    isMisspelt(root, [], 'server') ||
    isMisspelt(root, [], 'environments') ||
    isMisspelt(member(root, 'server'), ['server'], 'url') ||
    isMisspelt(block, path, 'server') ||
    isMisspelt(own?.node, [...path, 'server'], 'url');
  if (reported) return [];
  const finding = {
    code: 'missing-key',
    message: own === undefined ? 'server.url is missing here.' : 'url is missing here.',
    hint: 'Name the service: server: { url: https://agents.example.com, api_key: "${env:SETPOINT_API_KEY}" }',
    path: own === undefined ? path : [...path, 'server'],
  } as const;
  const holder = own ?? environment;
  return holder === null
    ? [{ file: root.file, at: 0, finding }]
    : [{ file: holder.keyFile, at: holder.keyAt, finding }];
}

/** The block that declares a server. */
interface Declaring {
  readonly server: Node | undefined;
}

/** The origin that a target's file names, or the reference that it is; null if it names none. */
export function readDeclaredOrigin({ server: node }: Declaring): string | null {
  const url = readNodeText(member(node, 'url'))?.trim();
  if (url === undefined) return null;
  return isServiceAddress(url) ? urlOrigin(url.replace(/\/+$/, '')) : url;
}

/** The address that a target's file writes out; null if it names none, or reads it from a reference. */
export function readDeclaredAddress(
  { server: node }: Declaring,
  name: (typeof ADDRESSES)[number] = 'url',
): string | null {
  const url = readNodeText(member(node, name))?.trim();
  return url !== undefined && isServiceAddress(url) ? url : null;
}
