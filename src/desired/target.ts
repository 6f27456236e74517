import type { Diagnostic } from '../model/diagnostic.ts';
import { isMisspelt } from './bad-keys.ts';
import { checkFile } from './check-file.ts';
import { member, textOf, type MapNode, type Member, type Node } from './node.ts';
import { overlay } from './overlay.ts';
import { parseFile } from './parse.ts';
import { mayHoldReference } from './references.ts';
import { diagnostic } from './report.ts';

/** A settings file as it was read, with the base it extends. Paths are as the person named them. */
export interface LoadedFile {
  readonly path: string;
  readonly text: string;
  readonly base: { readonly path: string; readonly text: string } | null;
}

/** One service to be kept: a file, or one environment of it, its blocks merged. References are as they are written. */
export interface Target {
  readonly name: string;
  /** The settings file that names it; relative paths are relative to its folder. */
  readonly file: string;
  /** That file as it was read, and the base it extends: what tells which block a value comes from. */
  readonly root: MapNode;
  readonly base: MapNode | null;
  readonly server: Node | undefined;
  readonly settings: Node | undefined;
  readonly sandboxes: Node | undefined;
  readonly guards: Node | undefined;
  readonly unmanaged: Node | undefined;
}

export interface ReadOptions {
  /** `--server`: the file need not name a server then. */
  readonly serverGiven: boolean;
  /** Several files are given, so that a file without a name goes by its file name. */
  readonly several: boolean;
}

type Blocks = Pick<Target, 'server' | 'settings' | 'sandboxes' | 'guards' | 'unmanaged'>;

/** The targets a file holds, and every problem in it, from top to bottom. With an error there are no targets to be used. */
export function readTargets(
  loaded: LoadedFile,
  options: ReadOptions,
): { readonly targets: readonly Target[]; readonly diagnostics: readonly Diagnostic[] } {
  const top = readChecked(loaded.path, loaded.text);
  const base = loaded.base === null ? null : readChecked(loaded.base.path, loaded.base.text);
  const ofBase = inOrder([
    ...(base?.diagnostics ?? []),
    ...(base?.root ? baseFindings(base.root) : []),
  ]);
  if (top.root === null || (base !== null && base.root === null))
    return { targets: [], diagnostics: [...inOrder(top.diagnostics), ...ofBase] };
  const { targets, diagnostics } = targetsOf(
    loaded.path,
    top.root,
    base?.root ?? undefined,
    options,
  );
  return { targets, diagnostics: [...inOrder([...top.diagnostics, ...diagnostics]), ...ofBase] };
}

function targetsOf(
  path: string,
  root: MapNode,
  base: MapNode | undefined,
  options: ReadOptions,
): { readonly targets: readonly Target[]; readonly diagnostics: readonly Diagnostic[] } {
  const blocks: Blocks = merge(blocksOf(base), blocksOf(root));
  const read = { file: path, root, base: base ?? null };
  const missing = (server: Node | undefined, holder: Member | null) =>
    options.serverGiven ? [] : missingServer(root, server, holder);
  const environments = member(root, 'environments');
  if (environments === undefined) {
    return {
      targets: [{ name: nameOf(path, root, options), ...read, ...blocks }],
      diagnostics: missing(blocks.server, null),
    };
  }
  const all = environments.kind === 'map' ? [...environments.members.values()] : [];
  const parts = all.map((environment) => {
    const own = blocksOf(environment.node);
    const server = serverOf(blocks.server, own.server);
    return {
      target: { name: environment.key, ...read, ...merge(blocks, own), server },
      diagnostics: [
        ...keyFindings(environment, blocks.server, own.server),
        ...missing(server, environment),
      ],
    };
  });
  return {
    targets: parts.map(({ target }) => target),
    diagnostics: parts.flatMap((one) => one.diagnostics),
  };
}

function inOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.toSorted((a, b) => a.line - b.line || a.column - b.column);
}

/** The base a file extends, read without judging the rest of the file. */
export interface BaseReference {
  /** As the file writes it. */
  readonly path: string;
  /** A diagnostic at the place where it is written. */
  diagnose(message: string, hint: string): Diagnostic;
}

export function baseOf(path: string, text: string): BaseReference | null {
  // An escape in a double-quoted key may spell it as well.
  if (!text.includes('extends') && !/\\[xuU]/.test(text)) return null;
  const node = member(parseFile(path, text).root ?? undefined, 'extends');
  const base = textOf(node) ?? '';
  if (node === undefined || base === '' || base.includes('\0') || mayHoldReference(base))
    return null;
  const diagnose = (message: string, hint: string): Diagnostic =>
    diagnostic(node.file, node.at, { code: 'unreadable', message, hint, path: ['extends'] });
  return { path: base, diagnose };
}

