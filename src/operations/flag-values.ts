import { SetpointError, usageError } from '../model/error.ts';
import { RULES, type Rule } from '../model/guard.ts';
import { entriesOf, identityOf, MCP_LISTS } from '../model/mcp.ts';
import {
  formatPath,
  isUnmanaged,
  isWithin,
  parsePath,
  samePath,
  type Path,
} from '../model/path.ts';
import type { DesiredState } from '../model/state.ts';
import { choicesHint, didYouMean } from '../model/wording.ts';
import { isRecord, secretsIn, type ValueRecord } from '../model/value.ts';
import type { Rotation } from '../plan/plan-secrets.ts';

const AGE_UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** An age such as 90m, 24h or 7d, in milliseconds. `named` is the flag or input, for the usage error. */
export function parseAge(named: string, text: string): number {
  const [, number, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const age = Number(number) * (AGE_UNITS[unit] ?? 0);
  if (age > 0) return age;
  throw new SetpointError('usage', `${named} takes an age such as 90m, 24h or 7d.`);
}

/** The guards that `--allow` lifts for this run. Throws a usage error if a name is not that of a rule. */
export function parseRules(names: readonly string[] = []): readonly Rule[] {
  return names.map((text) => {
    const rule = RULES.find((known) => known === text.replaceAll('_', '-'));
    if (rule !== undefined) return rule;
    throw usageError('--allow takes the name of a rule.', choicesHint(text, RULES));
  });
}

/** The declared secrets that `--rotate` names, as paths. Throws a usage error for any other path. */
export function parseRotation(
  rotate: 'all' | readonly string[] | undefined,
  desired: Iterable<DesiredState>,
): Rotation {
  if (rotate === undefined) return [];
  if (rotate === 'all' || rotate.includes('all')) return 'all';
  const known = [...desired].flatMap(rotatable);
  return rotate.map((text) => {
    const path = parsePath(text);
    if (path !== null && known.some((secret) => isNamed(path, secret))) return path;
    const paths = known.map(({ path: secret }) => formatPath(secret));
    const hint =
      didYouMean(text, paths) ||
      (paths.length > 0 ? `Available: ${paths.join(', ')}.` : 'The file declares no secret.');
    throw new SetpointError('usage', '--rotate takes the path of a declared secret, or all.', {
      hint,
    });
  });
}

/** Something that can be rotated, and the secrets in it: an mcp entry is named by its own path, or by that of a secret in it. */
interface Rotatable {
  readonly path: Path;
  readonly holds: readonly Path[];
}

function isNamed(path: Path, { path: secret, holds }: Rotatable): boolean {
  return (
    samePath(path, secret) ||
    (isWithin(path, secret) && holds.some((inner) => samePath(path, [...secret, ...inner])))
  );
}

/** What is declared and cannot be compared: password fields, and mcp entries with secrets. */
function rotatable(state: DesiredState): Rotatable[] {
  const all = state.fields.flatMap(({ field, value }): Rotatable[] => {
    if (field.name !== 'mcp_config')
      return field.readable || !field.secret ? [] : [{ path: [field.name], holds: [] }];
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
