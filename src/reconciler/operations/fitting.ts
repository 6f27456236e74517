import { withoutStop } from '../model/wording.ts';
import { resolveSettings } from '../desired/resolve.ts';
import { NOT_TAKEN } from '../import/written.ts';
import { mergeUnits, type Unit } from '../import/units.ts';
import type { DialectName } from '../model/dialect.ts';
import { MODEL_PART } from '../model/field.ts';
import { nativeNodes } from '../model/native-schema.ts';
import { isWithin } from '../model/path.ts';
import type { ReferenceSource } from '../model/ports.ts';
import type { ObservedState } from '../model/state.ts';
import { listFitProblems } from '../plan/fit.ts';
import { parseBlocksAlone } from '../pull/writable.ts';
import { RESOURCES } from '../resources/resources.ts';
import { isObject } from '../yaml-edit/source.ts';

/** Units that a settings file for a kind of service can declare together, and those that it cannot. */
export interface Fitting {
  readonly fitting: readonly Unit[];
  readonly left: readonly {
    readonly unit: Unit;
    readonly member: string | null;
    readonly reason: string;
  }[];
}

/**
 * Tries units as a file would declare them: what is refused is left out, of servers and models only the members that are. What one of
 * `others` takes is left out with the way to have it.
 */
export function fittingUnits(
  units: readonly Unit[],
  service: ObservedState,
  others: readonly ObservedState[],
): Fitting {
  const left: Fitting['left'][number][] = [];
  const kept = units.flatMap((unit) => {
    const { unit: lean, dropped } = withoutUnsupported(unit, service);
    const valid = withoutInvalid(lean, service);
    const all = [...dropped, ...valid.dropped];
    left.push(...all.map(([member, reason]) => ({ unit, member, reason })));
    return [valid.unit];
  });
  const { fitting, refused } = splitFitting(kept, service);
  for (const { unit, reason } of refused) {
    const takers = others.filter((other) => findUnitProblem([unit], other) === null);
    const names = takers.map(({ dialect }) => dialect.name).join(' or ');
    const way = `not every kind of service has it; --dialect ${names} takes it`;
    left.push({ unit, member: null, reason: takers.length === 0 ? reason : way });
  }
  return { fitting, left };
}

interface RefusedUnit {
  readonly unit: Unit;
  readonly reason: string;
}

/** Halves what does not fit until it is one: a file of thousands with one that does not fit is tried a few times. */
function splitFitting(
  units: readonly Unit[],
  service: ObservedState,
): { readonly fitting: readonly Unit[]; readonly refused: readonly RefusedUnit[] } {
  const problem = findUnitProblem(units, service);
  const [only] = units;
  if (problem === null || only === undefined) return { fitting: units, refused: [] };
  if (units.length === 1) return { fitting: [], refused: [{ unit: only, reason: problem.reason }] };
  const half = Math.ceil(units.length / 2);
  const [first, second] = [units.slice(0, half), units.slice(half)].map((part) =>
    splitFitting(part, service),
  );
  const refused = [...(first?.refused ?? []), ...(second?.refused ?? [])];
  let fitting = [...(first?.fitting ?? []), ...(second?.fitting ?? [])];
  for (;;) {
    const clash = findUnitProblem(fitting, service);
    if (clash === null) return { fitting, refused };
    const at = fitting.findLast(({ to }) => isWithin(clash.path, to)) ?? fitting.at(-1);
    if (at === undefined) return { fitting, refused };
    fitting = fitting.filter((one) => one !== at);
    refused.push({ unit: at, reason: clash.reason });
  }
}

interface Problem {
  readonly path: readonly string[];
  readonly reason: string;
}

/** Explains why a file cannot declare these together; null if it can. */
function findUnitProblem(units: readonly Unit[], service: ObservedState): Problem | null {
  if (units.length === 0) return null;
  for (const { to } of units) {
    const lacks = lacksBlock(to[0] ?? '', service.dialect.name);
    if (lacks !== null) return { path: to, reason: lacks };
  }
  const { errors, target } = parseBlocksAlone(mergeUnits(units));
  const [error] = errors;
  if (error !== undefined || target === undefined)
    return {
      path: error?.path ?? [],
      reason: `${NOT_TAKEN.unfit}: ${withoutStop(error?.message ?? '').replace(/text of the form \^\S+/, 'a reference')}`,
    };
  const [misfit] = listFitProblems(resolveSettings(target, UNSET), service);
  if (misfit === undefined) return null;
  return {
    path: [],
    reason: withoutStop(misfit.replace(/^It has/, `${service.dialect.name} has`)),
  };
}

/** References have no values: they are not needed to find whether a file is valid. */
const UNSET: ReferenceSource = {
  withheld: true,
  variable: () => undefined,
  file: () => ({ problem: 'not read' }),
};

/** Explains why a dialect does not support the declarations of a block; null if it does. */
function lacksBlock(block: string, dialect: DialectName): string | null {
  const named = RESOURCES.find((one) => one.named?.form.block === block)?.named;
  if (named === undefined || named.dialects.includes(dialect)) return null;
  const { noun, releases = '' } = named.form;
  return withoutStop(`${dialect} has no ${noun}${releases === '' ? '' : `. ${releases}`}`);
}

/** Members of servers that do not affect how they are reached. */
const BESIDE: ReadonlySet<string> = new Set([
  'cwd',
  'description',
  'timeout',
  'sse_read_timeout',
  'keep_alive',
]);

/** A unit without the members that the service, or a settings file, does not have, if it is the same without them. */
function withoutUnsupported(
  unit: Unit,
  service: ObservedState,
): { readonly unit: Unit; readonly dropped: readonly (readonly [string, string])[] } {
  const [block] = unit.to;
  const { value } = unit;
  const isModel = block === 'llm_profiles' && service.dialect.name !== 'settings-v0';
  if (!isObject(value) || (block !== 'mcp_servers' && !isModel)) return { unit, dropped: [] };
  const dropped = Object.keys(value).flatMap((member): (readonly [string, string])[] => {
    if (isModel)
      return nativeNodes(service.dialect.name, [...MODEL_PART, member]).length > 0
        ? []
        : [[member, `${service.dialect.name} has no ${member} of a model`]];
    if (!BESIDE.has(member)) return [];
    const others = [...BESIDE].filter((one) => one !== member);
    const alone = { ...unit, value: omitKeys(value, others) };
    const problem = findUnitProblem([alone], service);
    const isOwn =
      problem !== null &&
      findUnitProblem([{ ...unit, value: omitKeys(value, [...BESIDE]) }], service) === null;
    return isOwn ? [[member, problem.reason]] : [];
  });
  const names = dropped.map(([member]) => member);
  return { unit: { ...unit, value: omitKeys(value, names) }, dropped };
}

/** A named model without the members whose values a settings file cannot hold. */
function withoutInvalid(unit: Unit, service: ObservedState): ReturnType<typeof withoutUnsupported> {
  const { to, value } = unit;
  if (to[0] !== 'llm_profiles' || !isObject(value)) return { unit, dropped: [] };
  const problem = findUnitProblem([unit], service);
  const member =
    problem !== null && isWithin(problem.path, to) ? problem.path[to.length] : undefined;
  if (
    problem === null ||
    member === undefined ||
    member === 'model' ||
    !Object.hasOwn(value, member)
  )
    return { unit, dropped: [] };
  const others = withoutInvalid({ ...unit, value: omitKeys(value, [member]) }, service);
  return { unit: others.unit, dropped: [[member, problem.reason], ...others.dropped] };
}

function omitKeys<T extends object>(value: T, keys: readonly string[]): T {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key))) as T;
}
