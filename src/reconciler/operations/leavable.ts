import { usageError, ERRORS, SetpointError } from '../model/error.ts';
import { formatPath, isWithin, parsePath, type Path, samePath } from '../model/path.ts';
import type { DesiredField, DesiredState, SkippedPath } from '../model/state.ts';
import { didYouMean, namesListed, formatCount } from '../model/wording.ts';
import { leavableItems, omitSkipped, mapDeclaredEntryPaths } from '../plan/declared.ts';
import { formatReferences } from '../plan/decision.ts';
import { listReferences } from '../desired/references.ts';
import type { Options } from './options.ts';
import { secretCommands } from '../host/secret-commands.ts';
import { listManagedSettings, isFlagTarget, type DeclaredItem } from './flag-values.ts';
import { COLLECTION_FORMS, isCollectionBlock } from '../model/collection-forms.ts';
import { isSecretHolder, itemsDeclared, toMemberPath } from '../model/collection.ts';
import { identityMember, createMemberPath } from '../model/mcp.ts';
import { isUnreportedSecret, toSkippablePath } from '../model/uncompared.ts';

/** Returns the declared parts of an environment that a run skips. An undeclared path skips nothing. */
export function selectSkipped(
  without: readonly string[],
  desired: DesiredState,
): readonly SkippedPath[] {
  const declared = listSkippableItems(desired);
  return without.flatMap((given): SkippedPath[] => {
    const path = parsePath(given) ?? [given];
    const named = declared.find((one) => isFlagTarget(path, { ...one, holds: null }));
    if (named === undefined) return [];
    const { path: own, names, ref, of } = named;
    const calls = named.isEntry ? named.others : [];
    return [{ path: own, given, ref, names, calls, ...(of === undefined ? {} : { of }) }];
  });
}

/** Throws a usage error for a path of `--without` that no environment declares. */
export function checkWithout(
  without: readonly string[] | undefined,
  desired: Iterable<DesiredState>,
): void {
  if (without === undefined) return;
  const states = [...desired];
  const unknown = without.find((given) =>
    states.every(({ left = [] }) => left.every((one) => one.given !== given)),
  );
  if (unknown === undefined || states.length === 0) return;
  const path = parsePath(unknown) ?? [unknown];
  const leavable = states.flatMap(listSkippableItems);
  const around = leavable
    .filter((one) => [one.path, ...one.others].some((outer) => isWithin(path, outer)))
    .toSorted((one, other) => other.path.length - one.path.length);
  const [whole] = around;
  if (whole !== undefined) {
    const name = formatPath(whole.path);
    const members = leavable
      .filter(({ of }) => of !== undefined && samePath(of, whole.path))
      .map((one) => one.path.at(-1) ?? '');
    const others =
      members.length === 0
        ? ''
        : ` Of its members it takes ${namesListed([...new Set(members)].toSorted())}.`;
    throw usageError(
      `--without ${unknown}: it is part of ${name}, which is written as one.`,
      `--without ${name} leaves all of it unchanged.${others}`,
    );
  }
  const paths = leavable.map((one) => formatPath(one.path));
  throw usageError(
    `--without takes the path of something that the file declares: a setting, an mcp entry, an item such as secrets.NAME, or a member of one.`,
    didYouMean(unknown, paths) ||
      `Available: ${namesListed([...new Set(paths)].slice(0, MOST_PATHS))}.`,
  );
}

const MOST_PATHS = 12;

interface SkippablePath
  extends
    Pick<DeclaredItem, 'path' | 'others' | 'isEntry'>,
    Pick<SkippedPath, 'names' | 'ref' | 'of'> {}

function listSkippableItems(state: DesiredState): SkippablePath[] {
  return [
    ...listManagedSettings(state).map((one) => ({ ...one, names: [] })),
    ...leavableItems(state).map((one): SkippablePath => {
      const [block = '', name] = one.path;
      const item = state.items.get(block)?.find((each) => 'name' in each && each.name === name);
      const ref = formatReferences((item?.values ?? []).map(({ value }) => value));
      return { ...one, ref, others: [], isEntry: false };
    }),
    ...listSkippableMembers(state),
    ...itemMembers(state),
  ];
}

/** The members of mcp entries, except those that identify an entry. */
function listSkippableMembers(state: DesiredState): SkippablePath[] {
  const entries = listManagedSettings(state).filter(({ isEntry }) => isEntry);
  return mapDeclaredEntryPaths(state).flatMap(({ list, entry, path }) => {
    const whole = entries.find((one) => samePath(one.path, path));
    if (whole === undefined) return [];
    const known = new Set(['name', identityMember(list)]);
    return Object.entries(entry).flatMap(([name, value]): SkippablePath[] => {
      if (known.has(name)) return [];
      // The native map has a key in the entry's way to authenticate.
      const names = name === 'api_key' ? [[name], ['auth', 'value']] : [[name]];
      const own = createMemberPath(path, [name]);
      const others = [path, ...whole.others].flatMap((place) =>
        names.map((inner) => [...place, ...inner]),
      );
      const ref = formatReferences(value);
      return [{ path: own, others, isEntry: false, names: [], ref, of: path }];
    });
  });
}

