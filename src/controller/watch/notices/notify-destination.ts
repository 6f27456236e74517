import { member, type MapNode, type Node } from '../../../reconciler/desired/node.ts';
import { isLoopback, isSensitiveUrl } from '../../../reconciler/model/address.ts';
import { Secret } from '../../../reconciler/model/secret.ts';
import { isSensitiveName, isSecretText } from '../../../reconciler/model/secret-words.ts';
import type { NotifyNodes } from './notify-nodes.ts';
import type { Destination } from './receiver.ts';
import { FORMS } from './receivers.ts';

/** The keys of the file that hold an address: the forms of receivers. */
export const ADDRESSES = ['slack', 'teams', 'alertmanager', 'json', 'github_issue'] as const;

/** Where a receiver is told; null if the file does not say it well. */
export function destinationOf(map: MapNode, nodes: NotifyNodes): Destination | null {
  const given = ADDRESSES.filter((key) => map.members.has(key));
  const [key] = given;
  const node = key === undefined ? undefined : member(map, key);
  if (key === undefined || node === undefined || given.length > 1) {
    const message = 'A receiver needs exactly one address.';
    return nodes.report(map, {
      code: 'missing-key',
      message,
      hint: `Write one of ${ADDRESSES.join(', ')}.`,
    });
  }
  const form = key === 'github_issue' ? 'github-issue' : key;
  const { address, keys } = FORMS[form];
  for (const other of new Set(Object.values(FORMS).flatMap((one) => one.keys))) {
    const meant = member(map, other);
    if (meant !== undefined && !keys.includes(other))
      nodes.report(meant, {
        code: 'unknown-key',
        message: `${other} means nothing for ${key}.`,
        hint: 'Leave it out.',
      });
  }
  if (form === 'github-issue') return issuesOf(map, node, nodes);
  const url = nodes.secret(node, key, (text) => address === 'url' && !isSensitiveUrl(text));
  if (url === null || !isReachedSafely(url, node, key, nodes)) return null;
  return { form, url, headers: headersOf(member(map, 'headers'), nodes) };
}

/** Whether what is sent to an address crosses no network in clear text; reports it if not. */
export function isReachedSafely(
  address: Secret,
  node: Node,
  what: string,
  nodes: NotifyNodes,
): boolean {
  if (address.fits(isAddress)) return true;
  nodes.report(node, {
    code: 'bad-value',
    message: `${what} is not an https address.`,
    hint: 'Write https://…; http is for loopback and names without a dot, such as http://alertmanager:9093.',
  });
  return false;
}

/** https; http within a machine, a compose file or a cluster. */
function isAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:') return true;
  const { hostname } = url;
  const isName = !hostname.startsWith('[') && !hostname.includes('.');
  const isNear = isLoopback(hostname) || isName || /\.(svc|local|internal)$/.test(hostname);
  return url.protocol === 'http:' && isNear;
}

function issuesOf(map: MapNode, node: Node, nodes: NotifyNodes): Destination | null {
  const repository = nodes.text(node, 'Repository', /^[\w.-]+\/[\w.-]+$/, 'Write OWNER/NAME.');
  const token = nodes.required(map, 'token');
  const secret = token && nodes.secret(token, 'token');
  const api = member(map, 'api_url');
  const apiUrl =
    api === undefined
      ? null
      : nodes.text(
          api,
          'Address',
          /^https?:\/\/[^\s@]+$/,
          'Write the address of the API, such as https://github.example.com/api/v3.',
        );
  const isSafe =
    api === undefined ||
    (apiUrl !== null && isReachedSafely(new Secret(apiUrl), api, 'api_url', nodes));
  if (repository === null || secret === null || !isSafe) return null;
  return { form: 'github-issue', repository, token: secret, apiUrl };
}

function headersOf(node: Node | undefined, nodes: NotifyNodes): Map<string, Secret> {
  const headers = new Map<string, Secret>();
  if (node === undefined) return headers;
  if (node.kind !== 'map') {
    nodes.wrong(node, 'headers is a map.', 'Write a line NAME: VALUE for each.');
    return headers;
  }
  for (const { key, node: value } of node.members.values()) {
    const isPlain = (text: string) => !isSensitiveName(key) && !isSecretText(text);
    const secret = nodes.secret(value, 'This header', isPlain);
    const valid =
      /^[A-Za-z0-9-]{1,100}$/.test(key) &&
      secret?.fits((text) => /^[\t\u0020-\u007E]*$/.test(text)) === true;
    if (valid) headers.set(key.toLowerCase(), secret);
    else if (secret !== null)
      nodes.report(value, {
        code: 'bad-value',
        message: 'This is no header.',
        hint: 'A header has a name of letters, digits and -, and a value of one line.',
      });
  }
  return headers;
}
