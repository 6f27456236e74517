import { Cache } from '../model/cache.ts';
import { isEmbedded, isServiceAddress, urlOrigin } from '../model/address.ts';
import { LLM_PROFILES_FORM } from '../model/collection-forms.ts';
import { fields, MODEL_PART, type SpecifiedField } from '../model/field.ts';
import { isUnmanaged, type Path } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { entryPaths } from '../model/mcp.ts';
import type { GuardSettings } from '../model/guard.ts';
import { Secret } from '../model/secret.ts';
import type {
  DeclaredItem,
  DesiredField,
  DesiredState,
  MissingReference,
  OnlyOn,
  ServerSettings,
} from '../model/state.ts';
import { type Value } from '../model/value.ts';
import { BLOCKS, type BlockName, excludeUnmanagedItems } from './blocks.ts';
import type { Block } from './blocks/block.ts';
import { parseGuardBlock, readUnmanagedPaths } from './blocks/about.ts';
import { withFormerNames } from './blocks/moved.ts';
import { findExhaustiveBlocks } from './blocks/collections.ts';
import { type Node, findNode, isTrue, locate, member, readNodeText } from './node.ts';
import { findDeclaredField, nativeLeaves, resolveLeaf, resolveTypedText } from './native.ts';
import {
  isServersPlace,
  resolveServers,
  serverSource,
  resolveMcp,
  resolveNodeValue,
  resolveNamedSettings,
} from './named-settings.ts';
import { mayHoldReference } from './references.ts';
import { findUndeclaredNames } from './cross-check.ts';
import { settingsNodes } from './schema-lookup.ts';
import { missingReferences, readStrictly, resolveText, lookUp } from './lookup.ts';
import { withUsable } from './text-use.ts';
import { addPointerItems } from './active-profiles.ts';
import type { Target } from './target.ts';

/**
 * The desired state of a target, references resolved. A reference without a value leaves its own value unknown and nothing else.
 * Targets that share the node of a field, or of a block, have the same object for it, if it holds no reference.
 */
export function resolveSettings(target: Target, source: ReferenceSource): DesiredState {
  const { settings, shared } = target;
  const unmanaged = ofBlock(target, 'unmanaged', UNMANAGED, readUnmanagedPaths);
  const resolved: DesiredField[] = [];
  const missing: MissingReference[] = [];
  const add = ({ path, node }: SettingsNode, resolve: () => DesiredField): void => {
    keep(node, findNode(shared.settings, path) === node, resolve);
  };
  const keep = (node: Node, isShared: boolean, resolve: () => DesiredField): void => {
    const same = isShared
      ? FIELDS.get(node, () => (canContainReference(node) ? null : resolve()))
      : null;
    const found = same ?? usableField(resolve(), source);
    if (isUnmanaged(unmanaged, found.field.path)) return;
    resolved.push(found);
    if (same !== null) return;
    const pathOf = entryPaths(found);
    missing.push(...missingReferences(found.field.path, found.value, unmanaged, pathOf));
  };
  for (const field of fields()) {
    if (isUnmanaged(unmanaged, field.path)) continue;
    const place = findDeclaredField(settings, field);
    if (place !== null) add(place, () => resolveFieldNode(field, place, source));
  }
  for (const leaf of nativeLeaves(settings)) add(leaf, () => resolveLeaf(leaf, source));
  const exhaustive = excludeUnmanagedItems(findExhaustiveBlocks(target.collections), unmanaged);
  for (const { node, isShared, field } of resolveNamedSettings(
    target,
    unmanaged,
    exhaustive,
    source,
  ))
    keep(node, isShared, field);
  const declared = withFormerNames(itemsOfBlocks(target, source), target.moved);
  const items = excludeUnmanagedItems(declared, unmanaged);
  for (const { values = [] } of [...items.values()].flat())
    for (const { path, value } of values) missing.push(...missingReferences(path, value, []));
  const { lock } = target.root.file;
  const unknown = findUndeclaredNames(target);
  return {
    ...(lock === undefined ? {} : { lock }),
    ...addPointerItems(resolved, items, target),
    missing,
    unmanaged,
    exhaustive,
    only: items.size === 0 ? [] : onlyOn(items),
    ...(unknown.length === 0 ? {} : { unknownNames: unknown }),
    guards: addForbiddenGuards(ofBlock(target, 'guards', GUARDS, parseGuardBlock), target),
  };
}

