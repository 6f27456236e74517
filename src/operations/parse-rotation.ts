import { SetpointError } from '../model/error.ts';
import { formatPath, isWithin, parsePath } from '../model/path.ts';
import { secretsIn } from '../model/value.ts';
import { didYouMean } from '../model/suggest.ts';
import type { DesiredState } from '../model/state.ts';
import { identityOf, MCP_LISTS } from '../model/mcp.ts';
import { entriesOf } from '../plan/mcp-entry.ts';
import { isRecord } from '../model/value.ts';
import type { Rotation } from '../plan/rotation.ts';

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
    if (path !== null && known.some((secret) => isWithin(path, secret))) return path;
    const names = known.map(formatPath);
    const hint =
      didYouMean(text, names) ||
      (names.length > 0
        ? `Secrets declared here: ${names.join(', ')}.`
        : 'The file declares no secret.');
    throw new SetpointError('usage', '--rotate takes the path of a declared secret, or all.', {
      hint,
    });
  });
}

/** The paths of what a state declares and cannot be compared: password fields, secrets_store, and mcp entries with secrets. */
function rotatable(state: DesiredState): (readonly string[])[] {
  return [...state.fields, ...state.unresolved].flatMap((declared): (readonly string[])[] => {
    const { field } = declared;
    if (field.name !== 'mcp_config') return field.readable ? [] : [[field.name]];
    const config = 'value' in declared && isRecord(declared.value) ? declared.value : {};
    return MCP_LISTS.flatMap((list) =>
      entriesOf(config[list])
        .filter((entry) => secretsIn(entry).length > 0)
        .map((entry) => ['mcp_config', list, identityOf(list, entry).shown]),
    );
  });
}
