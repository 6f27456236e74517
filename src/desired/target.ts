import type { Diagnostic } from '../model/diagnostic.ts';
import { checkReferences } from './check-references.ts';
import { checkRules } from './check-rules.ts';
import { checkSchema } from './check-schema.ts';
import { member, textOf, type MapNode, type Member, type Node } from './node.ts';
import { overlay } from './overlay.ts';
import { parseFile } from './parse.ts';
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
  readonly server: Node | undefined;
  readonly settings: Node | undefined;
  readonly guards: Node | undefined;
  readonly unmanaged: Node | undefined;
}

export interface ReadOptions {
  /** `--server`: the file need not name a server then. */
  readonly serverGiven: boolean;
  /** Several files are given, so that a file without a name goes by its file name. */
  readonly several: boolean;
}

type Blocks = Pick<Target, 'server' | 'settings' | 'guards' | 'unmanaged'>;

/** The targets a file holds, and every problem in it. With an error there are no targets to be used. */
export function readTargets(
  loaded: LoadedFile,
  options: ReadOptions,
): { readonly targets: readonly Target[]; readonly diagnostics: readonly Diagnostic[] } {
  const top = readChecked(loaded.path, loaded.text);
  const base = loaded.base === null ? null : readChecked(loaded.base.path, loaded.base.text);
  const diagnostics = [
    ...top.diagnostics,
    ...(base?.diagnostics ?? []),
    ...(base?.root ? baseFindings(base.root) : []),
  ];
  if (top.root === null || (base !== null && base.root === null))
    return { targets: [], diagnostics };
  const root = top.root;
  const blocks: Blocks = merge(blocksOf(base?.root ?? undefined), blocksOf(root));
  const environments = member(root, 'environments');
  if (environments?.kind !== 'map') {
    if (member(blocks.server, 'url') === undefined && !options.serverGiven) {
      diagnostics.push(noServer(root, root.members.get('server') ?? null));
    }
    return {
      targets: [{ name: nameOf(loaded.path, root, options), file: loaded.path, ...blocks }],
      diagnostics,
    };
  }
  const targets = [...environments.members.values()].map((environment) => {
    const own = blocksOf(environment.node);
    diagnostics.push(...keyFindings(environment, blocks.server, own.server));
    const merged = { ...merge(blocks, own), server: serverOf(blocks.server, own.server) };
    if (member(merged.server, 'url') === undefined && !options.serverGiven) {
      diagnostics.push(noServer(root, environment));
    }
    return { name: environment.key, file: loaded.path, ...merged };
  });
  return { targets, diagnostics };
}

/** The path of the base a file extends, read without judging the rest of it. */
export function baseOf(path: string, text: string): string | null {
  if (!/^\uFEFF?extends\s*:|\nextends\s*:|["'{,]\s*["']?extends["']?\s*:/.test(text)) return null;
  const { root } = parseFile(path, text);
  return textOf(member(root ?? undefined, 'extends')) ?? null;
}

function readChecked(
  path: string,
  text: string,
): { root: MapNode | null; diagnostics: Diagnostic[] } {
  const parsed = parseFile(path, text);
  if (parsed.root?.kind !== 'map') return { root: null, diagnostics: [...parsed.diagnostics] };
  const reported = new Set<string>();
  const found = checkReferences(parsed.root, reported);
  const diagnostics = [
    ...parsed.diagnostics,
    ...found,
    ...checkSchema(parsed.root, reported),
    ...checkRules(parsed.root),
  ];
  return { root: parsed.root, diagnostics };
}

function blocksOf(node: Node | undefined): Blocks {
  return {
    server: member(node, 'server'),
    settings: member(node, 'settings'),
    guards: member(node, 'guards'),
    unmanaged: member(node, 'unmanaged'),
  };
}

function merge(below: Blocks, above: Blocks): Blocks {
  return {
    server: overlay(below.server, above.server),
    settings: overlay(below.settings, above.settings),
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
        hint: 'Move it into the file that extends this one.',
        path: [key],
      }),
    ];
  });
}

function noServer(root: MapNode, holder: Member | null): Diagnostic {
  const path =
    holder === null ? [] : holder.key === 'server' ? ['server'] : ['environments', holder.key];
  const finding = {
    code: 'missing-key',
    message: holder?.key === 'server' ? 'url is missing here.' : 'server.url is missing here.',
    hint: 'Name the service: server: { url: https://agents.example.com, api_key: "${env:SETPOINT_API_KEY}" }',
    path,
  } as const;
  return holder === null
    ? diagnostic(root.file, 0, finding)
    : diagnostic(holder.keyFile, holder.keyAt, finding);
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
