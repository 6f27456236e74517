import {
  findDeclaredNode,
  fieldPath,
  type FieldPath,
  describeSchemaPlace,
} from '../desired/field-path.ts';
import { nodeOrigin } from '../desired/effective.ts';
import { listBlocksForPlace } from '../desired/blocks.ts';
import { referenceReports } from '../desired/lookup.ts';
import { resolveServer } from '../desired/resolve.ts';
import { readUnmanagedPaths } from '../desired/blocks/about.ts';
import { formatNodeValue } from '../desired/shown-value.ts';
import type { Target } from '../desired/target.ts';
import { SetpointError } from '../model/error.ts';
import type { EnvironmentExplained, ExplainDocument } from '../model/documents.gen.ts';
import { isNativePath } from '../model/field.ts';
import { isEntryPath, findEntryMember } from '../model/mcp.ts';
import { isUnmanaged, isWithin, parsePath, samePath, type Path } from '../model/path.ts';
import {
  listPlanChanges,
  FORMAT_VERSION,
  listPlanUnknowns,
  listPlanWarnings,
  type Change,
} from '../model/plan.ts';
import { listBlockItems, NOT_OBSERVED, describeDialectVersion } from '../model/state.ts';
import { isList, isRecord, sameValue, collectSecrets, type Value } from '../model/value.ts';
import { TOOL } from '../model/version.ts';
import { listPlanPaths } from '../plan/field-here.ts';
import { maskChange } from '../plan/plan-environment.ts';
import type { ManagedResource, PlanInput } from '../reconcile/contract.ts';
import { inParallel } from '../reconcile/in-order.ts';
import { observeAndPlan } from '../reconcile/observe-and-plan.ts';
import { RESOURCES } from '../resources/resources.ts';
import { hasNoFile } from './load.ts';
import { observeTarget } from './open-target.ts';
import { askSecrets, prepareTargets, formatOrigin } from './prepare.ts';
import type { ExplainRequest } from './options.ts';
import { parallelReads } from './parallel.ts';
import { planInput } from './plan-target.ts';
import { redacting, createMaskingSource, type Running } from './redacting.ts';
import { isChosen, selectRun, type RunTargets } from './select.ts';

/**
 * Explains a path of the file: its meaning, what each environment declares there and in which block, and what an apply would do about it.
 * Reads only: the settings once, or the other part of the service that the path is about. Without a settings file there is no environment,
 * and nothing is read. Throws a SetpointError for an unknown path.
 */
export function explain(request: ExplainRequest): Promise<ExplainDocument> {
  return redacting(request, explainAll);
}

async function explainAll(request: Running<ExplainRequest>): Promise<ExplainDocument> {
  const known = fieldPath(request.path);
  const isNative = isNativePath(parsePath(request.path.trim()) ?? []);
  if ('hint' in known && !isNative) throw noSuchPath(known.hint);
  const run = loadExplainTargets(request);
  const { targets } = run;
  const lock = targets.map(({ root }) => root.file.lock).find((one) => one !== undefined);
  const field = 'hint' in known ? fieldPath(request.path, lock) : known;
  if ('hint' in field) throw noSuchPath(field.hint);
  const observes = request.offline !== true && field.part !== 'file';
  if (request.offline !== true) await askSecrets(targets, [], request);
  return {
    format_version: FORMAT_VERSION,
    kind: 'explanation',
    tool: TOOL,
    path: field.path,
    part: field.part,
    meaning: describeSchemaPlace(field),
    environments: observes
      ? await explainTargets(run, field, request)
      : targets.map((target) => explainDeclaration(target, field, request)),
  };
}

function noSuchPath(hint: string): SetpointError {
  return new SetpointError('usage', 'No field, block or mcp entry has that path.', { hint });
}

/** Without a settings file there is no environment, unless one is named: then the file is missing. */
function loadExplainTargets(request: ExplainRequest): RunTargets {
  return hasNoFile(request) && !isChosen(request) ? NONE : selectRun(request);
}

const NONE: RunTargets = { targets: [], judged: [], declared: [] };

