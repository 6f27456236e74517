import type {
  EnvironmentObserved,
  ObservedDigests,
  ObservedDocument,
  SavedDigest,
} from '../model/documents.gen.ts';
import { isBlockName } from '../desired/blocks.ts';
import type { Target } from '../desired/target.ts';
import type { Resource } from '../model/observed.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import type { Digests } from '../model/ports.ts';
import { NOT_OBSERVED, describeDialectVersion, type ObservedState } from '../model/state.ts';
import { TOOL } from '../model/version.ts';
import { SYSTEM_CLOCK } from '../host/this-process.ts';
import { settingsToSave } from '../plan/snapshot.ts';
import { RESOURCES } from '../resources/resources.ts';
import { inParallel } from '../reconcile/in-order.ts';
import { findExactRelease } from '../service/settings.ts';
import { digestsFor, digestWrittenAddress } from './digests.ts';
import { fileOrServer } from './load.ts';
import { observeTarget, type OpenTarget } from './open-target.ts';
import type { GetRequest, Options } from './options.ts';
import { parallelReads } from './parallel.ts';
import { prepareTargets, formatOrigin, type PreparedTarget } from './prepare.ts';
import { redacting, type Running } from './redacting.ts';
import { selectRun } from './select.ts';

/** Reads the state of every environment's service, masked. Sends no write. Without a settings file `server` names the service. */
export function get(request: GetRequest): Promise<ObservedDocument> {
  return redacting(request, got);
}

async function got(request: Running<GetRequest>): Promise<ObservedDocument> {
  const { resources = ['settings'], clock = SYSTEM_CLOCK } = request;
  const prepared = await prepareTargets(selectRun(fileOrServer(request)), request);
  const at = new Date(clock.now()).toISOString();
  const digests = request.digests === false ? null : await digestsFor();
  const environments = await inParallel(
    prepared,
    parallelReads(request, prepared.length),
    (target) => observeEnvironment(target, request, resources, digests),
  );
  return {
    format_version: FORMAT_VERSION,
    kind: 'observed',
    tool: TOOL,
    observed_at: at,
    salt: digests?.salt ?? null,
    resources,
    environments,
  };
}

function observeEnvironment(
  prepared: PreparedTarget,
  options: Running<Options>,
  resources: readonly Resource[],
  digests: Digests | null,
): Promise<EnvironmentObserved> {
  const nothing = {
    name: prepared.target.name,
    origin: formatOrigin(prepared),
    ...NOT_OBSERVED,
    status: 'observed' as const,
    server: null,
    settings: null,
    digests: toObservedDigests(prepared, [], digests),
    ...NOT_ASKED,
  };
  return observeTarget<EnvironmentObserved>(prepared, options, {
    open: async (target) => {
      const ifNamed = <T>(resource: Resource, read: () => Promise<T>): Promise<T | null> =>
        resources.includes(resource) ? read() : Promise.resolve(null);
      const { signal } = options;
      const asked = describeShownLists().filter(({ name }) => resources.includes(name));
      const isBySettings =
        NEED_SETTINGS.some((one) => resources.includes(one)) ||
        asked.some(({ list }) => list.bySettings);
      const observed = isBySettings ? await target.settings.observe(signal) : null;
      if (observed === null) await target.ready();
      const server =
        observed === null
          ? null
          : await ifNamed('server', () => describeObservedServer(target, observed, signal));
      const settings =
        observed === null
          ? null
          : await ifNamed('settings', async () => toObservedSettings(observed, prepared, digests));
      const lists: [string, unknown][] = [];
      for (const { name, list } of asked)
        lists.push([name, await list.read(target.reader, observed, signal, prepared.desired)]);
      return {
        ...nothing,
        ...(observed === null ? {} : describeDialectVersion(observed)),
        ...settings,
        ...server,
        ...(Object.fromEntries(lists) as Partial<ObservedLists>),
        error: null,
      };
    },
    failed: (error) => ({ ...nothing, status: 'error', error }),
  });
}

const NEED_SETTINGS: readonly Resource[] = ['server', 'settings'];

/** Lists the data shown of each resource next to the settings, and the block that declares it. */
function describeShownLists() {
  return RESOURCES.flatMap(({ block, lists = {} }) =>
    Object.entries(lists).map(([name, list]) => ({ name: name as Resource, block, list })),
  );
}

/** Lists the resources of a snapshot, in addition to the settings, that planning the targets needs. */
export function listsFor(targets: readonly Target[]): readonly Resource[] {
  return describeShownLists()
    .filter(
      ({ block }) => isBlockName(block) && targets.some((target) => target[block] !== undefined),
    )
    .map(({ name }) => name);
}

/** The lists of a document. */
type ObservedLists = Pick<EnvironmentObserved, Exclude<Resource, 'server' | 'settings'>>;

/** A list that was not requested. */
const NOT_ASKED: ObservedLists = Object.assign(
  {} as ObservedLists,
  Object.fromEntries(
    describeShownLists().flatMap(({ name, list }): [string, unknown][] =>
      list.isOptional ? [] : [[name, null]],
    ),
  ),
);

/** Describes the service and what it supports. Its release takes one more request. */
async function describeObservedServer(
  { connection, limits }: OpenTarget,
  observed: ObservedState,
  signal: AbortSignal | undefined,
): Promise<Pick<EnvironmentObserved, 'release' | 'server'>> {
  const { writes, fields, lacks } = observed.dialect;
  return {
    release: await findExactRelease(connection, observed, limits, signal),
    server: {
      writes,
      fields: [...fields.values()].map(({ name, reads, onNull, clearWith, loses }) => ({
        name,
        reads,
        on_null: clearWith === null ? onNull : 'clears',
        loses: loses ?? null,
      })),
      lacks: [...lacks].map(([name, why]) => ({ name, why })),
    },
  };
}

function toObservedSettings(
  { stored, answer }: ObservedState,
  prepared: PreparedTarget,
  digests: Digests | null,
): Pick<EnvironmentObserved, 'status' | 'settings' | 'digests'> {
  if (!stored)
    return {
      status: 'empty',
      settings: null,
      digests: toObservedDigests(prepared, [], digests),
    };
  const saved = settingsToSave(answer, prepared.desired, digests);
  return {
    status: 'stored',
    settings: saved.settings,
    digests: toObservedDigests(prepared, saved.digests, digests),
  };
}

function toObservedDigests(
  prepared: PreparedTarget,
  values: readonly SavedDigest[],
  digests: Digests | null,
): ObservedDigests | null {
  return digests === null ? null : { address: digestWrittenAddress(prepared, digests), values };
}