function readChecked(
  path: string,
  text: string,
): { root: MapNode | null; diagnostics: Diagnostic[] } {
  const { root, diagnostics } = parseFile(path, text);
  if (root?.kind !== 'map') return { root: null, diagnostics: [...diagnostics] };
  return { root, diagnostics: [...diagnostics, ...checkFile(root)] };
}

function blocksOf(node: Node | undefined): Blocks {
  return {
    server: member(node, 'server'),
    settings: member(node, 'settings'),
    sandboxes: member(node, 'sandboxes'),
    guards: member(node, 'guards'),
    unmanaged: member(node, 'unmanaged'),
  };
}

function merge(below: Blocks, above: Blocks): Blocks {
  return {
    server: overlay(below.server, above.server),
    settings: overlay(below.settings, above.settings),
    sandboxes: overlay(below.sandboxes, above.sandboxes),
    guards: overlay(below.guards, above.guards),
    unmanaged: overlay(below.unmanaged, above.unmanaged),
  };
}

const CREDENTIALS = ['api_key', 'headers'] as const;

/** An environment's server. A key never follows a moved url: neither the service's key nor an access proxy's headers. */
function serverOf(below: Node | undefined, above: Node | undefined): Node | undefined {
  if (below?.kind !== 'map' || member(above, 'url') === undefined) return overlay(below, above);
  const members = new Map(below.members);
  for (const key of CREDENTIALS) members.delete(key);
  return overlay({ ...below, members }, above);
}

function keyFindings(
  environment: Member,
  below: Node | undefined,
  above: Node | undefined,
): Diagnostic[] {
  const url = above?.kind === 'map' ? above.members.get('url') : undefined;
  if (url === undefined || textOf(url.node)?.trim().startsWith('embedded:') === true) return [];
  return CREDENTIALS.filter((key) => present(below, key) && member(above, key) === undefined).map(
    (key) =>
      diagnostic(url.keyFile, url.keyAt, {
        code: 'key-does-not-follow',
        message: `The url moves here, and server.${key} of the blocks above does not follow it.`,
        hint:
          key === 'api_key'
            ? 'Name api_key beside the url: a reference, or null for none.'
            : 'Name headers beside the url; {} for none.',
        path: ['environments', environment.key, 'server', 'url'],
      }),
  );
}

function present(node: Node | undefined, key: string): boolean {
  const value = member(node, key);
  return value !== undefined && !(value.kind === 'scalar' && value.value === null);
}

function baseFindings(root: MapNode): Diagnostic[] {
  return ['server', 'environments', 'extends', 'name'].flatMap((key) => {
    const found = root.members.get(key);
    if (found === undefined) return [];
    return [
      diagnostic(found.keyFile, found.keyAt, {
        code: 'base-not-allowed',
        message: `A base file holds no ${key}.`,
        hint:
          key === 'extends'
            ? 'Remove it: there is one level of files.'
            : 'Move it into the file that extends this one.',
        path: [key],
      }),
    ];
  });
}

/** No url, at the block that should name it; nothing where that block, or its key, has been reported as what it is. */
function missingServer(
  root: MapNode,
  server: Node | undefined,
  environment: Member | null,
): Diagnostic[] {
  const block = environment === null ? root : environment.node;
  const path = environment === null ? [] : ['environments', environment.key];
  const own = block.kind === 'map' ? block.members.get('server') : undefined;
  const said =
    member(server, 'url') !== undefined ||
    (server !== undefined && server.kind !== 'map') ||
    block.kind !== 'map' ||
    isMisspelt(root, [], 'server') ||
    isMisspelt(root, [], 'environments') ||
    isMisspelt(member(root, 'server'), ['server'], 'url') ||
    isMisspelt(block, path, 'server') ||
    isMisspelt(own?.node, [...path, 'server'], 'url');
  if (said) return [];
  const finding = {
    code: 'missing-key',
    message: own === undefined ? 'server.url is missing here.' : 'url is missing here.',
    hint: 'Name the service: server: { url: https://agents.example.com, api_key: "${env:SETPOINT_API_KEY}" }',
    path: own === undefined ? path : [...path, 'server'],
  } as const;
  const holder = own ?? environment;
  return holder === null
    ? [diagnostic(root.file, 0, finding)]
    : [diagnostic(holder.keyFile, holder.keyAt, finding)];
}

function nameOf(path: string, root: MapNode, options: ReadOptions): string {
  const stem = path
    .split(/[\\/]/)
    .at(-1)
    ?.replace(/\.ya?ml$/, '');
  return (
    textOf(member(root, 'name')) ??
    (options.several && stem !== undefined && stem !== '' ? stem : 'default')
  );
}
