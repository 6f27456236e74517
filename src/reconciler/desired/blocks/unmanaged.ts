import {
  fieldAtNative,
  fieldNamed,
  fields,
  fieldsWithin,
  isNativePath,
  NATIVE_PARTS,
  NATIVE_SERVERS,
} from '../../model/field.ts';
import { bareUrl } from '../../model/address.ts';
import { identityMember, isMcpList, MCP_LISTS } from '../../model/mcp.ts';
import { formatPath, isWithin, parsePath, type Path } from '../../model/path.ts';
import type { SchemaLock } from '../../model/native-schema.ts';
import { didYouMean, suggest } from '../../model/wording.ts';
import { member, textOf, type MapNode, type Node, type PlacedFinding } from '../node.ts';
import { mayHoldReference } from '../references.ts';
import { settingsNodes } from '../schema-lookup.ts';
import { findingAt, type Block, type FilePath } from './block.ts';
import { isPlainPath } from './quotable.ts';

export const unmanaged: Block<'unmanaged'> = {
  name: 'unmanaged',
  pulled: true,
  check: unmanagedPaths,
  isQuotable: isPlainPath,
};

const NONE: readonly Path[] = [];

/** The paths that a target lists as unmanaged. */
export function unmanagedOf(node: Node | undefined): readonly Path[] {
  if (node?.kind !== 'list') return NONE;
  return node.items.flatMap((item) => {
    const path = parsePath(textOf(item) ?? '');
    if (path === null) return [];
    return isNativePath(path) ? nativePaths(path) : [path];
  });
}

/** A native path, and the fields of the specification that are in that place. */
function nativePaths(path: Path): Path[] {
  const named = fieldsWithin(path).map(({ name }) => [name]);
  return fieldAtNative(path) === undefined ? [path, ...named] : named;
}

function unmanagedPaths(holder: MapNode, path: FilePath): PlacedFinding[] {
  const list = member(holder, 'unmanaged');
  if (list?.kind !== 'list') return [];
  return list.items.flatMap((item, index) => {
    const text = textOf(item);
    const hint = text === undefined ? null : problemOfPath(text, item.file.lock);
    if (hint === null) return [];
    return [
      findingAt(item, {
        code: 'unknown-path',
        message: 'This path leads to no field and no mcp entry.',
        hint,
        path: [...path, 'unmanaged', String(index)],
      }),
    ];
  });
}

const EXAMPLE = 'Write a field (language) or an mcp entry (mcp_config.sse_servers[https://x/sse]).';

function problemOfPath(text: string, lock: SchemaLock | undefined): string | null {
  const segments = parsePath(text);
  if (segments === null) return EXAMPLE;
  const [name = '', list, identity, ...rest] = segments;
  if (NATIVE_PARTS.has(name)) return problemOfNative(segments, lock);
  if (fieldNamed(name) === undefined) {
    const names = [...fields().map((field) => field.name), ...NATIVE_PARTS];
    return didYouMean(name, names) || EXAMPLE;
  }
  if (list === undefined) return null;
  if (name !== 'mcp_config') return EXAMPLE;
  if (!isMcpList(list)) return didYouMean(list, MCP_LISTS) || EXAMPLE;
  if (identity === undefined) return null;
  if (rest.length > 0) return EXAMPLE;
  const known = identity.replace(/#\d+$/, '');
  const isUrl = identityMember(list) === 'url';
  return !isUrl || bareUrl(known) === known || mayHoldReference(known)
    ? null
    : 'Write the url without userinfo, query and fragment.';
}

function problemOfNative(path: Path, lock: SchemaLock | undefined): string | null {
  if (isWithin(path, NATIVE_SERVERS) && path.length > NATIVE_SERVERS.length)
    return 'Write the entry of its list: mcp_config.shttp_servers[https://x/mcp].';
  const wrong = path.findIndex(
    (_, index) => settingsNodes(path.slice(0, index + 1), lock).length === 0,
  );
  if (wrong === -1) return null;
  const above = path.slice(0, wrong);
  const names = settingsNodes(above).flatMap(({ properties = {} }) => Object.keys(properties));
  const near = suggest(path[wrong] ?? '', names);
  return near === null
    ? `Nothing else is under ${formatPath(above)}.`
    : `Did you mean ${formatPath([...above, near, ...path.slice(wrong + 1)])}?`;
}