/** Adds the forbidden rules of a target to its guards: they refuse whatever its guards are. */
function addForbiddenGuards(guards: GuardSettings, { limits }: Target): GuardSettings {
  if (limits === undefined || limits.forbidden.size === 0) return guards;
  const on = new Set([...guards.on, ...limits.forbidden.keys()]);
  return { ...guards, on, forbidden: limits.forbidden };
}

function onlyOn(items: DesiredState['items']): readonly OnlyOn[] {
  return BLOCKS.flatMap(({ name, only }: Block) =>
    only !== undefined && items.has(name) ? [only] : [],
  );
}

/** A field whose references can work; one that cannot is as one without a value. */
function usableField(found: DesiredField, { resolved }: ReferenceSource): DesiredField {
  const value = withUsable(found.value, found.field.path, resolved);
  return value === found.value ? found : { ...found, value };
}

interface SettingsNode {
  /** Under `settings`. */
  readonly path: Path;
  readonly node: Node;
}

/** The declarations of shared nodes: null for a field with a reference, which each target looks up itself. */
const FIELDS = new Cache<Node, DesiredField | null>();
const UNMANAGED = new Cache<Node, readonly Path[]>();
const ITEMS = new Cache<Node, readonly DeclaredItem[] | null>();
const GUARDS = new Cache<Node, GuardSettings>();

/** Returns the items that a target declares in each block that has items. */
function itemsOfBlocks(target: Target, source: ReferenceSource): DesiredState['items'] {
  const all = new Map<string, readonly DeclaredItem[]>();
  const resolve = (text: string, path: Path): Value =>
    withUsable(resolveMemberText(text, path, source), path, source.resolved);
  for (const { name, items } of BLOCKS as readonly Block<BlockName>[]) {
    const node = target[name];
    if (node === undefined || items === undefined) continue;
    const read = () => items(node, resolve);
    const same =
      node === target.shared[name]
        ? ITEMS.get(node, () => (canContainReference(node) ? null : read()))
        : null;
    const declared = same ?? read();
    if (declared.length > 0) all.set(name, declared);
  }
  return all;
}

/** A text of an item. The members of an LLM profile have the types that they have in the settings. */
function resolveMemberText(text: string, path: Path, source: ReferenceSource): Value {
  const [block, , ...member] = path;
  const place = [...MODEL_PART, ...member];
  const nodes = block === LLM_PROFILES_FORM.block ? settingsNodes(place) : [];
  return nodes.length === 0
    ? resolveText(text, source)
    : resolveTypedText(place, nodes, text, source);
}

function ofBlock<T>(
  target: Target,
  name: BlockName,
  known: Cache<Node, T>,
  read: (node: Node | undefined) => T,
): T {
  const node = target[name];
  return node !== undefined && node === target.shared[name] ? known.get(node, read) : read(node);
}

function canContainReference(node: Node): boolean {
  if (node.kind === 'scalar') return typeof node.value === 'string' && mayHoldReference(node.value);
  if (node.kind === 'list') return node.items.some(canContainReference);
  return [...node.members.values()].some((one) => canContainReference(one.node));
}

function resolveFieldNode(
  field: SpecifiedField,
  { path, node }: SettingsNode,
  source: ReferenceSource,
): DesiredField {
  if (isServersPlace(path)) {
    const value = resolveServers(node, source);
    const at = (inner: Path) => serverSource(node, value, inner);
    return { field, value, source: (inner = []) => locateInner(at(inner), []) };
  }
  const value =
    field.name === 'mcp_config' ? resolveMcp(node, source) : resolveField(field, node, source);
  return { field, value, source: (inner = []) => locateInner(node, inner) };
}

function resolveField(field: SpecifiedField, node: Node, source: ReferenceSource): Value {
  if (node.kind !== 'scalar') return resolveNodeValue(node, source);
  if (typeof node.value !== 'string') return node.value;
  if (field.type === 'string') return resolveText(node.value, source);
  return readStrictly(field.name, node.value, source);
}

function locateInner(node: Node, path: Path) {
  const found = findNode(node, path) ?? node;
  return locate(found.file, found.at);
}

/** A missing part for reaching a service: why, and the reference it would come from. */
export interface ServerProblem {
  readonly path: readonly string[];
  readonly reason: string;
  readonly ref: string;
}

