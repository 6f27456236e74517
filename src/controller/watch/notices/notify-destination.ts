import {
  member,
  type MapNode,
  type Node,
  readNodeText,
  type Finding,
} from '../../../reconciler/desired/node.ts';
import { isLoopbackHost, isSensitiveUrl } from '../../../reconciler/model/address.ts';
import { Secret } from '../../../reconciler/model/secret.ts';
import { isSensitiveName, isSecretText } from '../../../reconciler/model/secret-words.ts';
import { FORMS } from './receivers.ts';
import { type Destination } from './receiver.ts';
import { PLAIN, type Template } from './template.ts';
import { lookUp } from '../../../reconciler/desired/lookup.ts';
import { diagnostic } from '../../../reconciler/desired/place-diagnostic.ts';
import { milliseconds } from '../../../reconciler/desired/blocks/watch.ts';
import type { Diagnostic } from '../../../reconciler/model/diagnostic.ts';
import type { ReferenceSource } from '../../../reconciler/model/ports.ts';
import { didYouMean } from '../../../reconciler/model/wording.ts';

/** The keys of the file that hold an address: the forms of receivers. */
export const ADDRESSES = [
  'slack',
  'teams',
  'discord',
  'pagerduty',
  'alertmanager',
  'json',
  'github_issue',
] as const;

/** Parses the destination of a receiver; null if the file does not specify it correctly. */
export function parseDestination(map: MapNode, nodes: NotifyNodes): Destination | null {
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
  const { address, keys, url: fixed } = FORMS[form];
  for (const other of new Set(Object.values(FORMS).flatMap((one) => one.keys))) {
    const meant = member(map, other);
    if (meant !== undefined && !keys.includes(other))
      nodes.report(meant, {
        code: 'unknown-key',
        message: `${other} means nothing for ${key}.`,
        hint: 'Leave it out.',
      });
  }
  if (form === 'github-issue') return parseIssuesDestination(map, node, nodes);
  const url = nodes.secret(node, key, (text) => address === 'url' && !isSensitiveUrl(text));
  if (url === null || (fixed === undefined && !isReachedSafely(url, node, key, nodes))) return null;
  const headers = parseNotifyHeaders(member(map, 'headers'), nodes);
  const body = member(map, 'body');
  if (form !== 'json' || body === undefined) return { form, url, headers };
  return { form, url, headers, template: parseTemplate(body, nodes) };
}

/** Reports whether text sent to an address crosses no network in clear text; records a problem otherwise. */
export function isReachedSafely(
  address: Secret,
  node: Node,
  what: string,
  nodes: NotifyNodes,
): boolean {
  if (address.fits(isReceiverAddress)) return true;
  nodes.report(node, {
    code: 'bad-value',
    message: `${what} is not an https address.`,
    hint: 'Write https://…; http is for loopback and names without a dot, such as http://alertmanager:9093.',
  });
  return false;
}

/** https; http within a machine, a compose file or a cluster. */
function isReceiverAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:') return true;
  const { hostname } = url;
  const isName = !hostname.startsWith('[') && !hostname.includes('.');
  const isNear = isLoopbackHost(hostname) || isName || /\.(svc|local|internal)$/.test(hostname);
  return url.protocol === 'http:' && isNear;
}

function parseIssuesDestination(map: MapNode, node: Node, nodes: NotifyNodes): Destination | null {
  const repository = nodes.text(node, 'Repository', /^[\w.-]+\/[\w.-]+$/, 'Write OWNER/NAME.');
  const token = nodes.requireMember(map, 'token');
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

function parseNotifyHeaders(node: Node | undefined, nodes: NotifyNodes): Map<string, Secret> {
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
        message: 'Invalid header.',
        hint: 'A header has a name of letters, digits and -, and a value of one line.',
      });
  }
  return headers;
}

/** The longest text in a body of the file, in characters. */
const LONGEST_TEXT = 10_000;

function parseTemplate(node: Node, nodes: NotifyNodes): Template {
  const texts: string[] = [];
  const read = (one: Node): unknown => {
    if (one.kind === 'list') return one.items.map(read);
    if (one.kind === 'map')
      return Object.fromEntries(
        [...one.members.values()].map(({ key, node: at }) => [key, read(at)]),
      );
    if (typeof one.value !== 'string') return one.value;
    texts.push(one.value);
    return nodes.secret(one, 'This text', (text) => !isSecretText(text));
  };
  const body = read(node);
  if (node.kind !== 'map') nodes.wrong(node, 'body is a map.', 'Write the members of the JSON.');
  else if (!texts.some((text) => /\{(?:text|title)\}/.test(text)))
    nodes.report(node, {
      code: 'bad-value',
      message: 'body would never contain the message.',
      hint: 'Write {text} or {title} where the message goes, and {link} for the page.',
    });
  return { style: PLAIN, longest: LONGEST_TEXT, body };
}

