import { isServiceAddress, isEmbedded, parseUrlCached } from '../model/address.ts';
import { AUTOMATIONS_FORM, WEBHOOKS_FORM } from '../model/collection-forms.ts';
import { ERRORS, SetpointError } from '../model/error.ts';
import type { Source } from '../model/path.ts';
import { secretName, type ReferenceSource } from '../model/ports.ts';
import { REFERRING } from './blocks.ts';
import { ADDRESSES, server as serverBlock } from './blocks/server.ts';
import { lookUp } from './lookup.ts';
import { locate, member, findNode, readNodeText, type Node, type PlacedFinding } from './node.ts';
import { isMalformed, mayHoldReference, parseTemplate, type Reference } from './references.ts';
import type { Target } from './target.ts';

/** One variable, file or secret that would be sent to two origins, as the key of at least one of them. */
export interface SharedKey {
  /** The name in messages. */
  readonly key: string;
  /** The place where it is the key of a server, and the other place it would be sent to. */
  readonly uses: readonly [KeyUse, KeyUse];
}

export interface KeyUse {
  readonly target: Target;
  /** True if it is sent as a key: in api_key, in a header, or behind the host of the url. */
  readonly isKey: boolean;
  readonly node: Node;
  readonly path: readonly string[];
}

/** Functions that distinguish references, and return the destination of a target's requests. */
interface Surroundings {
  /** Identifies the file that a path leads to. */
  readonly fileOf: (path: string) => string;
  /** Identifies the origin of a url as the file writes it; null if nothing is known of it. */
  readonly originOf: (url: string) => string | null;
}

/** A target that sends a value, and where to: a key also to an automation service that has an origin of its own. */
interface Sender {
  readonly target: Target;
  readonly origins: readonly [string, ...string[]];
}

/** Reports whether one of two senders reaches an origin that the other one does not, and the other way round. */
function isElsewhere({ origins: one }: Sender, { origins: other }: Sender): boolean {
  return (
    one.some((origin) => !other.includes(origin)) && other.some((origin) => !one.includes(origin))
  );
}

/** The blocks that are sent to the automation service. */
const OF_AUTOMATION: readonly string[] = [AUTOMATIONS_FORM.block, WEBHOOKS_FORM.block];

/** The senders of a value: one that sends it as a key, one that proves to have it, and otherwise at most two origins. */
interface Senders {
  key: Sender | null;
  identity: Sender | null;
  readonly others: Sender[];
}

/** The private key of a client certificate, `identity`, is never sent: many origins may ask for its proof, and none may get it. */
type SentAs = 'key' | 'identity' | 'value';

/**
 * The variables, files and secrets that all targets of the files send, and the origin of each. A key of one server may be sent to no other
 * origin, in whatever place; any other value may be.
 */
