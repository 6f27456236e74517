import { SetpointError } from '../model/error.ts';
import {
  formatPath,
  isUnmanaged,
  isWithin,
  parsePath,
  samePath,
  type Path,
} from '../model/path.ts';
import { isRecord, secretsIn, type ValueRecord } from '../model/value.ts';
import { didYouMean } from '../model/suggest.ts';
import type { DesiredState } from '../model/state.ts';
import { identityOf, MCP_LISTS } from '../model/mcp.ts';
import { entriesOf } from '../model/mcp.ts';
import type { Rotation } from '../plan/plan-secrets.ts';

/** What `--rotate` names, as paths of declared secrets. A path that names none is a usage error. */
export function parseRotation(
  rotate: 'all' | readonly string[] | undefined,
  desired: readonly DesiredState[],
): Rotation {
  if (rotate === undefined) return [];
  if (rotate === 'all' || rotate.includes('all')) return 'all';
  const known = desired.flatMap(rotatable);
  return rotate.map((text) => {
    const path = parsePath(text);
    if (path !== null && known.some((secret) => names(path, secret))) return path;
    const paths = known.map(({ path: secret }) => formatPath(secret));
    const hint =
      didYouMean(text, paths) ||
      (paths.length > 0
        ? `Secrets declared here: ${paths.join(', ')}.`
        : 'The file declares no secret.');
    throw new SetpointError('usage', '--rotate takes the path of a declared secret, or all.', {
      hint,
    });
  });
}

/** Something that can be rotated, and what it holds: an mcp entry is rotated by itself or by a secret of its. */
interface Rotatable {
  readonly path: Path;
  readonly holds: readonly Path[];
}

function names(path: Path, { path: secret, holds }: Rotatable): boolean {
  return (
    samePath(path, secret) ||
    (isWithin(path, secret) && holds.some((inner) => samePath(path, [...secret, ...inner])))
  );
}

/** What a state declares and cannot be compared: password fields, secrets_store, and mcp entries with secrets. */
function rotatable(state: DesiredState): Rotatable[] {
  const all = state.fields.flatMap(({ field, value }): Rotatable[] => {
    if (field.name !== 'mcp_config')
      return field.readable ? [] : [{ path: [field.name], holds: [] }];
    const config = isRecord(value) ? value : {};
    return MCP_LISTS.flatMap((list) =>
      entriesOf(config[list])
        .filter((entry) => secretsIn(entry).length > 0)
        .map((entry) => ({
          path: ['mcp_config', list, identityOf(list, entry).shown],
          holds: secretsOf(entry),
        })),
    );
  });
  return all.filter(({ path }) => !isUnmanaged(state.unmanaged, path));
}

function secretsOf(entry: ValueRecord): Path[] {
  return Object.entries(entry).flatMap(([name, value]) => {
    if (secretsIn(value).length === 0) return [];
    return [[name], ...(isRecord(value) ? Object.keys(value).map((key) => [name, key]) : [])];
  });
}