/** Reads values of a file of --notify, and collects every problem. Each reader gives null for a value that is not valid. */
export class NotifyNodes {
  readonly diagnostics: Diagnostic[] = [];
  readonly #source: ReferenceSource;

  constructor(source: ReferenceSource) {
    this.#source = source;
  }

  report(node: Node, finding: Omit<Finding, 'path'>): null {
    if (!node.reported) this.diagnostics.push(diagnostic(node.file, node.at, finding));
    return null;
  }

  /** A map that has no other keys than these. */
  map(node: Node, keys: readonly string[], what: string): MapNode | null {
    if (node.kind !== 'map')
      return this.wrong(node, `${what} is a map.`, `It takes ${keys.join(', ')}.`);
    for (const { key, keyFile, keyAt } of node.members.values()) {
      if (keys.includes(key)) continue;
      const hint = `${didYouMean(key, keys)} It takes ${keys.join(', ')}.`.trim();
      const message = `${what} has no such key.`;
      this.diagnostics.push(diagnostic(keyFile, keyAt, { code: 'unknown-key', message, hint }));
    }
    return node;
  }

  requireMember(map: MapNode, key: string): Node | null {
    const node = map.members.get(key)?.node;
    if (node !== undefined) return node;
    const message = `${key} is missing.`;
    return this.report(map, { code: 'missing-key', message, hint: `Add ${key}.` });
  }

  list(node: Node | undefined, what: string): readonly Node[] {
    if (node === undefined) return [];
    if (node.kind === 'list') return node.items;
    this.wrong(node, `${what} is a list.`, 'Write [one, another], or a line with a dash for each.');
    return [];
  }

  text(node: Node, what: string, pattern: RegExp, hint: string): string | null {
    const text = readNodeText(node);
    if (text === undefined) return this.wrong(node, `${what} is text.`, hint);
    if (pattern.test(text)) return text;
    return this.report(node, {
      code: 'bad-value',
      message: `Invalid ${what.toLowerCase()}.`,
      hint,
    });
  }

  words<W extends string>(node: Node | undefined, what: string, words: readonly W[]): W[] | null {
    if (node === undefined) return null;
    const hint = `Allowed: ${words.join(', ')}.`;
    return this.list(node, what).flatMap((item) => {
      const word = words.find((one) => one === readNodeText(item));
      if (word !== undefined) return [word];
      this.report(item, { code: 'bad-value', message: `${what} has no such word.`, hint });
      return [];
    });
  }

  /** Milliseconds, from `least` to a week. */
  time(node: Node, what: string, least: number): number | null {
    const time = milliseconds(readNodeText(node));
    if (time !== null && time >= least && time <= LONGEST) return time;
    const message = `${what} is a time, from ${least / 1000}s to 168h.`;
    return this.report(node, { code: 'bad-value', message, hint: 'Write 30s, 5m or 24h.' });
  }

  /** A value that is a secret, or may be one: it must hold a reference unless `plain` accepts what is written. */
  secret(node: Node, what: string, plain: (text: string) => boolean = () => false): Secret | null {
    const text = readNodeText(node);
    if (text === undefined)
      return this.wrong(
        node,
        `${what} is text.`,
        'Write a reference: ${env:NAME} or ${file:PATH}.',
      );
    const found = lookUp(text, this.#source);
    if ('problem' in found)
      return this.report(node, {
        code: 'bad-reference',
        message: `${what} has no value: ${found.problem.replace(/\.$/, '')}.`,
        hint: 'Set it where setpoint watch runs.',
      });
    if (found.ref === null && !plain(text))
      return this.report(node, {
        code: 'literal-secret',
        message: `${what} is a secret, and does not belong in this file.`,
        hint: 'Write a reference in its place: ${env:NAME} or ${file:PATH}.',
      });
    return new Secret(found.text, found.ref);
  }

  wrong(node: Node, message: string, hint: string): null {
    return this.report(node, { code: 'wrong-type', message, hint });
  }
}

const LONGEST = 7 * 24 * 3_600_000;
