import { usageError } from '../model/error.ts';
import { formatPath, isWithin, parsePath, type Path } from '../model/path.ts';
import type { DesiredField, DesiredState, SkippedPath } from '../model/state.ts';
import { didYouMean, namesListed } from '../model/wording.ts';
import { leavableItems, omitSkipped } from '../plan/declared.ts';
import { formatReferences } from '../plan/decision.ts';
import { listManagedSettings } from './flag-values.ts';

/** A part of a file that a run can be limited to. */
interface Part {
  readonly path: Path;
  /** Other paths that name it. */
  readonly aliases: readonly Path[];
  readonly names: readonly string[];
  readonly ref: string | null;
  /** True for all mcp servers together, and for one of them. */
  readonly isServers: boolean;
  readonly isEntry: boolean;
}

/**
 * The declaration of an environment without all that `--only` does not name: settings, mcp entries, items, or a block with all of them.
 * What a file declares for a whole block, such as the removal of others, is in effect if the block is named. Pure.
 */
export function selectOnly(only: readonly string[], desired: DesiredState): DesiredState {
  const paths = only.map((given) => parsePath(given) ?? [given]);
  const isChosen = (path: Path): boolean => paths.some((one) => isWithin(path, one));
  const parts = listParts(desired);
  const chosen = parts.filter(({ path, aliases }) => [path, ...aliases].some(isChosen));
  const hasEntry = chosen.some(({ isEntry }) => isEntry);
  const left = parts
    .filter((part) => !chosen.includes(part) && !(part.isServers && hasEntry))
    .map(({ path, names, ref, isEntry, aliases }): SkippedPath => {
      const calls = isEntry ? aliases : [];
      return { path, names, ref, calls, given: '--only', isOfOnly: true };
    });
  const limited: DesiredState = {
    ...desired,
    fields: desired.fields.flatMap((field) => limitServers(field, isChosen)),
    items: new Map(
      [...desired.items].flatMap(([block, items]) => {
        const own = items.filter(
          (item) => isChosen([block]) || ('name' in item && isChosen([block, String(item.name)])),
        );
        return own.length === 0 ? [] : [[block, own] as const];
      }),
    ),
    exhaustive: new Map([...(desired.exhaustive ?? [])].filter(([block]) => isChosen([block]))),
    unknownNames: (desired.unknownNames ?? []).filter(({ path }) => isChosen(path)),
    onlyParts: {
      given: only,
      matched: only.filter((_, index) => parts.some((part) => isNamed(part, paths[index] ?? []))),
      available: parts.map(({ path }) => formatPath(path)),
    },
  };
  return omitSkipped(limited, left);
}

function isNamed({ path, aliases }: Part, given: Path): boolean {
  return [path, ...aliases].some((one) => isWithin(one, given));
}

/**
 * The parts of a declaration. Servers that are declared by name are a part each, those of a list are one. Items without names are one part,
 * their block.
 */
function listParts(desired: DesiredState): readonly Part[] {
  const config = desired.fields.find(({ field }) => field.name === 'mcp_config');
  const fields = desired.fields.flatMap((declared): Part[] => {
    const { field, value, block } = declared;
    const isServers = declared === config;
    const aliases = isServers
      ? serversAliases(declared)
      : [field.place, ...(block === undefined ? [] : [[block.name]])];
    return [{ ...PART, path: field.path, aliases, isServers, ref: formatReferences(value) }];
  });
  const entries = listManagedSettings(desired).filter(({ isEntry }) => isEntry);
  const { block } = config ?? {};
  const servers: Part[] =
    block === undefined
      ? []
      : [
          ...entries.map(({ path, others, ref }) => ({
            ...PART,
            path,
            aliases: others,
            isEntry: true,
            ref,
          })),
          ...block.removed.map((name) => ({ ...PART, path: [block.name, name], isEntry: true })),
        ];
  const items = leavableItems(desired).map(({ path, names }) => ({ ...PART, path, names }));
  const named = new Set(items.map(({ path: [name] }) => name));
  const blocks = [...desired.items.keys()].filter((name) => !named.has(name));
  return [...fields, ...servers, ...items, ...blocks.map((name) => ({ ...PART, path: [name] }))];
}

const PART = { aliases: [], names: [], ref: null, isServers: false, isEntry: false };

function serversAliases({ field, block }: DesiredField): Path[] {
  return [['mcp_config'], field.place, ...(block === undefined ? [] : [[block.name]])];
}

/** A field of servers with those that are chosen. Servers that the file does not name are left alone, unless all are chosen. */
function limitServers(declared: DesiredField, isChosen: (path: Path) => boolean): DesiredField[] {
  const { field, block } = declared;
  if (field.name !== 'mcp_config' || serversAliases(declared).some(isChosen)) return [declared];
  if (block === undefined) return [declared];
  const { others: _, ...named } = block;
  const removed = block.removed.filter((name) => isChosen([block.name, name]));
  return [{ ...declared, block: { ...named, removed } }];
}

/** Throws a usage error for a path of `--only` that no environment declares. */
export function checkOnly(
  only: readonly string[] | undefined,
  desired: Iterable<DesiredState>,
): void {
  if (only === undefined) return;
  const states = [...desired].flatMap(({ onlyParts }) => onlyParts ?? []);
  const unknown = only.find((given) => states.every(({ matched }) => !matched.includes(given)));
  if (unknown === undefined || states.length === 0) return;
  const available = [...new Set(states.flatMap((one) => one.available))];
  const path = parsePath(unknown) ?? [unknown];
  const whole = available.find((name) => isWithin(path, parsePath(name) ?? [name]));
  if (whole !== undefined)
    throw usageError(
      `--only ${unknown}: it is part of ${whole}, which is planned as one.`,
      `--only ${whole} takes all of it.`,
    );
  throw usageError(
    '--only takes the path of something that the file declares: a setting, an mcp entry, an item such as secrets.NAME, or a block such as secrets.',
    didYouMean(unknown, available) || `Available: ${namesListed(available.slice(0, MOST_PATHS))}.`,
  );
}

const MOST_PATHS = 12;