/** Explains what is known without the service. */
function explainDeclaration(
  target: Target,
  { path, part, filePath }: FieldPath,
  request: Running<ExplainRequest>,
): EnvironmentExplained {
  const source = createMaskingSource([target.name], request);
  const node = findDeclaredNode(target, filePath);
  const own = resolveServer(target, source);
  return {
    name: target.name,
    origin: 'server' in own ? own.server.origin : null,
    ...NOT_OBSERVED,
    status: 'not-observed',
    declared:
      node === undefined
        ? null
        : { value: formatNodeValue(node, filePath), ...nodeOrigin(target, node) },
    unmanaged: part === 'settings' && isUnmanaged(readUnmanagedPaths(target.unmanaged), path),
    references: referenceReports(node, filePath, source),
    changes: [],
    unknown: [],
    warnings: [],
    error: null,
  };
}

async function explainTargets(
  run: RunTargets,
  field: FieldPath,
  request: Running<ExplainRequest>,
): Promise<EnvironmentExplained[]> {
  const prepared = await prepareTargets(run, request);
  return inParallel(prepared, parallelReads(request, prepared.length), (one) => {
    const declared = {
      ...explainDeclaration(one.target, field, request),
      origin: formatOrigin(one),
    };
    return observeTarget<EnvironmentExplained>(one, request, {
      open: async (open) => {
        const input = await planInput(one, open, request, NO_FLAGS);
        const { warnings, ...found } = await planPath(field, input);
        return {
          ...declared,
          ...found,
          status: 'observed',
          warnings: [...one.warnings, ...warnings],
        };
      },
      failed: (error) => ({ ...declared, status: 'error', error }),
    });
  });
}

const NO_FLAGS = { rotation: [], allowed: [], baseOf: () => null };

type ExplainedPlan = Pick<
  EnvironmentExplained,
  'dialect' | 'release' | 'changes' | 'unknown' | 'warnings'
>;

/** The part of the plan that is about a path. What the path is not about is not read. */
function planPath(field: FieldPath, input: PlanInput): Promise<ExplainedPlan> {
  const resource = RESOURCES.find(({ block }) => block === field.filePath[0]);
  return resource?.isList === true
    ? resolveListPath(resource, field, input)
    : planSettingsPath(field, input);
}

async function planSettingsPath(
  { path, filePath }: FieldPath,
  input: PlanInput,
): Promise<ExplainedPlan> {
  const named = listBlocksForPlace(filePath);
  const blocks = ['settings', ...(named ?? filePath.slice(0, 1))];
  const resources = RESOURCES.filter(({ block }) => blocks.includes(block));
  const { plan, observed: settings } = await observeAndPlan({ ...input, resources });
  const isWhole = samePath(filePath, ['settings']);
  const paths = named?.map((block) => [block]) ?? listPlanPaths(path, input.desired);
  const isAbout = (other: { readonly path: Path }): boolean =>
    isWhole || paths.some((one) => isWithin(other.path, one) || isWithin(one, other.path));
  return {
    ...describeDialectVersion(settings),
    changes: listPlanChanges(plan)
      .filter((change) => isAbout(change) && (isWhole || paths.some((one) => touches(change, one))))
      .map(maskChange),
    unknown: listPlanUnknowns(plan).filter(isAbout),
    warnings: listPlanWarnings(plan).filter(isAbout),
  };
}

/** Reports whether a change of a whole mcp entry changes one member of it. */
function touches({ path: entry, before, after, action }: Change, path: Path): boolean {
  if (path.length <= entry.length || !isEntryPath(entry)) return true;
  const inner = findEntryMember(entry, path);
  const [was, becomes] = [readMemberPath(before, inner), readMemberPath(after, inner)];
  if (action === 'rotate') return collectSecrets(becomes).length > 0;
  return !sameValue(was ?? null, becomes ?? null);
}

function readMemberPath(value: Value | undefined, path: Path): Value | undefined {
  return path.reduce<Value | undefined>((inner, key) => {
    if (isList(inner)) return inner[Number(key)];
    return isRecord(inner) ? inner[key] : undefined;
  }, value);
}

/** The path of a block is about all its items, with `[0]` and what follows about the first. */
async function resolveListPath(
  resource: ManagedResource,
  { filePath: [block = '', number] }: FieldPath,
  input: PlanInput,
): Promise<ExplainedPlan> {
  const settings = { observe: async () => null };
  const { plan } = await observeAndPlan<null>({ ...input, settings, resources: [resource] });
  const item =
    number === undefined ? undefined : listBlockItems(input.desired, block)[Number(number)];
  const isAbout = ({ source }: Change): boolean => number === undefined || source === item?.source;
  return {
    ...NOT_OBSERVED,
    changes: listPlanChanges(plan).filter(isAbout).map(maskChange),
    unknown: [],
    warnings: listPlanWarnings(plan),
  };
}
