import type { Diagnostic } from '../model/diagnostic.ts';
import { fieldNamed, fields } from '../model/field.ts';
import { bareUrl } from '../model/identity.ts';
import { identityMember, isMcpList, MCP_LISTS } from '../model/mcp.ts';
import { parsePath } from '../model/path.ts';
import { didYouMean } from '../model/suggest.ts';
import { member, textOf, type MapNode, type Node } from './node.ts';
import { diagnostic, type Finding } from './report.ts';

/** What a schema cannot say, for every block of a file: the blocks at the top, and those of each environment. */
export function checkRules(root: MapNode): Diagnostic[] {
  const environments = member(root, 'environments');
  const blocks: [Node, readonly string[]][] = [[root, []]];
  if (environments?.kind === 'map') {
    for (const { key, node } of environments.members.values())
      blocks.push([node, ['environments', key]]);
  }
  return blocks.flatMap(([block, path]) =>
    block.kind === 'map'
      ? [
          ...notInVersion(block, path),
          ...unreachableValues(block, path),
          ...duplicateEntries(block, path),
          ...unmanagedPaths(block, path),
        ]
      : [],
  );
}

function notInVersion(block: MapNode, path: readonly string[]): Diagnostic[] {
  const sandboxes = block.members.get('sandboxes');
  if (sandboxes === undefined) return [];
  const finding: Finding = {
    code: 'not-in-version',
    message: 'Sandboxes are not in this version of setpoint.',
    hint: 'Remove the block; settings are applied without it.',
    path: [...path, 'sandboxes'],
  };
  return [diagnostic(sandboxes.keyFile, sandboxes.keyAt, finding)];
}

function unreachableValues(block: MapNode, path: readonly string[]): Diagnostic[] {
  const consent = member(member(block, 'settings'), 'user_consents_to_analytics');
  if (consent?.kind !== 'scalar' || consent.value !== null || consent.bare) return [];
  const finding: Finding = {
    code: 'cannot-be-had',
    message: 'The service has no way back to null: null keeps the answer it has.',
    hint: 'Write true or false, or remove the key to leave it alone.',
    path: [...path, 'settings', 'user_consents_to_analytics'],
  };
  return [diagnostic(consent.file, consent.at, finding)];
}

function duplicateEntries(block: MapNode, path: readonly string[]): Diagnostic[] {
  const mcp = member(member(block, 'settings'), 'mcp_config');
  return MCP_LISTS.flatMap((list) => {
    const entries = member(mcp, list);
    if (entries?.kind !== 'list') return [];
    const seen = new Set<string>();
    return entries.items.flatMap((entry, index) => {
      const key = identityMember(list);
      const text = textOf(entry) ?? textOf(member(entry, key));
      if (text === undefined) return [];
      const identity = key === 'name' ? text.trim() : bareUrl(text);
      if (!seen.has(identity)) {
        seen.add(identity);
        return [];
      }
      const at = member(entry, key) ?? entry;
      const finding: Finding = {
        code: 'duplicate-entry',
        message: `This ${key} stands in the list a second time.`,
        hint: 'Keep one of the two: an entry is known by its name, or its url without userinfo, query and fragment.',
        path: [...path, 'settings', 'mcp_config', list, String(index)],
      };
      return [diagnostic(at.file, at.at, finding)];
    });
  });
}

function unmanagedPaths(block: MapNode, path: readonly string[]): Diagnostic[] {
  const list = member(block, 'unmanaged');
  if (list?.kind !== 'list') return [];
  return list.items.flatMap((item, index) => {
    const text = textOf(item);
    const hint = text === undefined ? null : problemOfPath(text);
    if (hint === null) return [];
    const finding: Finding = {
      code: 'unknown-path',
      message: 'This path leads to no field and no mcp entry.',
      hint,
      path: [...path, 'unmanaged', String(index)],
    };
    return [diagnostic(item.file, item.at, finding)];
  });
}

function problemOfPath(text: string): string | null {
  const example =
    'Write a field (language) or an mcp entry (mcp_config.sse_servers[https://x/sse]).';
  const segments = parsePath(text);
  const [name = '', list, identity, ...rest] = segments ?? [];
  if (segments === null) return example;
  if (fieldNamed(name) === undefined)
    return (
      didYouMean(
        name,
        fields().map((field) => field.name),
      ) || example
    );
  if (list === undefined) return null;
  if (name !== 'mcp_config') return example;
  if (!isMcpList(list)) return didYouMean(list, MCP_LISTS) || example;
  return identity === undefined || rest.length === 0 ? null : example;
}