/** The members of items that stay when a write does not carry them: of an item that is declared whole, its secrets. */
function itemMembers(state: DesiredState): SkippablePath[] {
  return COLLECTION_FORMS.flatMap((form) =>
    itemsDeclared(state, form).flatMap(({ name: item, members }) => {
      const named = Object.entries(members ?? {});
      const isAll = named.length === 1 && form.main !== undefined && named[0]?.[0] === form.main;
      if (isAll) return [];
      return named.flatMap(([name, value]): SkippablePath[] => {
        if (form.isWhole && !isSecretHolder(form, name, value)) return [];
        const of = toMemberPath(form, item, []);
        const path: Path = [...of, name];
        return [{ path, others: [], isEntry: false, names: [], ref: formatReferences(value), of }];
      });
    }),
  );
}

/** What the hint of a missing reference depends on. */
type Surroundings = Pick<Options, 'env' | 'checkout' | 'dotenvHas'>;

/** An error of references without a value: their texts, as the file writes them. */
export class MissingReferenceError extends SetpointError {
  readonly refs: readonly string[];

  /** The hint names the variables that are not set, and `ways` to do without. */
  constructor(message: string, refs: readonly string[], surroundings: Surroundings, ways = '') {
    const hint = findReferenceRemedy(refs, surroundings);
    super('reference-missing', message, { hint: ways === '' ? hint : `${hint} ${ways}` });
    this.refs = refs;
  }
}

function findReferenceRemedy(
  refs: readonly string[],
  { env, checkout, dotenvHas }: Surroundings,
): string {
  const references = checkout?.from === 'cluster' ? [] : refs.flatMap(listReferences);
  const unset = references.flatMap((one) =>
    one.kind === 'env' && one.fallback === null && (env[one.name] ?? '').trim() === ''
      ? [one.name]
      : [],
  );
  const names = [...new Set(unset)];
  if (names.length > 0) {
    const file = dotenvHas?.(names) === true ? ', or add --dotenv .env,' : ',';
    return `Set ${namesListed(names)}${file} and run again.`;
  }
  const secret = references.find(({ kind }) => kind === 'secret');
  if (secret?.kind !== 'secret') return ERRORS['reference-missing'].hint;
  return secretCommands(env).has(secret.command)
    ? 'Run that command by hand, where setpoint runs, to see its output.'
    : 'Add it to SETPOINT_SECRET_COMMANDS, where setpoint runs.';
}

/** The maximum number of names in a sentence, and of lines in an error. */
const MOST_NAMES = 3;
const MOST_LINES = 10;

/** References without a value, of one environment or more: what wants them, and what an apply can do without them. */
export class MissingReferences {
  /** The places that want a reference, by what is wrong with it. */
  readonly #lines = new Map<string, { environments: Set<string>; paths: Set<string> }>();
  readonly #refs: string[] = [];
  readonly #wanting = new Set<string>();
  readonly #others = new Set<string>();
  #inBlocks = false;

  /** Adds an environment with what its settings lack; `ofServer` is what its service cannot be reached without. */
  add(environment: string, ofServer: SetpointError | null, desired: DesiredState): void {
    if (ofServer !== null) this.#note(ofServer.message, environment, null);
    if (ofServer instanceof MissingReferenceError) this.#refs.push(...ofServer.refs);
    for (const { path, reason, ref } of desired.missing) {
      this.#note(`(${ref}): ${reason}.`, environment, formatPath(path));
      this.#refs.push(ref);
    }
    const missing = desired.missing
      .map(({ path }) => toSkippablePath(path))
      .filter((path) => !isUnreportedSecret(path));
    for (const path of missing) {
      this.#wanting.add(formatPath(path));
      this.#inBlocks ||= isCollectionBlock(path[0] ?? '');
    }
    const declared = [
      ...desired.fields.map(({ field }) => field.path),
      ...leavableItems(desired).map(({ path }) => path),
    ];
    for (const path of declared)
      if (!desired.missing.some((one) => isWithin(one.path, path)))
        this.#others.add(formatPath(path));
  }

  #note(problem: string, environment: string, path: string | null): void {
    const line = this.#lines.get(problem) ?? { environments: new Set(), paths: new Set() };
    line.environments.add(environment);
    if (path !== null) line.paths.add(path);
    this.#lines.set(problem, line);
  }

  /** The error with a line for each reference; null if none is missing. */
  error(surroundings: Surroundings): SetpointError | null {
    const lines = [...this.#lines].map(([problem, { environments, paths }]) => {
      const where = namesListed([...environments], MOST_NAMES);
      const what = paths.size === 0 ? '' : `${namesListed([...paths], MOST_NAMES)} `;
      return `${where}: ${what}${problem}`.replaceAll('\n', ' ');
    });
    const [only] = lines;
    if (only === undefined) return null;
    const more = lines.length - MOST_LINES;
    const message =
      lines.length === 1
        ? only
        : [
            `${formatCount(lines.length, 'reference')} cannot be used.`,
            ...lines.slice(0, MOST_LINES),
            ...(more > 0 ? [`And ${formatCount(more, 'more reference')}.`] : []),
          ].join('\n');
    return new MissingReferenceError(message, this.#refs, surroundings, this.#ways());
  }

  /** The ways to run without it, in sentences; empty if there are none. */
  #ways(): string {
    const [path, ...more] = this.#wanting;
    if (path === undefined) return '';
    const [it, flag] = more.length === 0 ? ['it', path] : ['them', 'PATH'];
    const others =
      this.#others.size === 0
        ? ''
        : `${namesListed([...this.#others], MOST_NAMES)} can be written without. `;
    const always = this.#inBlocks ? `take ${it} out of the file` : `list ${it} under unmanaged`;
    return `${others}To leave ${it} alone: --without ${flag} in this run, or ${always}.`;
  }
}

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