export class KeyUses {
  readonly #surroundings: Surroundings;
  readonly #senders = new Map<string, Senders>();
  /** The references of the blocks above the environments. */
  readonly #above = new Set<string>();
  readonly #read = new WeakSet<Node>();
  readonly #shared = new Map<string, readonly [Sender, Sender]>();

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** Adds what a target sends. Nothing is sent by one without a url. */
  add(target: Target): void {
    const sender = this.#findSender(target);
    if (sender === null) return;
    for (const { source, use } of this.#inServer(target.server)) this.#add(source, sender, use);
    const above = target.shared;
    for (const name of SETTINGS) {
      const part = target[name];
      if (part === undefined) continue;
      const shared = above[name];
      if (shared !== undefined && !this.#read.has(shared)) {
        this.#read.add(shared);
        for (const { source } of this.#inPart(shared, undefined)) this.#above.add(source);
      }
      if (part === shared) continue;
      const to = selectOrigin(sender, name);
      for (const { source } of this.#inPart(part, shared)) this.#add(source, to, 'value');
    }
  }

  /** Each value that would be sent to two origins, once. `targets` are those that were added. */
  listShared(targets: Iterable<Target>): readonly SharedKey[] {
    const keysAbove = [...this.#above].filter((source) => this.#findKey(source) !== null);
    if (keysAbove.length > 0) this.#addInherited(targets);
    return [...this.#shared].map(([source, [one, other]]) =>
      this.#describeShared(source, one, other),
    );
  }

  /** The first key of a server in the settings of a target that would be sent to another origin; null if there is none. */
  findMisdirected(target: Target, url: string): SharedKey | null {
    const origin = this.#surroundings.originOf(url) ?? url;
    for (const name of SETTINGS)
      for (const found of this.#inPart(target[name], undefined, name)) {
        const key = this.#findKey(found.source);
        if (key === null || key.origins.includes(origin)) continue;
        const first = this.#findUse(key.target, found.source);
        return {
          key: referenceName(found.reference),
          uses: [first, { ...found, target, isKey: false }],
        };
      }
    return null;
  }

  #findKey(source: string): Sender | null {
    const senders = this.#senders.get(source);
    return senders?.key ?? senders?.identity ?? null;
  }

  /** Adds what targets take from the blocks above them: only if one of these refers to a key, which is rare. */
  #addInherited(targets: Iterable<Target>): void {
    for (const target of targets) {
      const sender = this.#findSender(target);
      if (sender === null) continue;
      for (const name of SETTINGS)
        for (const { source } of this.#inPart(target[name], undefined))
          if (this.#findKey(source) !== null)
            this.#add(source, selectOrigin(sender, name), 'value');
    }
  }

  #add(source: string, sender: Sender, use: SentAs): void {
    let known = this.#senders.get(source);
    if (known === undefined) {
      known = { key: null, identity: null, others: [] };
      this.#senders.set(source, known);
    }
    const { key, identity, others } = known;
    const rivals = {
      key: [key, identity, ...others],
      identity: [key, ...others],
      value: [key, identity],
    }[use];
    const elsewhere = rivals.find((rival) => rival !== null && isElsewhere(rival, sender));
    if (elsewhere !== undefined && elsewhere !== null && !this.#shared.has(source))
      this.#shared.set(source, [elsewhere, sender]);
    if (use === 'value') {
      if (others.length < 2 && others[0]?.origins[0] !== sender.origins[0]) others.push(sender);
    } else if (sender.origins.length > (known[use]?.origins.length ?? 0)) known[use] = sender;
  }

  #findSender(target: Target): Sender | null {
    const [origin = null, automation = null] = ADDRESSES.map((name) => {
      const url = readNodeText(member(target.server, name));
      return url === undefined ? null : this.#surroundings.originOf(url);
    });
    if (origin === null) return null;
    const isApart = automation !== null && automation !== origin;
    return { target, origins: isApart ? [origin, automation] : [origin] };
  }

  #describeShared(source: string, one: Sender, other: Sender): SharedKey {
    const isIdentity = this.#senders.get(source)?.key === null;
    const [first, second] = [
      this.#findUse(one.target, source),
      this.#findUse(other.target, source, isIdentity ? 'value' : undefined),
    ];
    const key = referenceName(first.reference);
    return { key, uses: first.isKey ? [first, second] : [second, first] };
  }

  /** Returns the use of a value in a target: in its server if it is there, or in its settings if `preferred` is a value. */
  #findUse(
    target: Target,
    source: string,
    preferred?: SentAs,
  ): KeyUse & Pick<KeyReference, 'reference'> {
    const used = [...this.#inServer(target.server)].filter((one) => one.source === source);
    const inServer = used.find(({ isKey }) => isKey) ?? used[0];
    if (inServer !== undefined && preferred === undefined) return { ...inServer, target };
    for (const name of SETTINGS)
      for (const found of this.#inPart(target[name], undefined, name))
        if (found.source === source) return { ...found, target, isKey: false };
    if (inServer !== undefined) return { ...inServer, target };
    throw new SetpointError('internal', `${target.name} does not refer to what it sends.`);
  }

  *#inServer(server: Node | undefined): Iterable<FoundInServer> {
    for (const { node, text, path } of listReferenceTexts(server, undefined, ['server'])) {
      const kind = serverBlock.textKind?.(path.slice(1));
      const isAddress = ADDRESSES.some((name) => name === path[1]);
      const host = !isAddress ? '' : isEmbedded(text) ? text : hostTemplate(text);
      const isIdentity = path[1] === 'client_key';
      if (kind !== 'secret' && !isAddress && !isIdentity) continue;
      for (const [part, use] of [
        [host, 'value'],
        [text.slice(host.length), isIdentity ? 'identity' : 'key'],
      ] as const)
        for (const reference of parseReferences(part)) {
          const source = this.#describeSource(reference);
          yield { source, reference, use, isKey: use !== 'value', node, path };
        }
    }
  }

  *#inPart(part: Node | undefined, known: Node | undefined, name = ''): Iterable<KeyReference> {
    for (const { node, text, path } of listReferenceTexts(part, known, [name]))
      for (const reference of parseReferences(text))
        yield { source: this.#describeSource(reference), reference, node, path };
  }

  #describeSource(reference: Reference): string {
    switch (reference.kind) {
      case 'env':
        return `env:${reference.name}`;
      case 'file':
        return `file:${this.#surroundings.fileOf(reference.path)}`;
      case 'secret':
        return `secret:${secretName(reference)}`;
    }
  }
}

interface KeyReference {
  readonly source: string;
  readonly reference: Reference;
  readonly node: Node;
  readonly path: readonly string[];
}

interface FoundInServer extends KeyReference {
  readonly use: SentAs;
  readonly isKey: boolean;
}

/** The blocks that are sent to a service next to its key. */
const SETTINGS = REFERRING.filter((name) => name !== 'server');

/** Returns a sender of what one block declares, which is sent to one of its origins. */
function selectOrigin({ target, origins: [own, automation = own] }: Sender, name: string): Sender {
  return { target, origins: [OF_AUTOMATION.includes(name) ? automation : own] };
}

/** The texts of a part that may hold references, without those of a part that is known. */
function* listReferenceTexts(
  node: Node | undefined,
  known: Node | undefined,
  path: readonly string[],
): Iterable<{ readonly node: Node; readonly text: string; readonly path: readonly string[] }> {
  if (node === undefined || node === known) return;
  if (node.kind === 'scalar') {
    const { value } = node;
    if (typeof value === 'string' && mayHoldReference(value)) yield { node, text: value, path };
  } else if (node.kind === 'list') {
    for (const [index, item] of node.items.entries())
      yield* listReferenceTexts(item, undefined, [...path, String(index)]);
  } else {
    const before = known?.kind === 'map' ? known.members : null;
    for (const [key, one] of node.members)
      yield* listReferenceTexts(one.node, before?.get(key)?.node, [...path, key]);
  }
}

function parseReferences(text: string): readonly Reference[] {
  const parts = mayHoldReference(text) ? parseTemplate(text) : [];
  return isMalformed(parts) ? [] : parts.filter((part) => typeof part === 'object');
}

/** The origins of urls as they stand in files: those that name a host, or are known from `source`. Without one, no reference is looked up. */
export function createOriginResolver(source: ReferenceSource | null): Surroundings['originOf'] {
  const known = new Map<string, string | null>();
  return (url) => {
    if (!mayHoldReference(url)) {
      // Many environments of one host differ in the path.
      const end = isEmbedded(url) ? -1 : url.indexOf('/', 'https://'.length);
      const host = end < 0 ? url : url.slice(0, end);
      const origin = known.get(host) ?? normalizeOrigin(host);
      known.set(host, origin);
      return origin;
    }
    const found = source === null ? null : lookUp(url, source);
    const resolved = found !== null && 'text' in found ? normalizeOrigin(found.text) : null;
    if (resolved !== null) return resolved;
    const host = hostTemplate(url);
    if (!mayHoldReference(host)) return normalizeOrigin(host);
    return source === null ? null : `unknown:${host}`;
  };
}

/** One name for each origin, however it is spelled; null if the text is not an address. */
function normalizeOrigin(text: string): string | null {
  const url = text.trim();
  if (!isServiceAddress(url)) return null;
  return isEmbedded(url) ? url : parseUrlCached(url).origin.replace(/\.(?=:\d+$|$)/, '');
}

/** An address up to its path, references as they are written. */
function hostTemplate(url: string): string {
  const known = url.replaceAll(/\$\{[^{}]*\}/g, (reference) => '$'.repeat(reference.length));
  const end = known.search(/(?<![:/])[/?#](?!\/)/);
  return end < 0 ? url : url.slice(0, end);
}

function referenceName(reference: Reference): string {
  switch (reference.kind) {
    case 'env':
      return reference.name;
    case 'file':
      return `the file ${reference.path}`;
    case 'secret':
      return `the secret ${secretName(reference)}`;
  }
}

/** Describes the problem in one sentence, with both places. */
export function describeSharedKey({ key, uses: [one, other] }: SharedKey): string {
  const [first, second] = [one, other].map(
    ({ target, node }) => `${target.name} (${formatSourcePlace(locate(node.file, node.at))})`,
  );
  return other.isKey
    ? `${key} would be sent as the key of two origins, those of ${first} and ${second}.`
    : `${key} is the key of ${first}, and would be sent to another origin by ${second}.`;
}

function formatSourcePlace({ file, line, column }: Source): string {
  return `${file}:${line}:${column}`;
}

/** Returns the problem as a finding of a file, at the second place. */
export function createSharedKeyFinding(shared: SharedKey): PlacedFinding {
  const { target, node, path } = shared.uses[1];
  const inEnvironment = ['environments', target.name, ...path];
  const own = findNode(target.root, inEnvironment);
  return {
    file: node.file,
    at: node.at,
    finding: {
      code: 'key-shared',
      message: describeSharedKey(shared),
      hint: ERRORS['key-shared'].hint,
      path: own?.file === node.file && own.at === node.at ? inEnvironment : path,
    },
  };
}