interface ResolvedText {
  readonly text: string;
  readonly ref: string | null;
}

/** Returns the addresses from references that are no address of a service. */
function findAddressProblems(
  addresses: Readonly<Record<string, ResolvedText | null>>,
): readonly ServerProblem[] {
  return Object.entries(addresses).flatMap(([name, read]) =>
    read === null || read.ref === null || isAddressOf(name, read.text.trim())
      ? []
      : [
          {
            path: ['server', name],
            reason: 'its value is not the address of a service',
            ref: read.ref,
          },
        ],
  );
}

/** Reports whether a text is an address of a service; an embedded one has no automation service of its own. */
export function isAddressOf(name: string, text: string): boolean {
  return isServiceAddress(text) && (name === 'url' || !isEmbedded(text));
}

function toOrigin({ text, ref }: ResolvedText): { readonly url: string; readonly origin: string } {
  const url = text.trim();
  return { url: url.replace(/\/+$/, ''), origin: ref ?? urlOrigin(url) };
}

/** Returns how to reach a target's service, references resolved; or every reason why that is not known. */
export function resolveServer(
  target: Target,
  source: ReferenceSource,
):
  | { readonly server: ServerSettings }
  | { readonly problems: readonly ServerProblem[]; readonly url: string | null } {
  const problems: ServerProblem[] = [];
  const resolved = (path: readonly string[]): ResolvedText | null => {
    const written = readNodeText(path.reduce((node, key) => member(node, key), target.server));
    if (written === undefined) return null;
    const found = lookUp(written, source);
    if (!('problem' in found)) return found;
    const { problem: reason, missing, ref } = found;
    problems.push({ path: ['server', ...path], reason, ref: missing ?? ref });
    return null;
  };
  const header = (path: readonly string[]): Secret | null => {
    const found = resolved(path);
    if (found === null) return null;
    if (isHeaderValue(found.text)) return new Secret(found.text, found.ref);
    const reason =
      found.text.trim() === ''
        ? 'its value is empty'
        : 'its value has characters that no header can carry, such as a line break';
    problems.push({ path: ['server', ...path], reason, ref: found.ref ?? '' });
    return null;
  };
  const url = resolved(['url']);
  const apiKey = header(['api_key']);
  const headers = new Map<string, Secret>();
  const declared = member(target.server, 'headers');
  for (const name of declared?.kind === 'map' ? declared.members.keys() : []) {
    const value = header(['headers', name]);
    if (value !== null) headers.set(name, value);
  }
  const tls = resolveTlsFiles(resolved);
  const automation = resolved(['automation_url']);
  problems.push(...findAddressProblems({ url, automation_url: automation }));
  if (problems.length > 0) return { problems, url: url?.text.trim() ?? null };
  const auth = readNodeText(member(target.server, 'auth'));
  const dialect = readNodeText(member(target.server, 'dialect'));
  return {
    server: {
      ...(url === null ? { url: '', origin: '' } : toOrigin(url)),
      apiKey,
      auth: auth === 'session-key' || auth === 'bearer' ? auth : 'both',
      dialect: isDialect(dialect) ? dialect : 'auto',
      headers,
      ...tls,
      ...(automation === null ? {} : { automation: toOrigin(automation) }),
      compareSecrets: isTrue(member(target.server, 'compare_secrets')),
    },
  };
}

/** Resolves the members of a server that name PEM files. */
function resolveTlsFiles(
  resolved: (
    path: readonly string[],
  ) => { readonly text: string; readonly ref: string | null } | null,
): Pick<ServerSettings, 'caFile' | 'clientCert' | 'clientKey'> {
  const clientKey = resolved(['client_key']);
  return {
    caFile: resolved(['ca_file'])?.text ?? null,
    clientCert: resolved(['client_cert'])?.text ?? null,
    clientKey: clientKey === null ? null : new Secret(clientKey.text, clientKey.ref),
  };
}

function isDialect(name: string | undefined): name is ServerSettings['dialect'] {
  return name === 'settings-v0' || name === 'app-server' || name === 'agent-server';
}

/** Visible ASCII, blanks and latin-1: what a header may carry. Anything else would cause an error that quotes the value. */
export function isHeaderValue(text: string): boolean {
  return /^[\t\u0020-\u007E\u0080-\u00FF]+$/.test(text) && text === text.trim();
}
