import { findDeclaredServers } from '../../model/state.ts';
import { withoutStop } from '../../model/wording.ts';
import { asSetpointError } from '../../model/error.ts';
import { MODEL_PART, NATIVE_SERVERS } from '../../model/field.ts';
import { listRecordEntries, MCP_LISTS } from '../../model/mcp.ts';
import { normalPath } from '../../model/path-facts.ts';
import { isWithin, samePath, type Path } from '../../model/path.ts';
import {
  isEmpty,
  isRecord,
  createRecord,
  readPath,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import { managesEntry, managesField } from '../../plan/declared.ts';
import type { Provable } from '../../plan/unproven.ts';
import { extractSettingsPlan } from '../../plan/settings-part.ts';
import { SETTINGS_PATH } from '../../service/agent-server/dialect.ts';
import { buildPatchBody } from '../../service/agent-server/write.ts';
import { readServerName } from '../../service/store-body.ts';
import {
  ENCRYPTED,
  NO_VALUE,
  trial,
  createSkippedTrial,
  type Trial,
  type Trying,
  type TryingPlan,
} from './trial.ts';

/** A model of the settings is not a profile: the service requires a name to try it under, and stores nothing. */
const NAME = 'settings';

/** The model and the servers of the settings as they will be: what would be sent, laid over what is stored. */
export function tryPlannedSettings(
  trying: TryingPlan,
  provable: readonly Provable[],
): Promise<Trial[]> {
  const { write } = extractSettingsPlan(trying.plan);
  const body = write === null ? null : buildPatchBody(write);
  const sent = body !== null && 'record' in body ? body.record['agent_settings_diff'] : undefined;
  const diff = sent ?? createRecord({});
  const models = provable.filter(({ kind }) => kind === 'model').map(addNormalPlace);
  const servers = provable.filter(({ kind }) => kind === 'server').map(({ path }) => path);
  return createSettingsTrials(
    trying,
    [...models, ...listSentServers(servers, readPath(diff, ['mcp_config']), trying)],
    diff,
  );
}

/** Something of the settings, and where an Agent Server has it. */
interface PlacedProvable extends Provable {
  readonly place: Path;
}

function addNormalPlace(about: Provable): PlacedProvable {
  return { ...about, place: normalPath(about.path) };
}

/** The servers that are sent, each by the path of the change that names it; without one as the file has servers. */
function listSentServers(
  paths: readonly Path[],
  sent: Value | undefined,
  { desired }: TryingPlan,
): PlacedProvable[] {
  return Object.entries(isRecord(sent) ? sent : {}).flatMap(([name, server]) => {
    if (server === null) return [];
    const place = [...NATIVE_SERVERS, name];
    const path = paths.find((one) => samePath(normalPath(one), place));
    return [{ ...serverNamed(name, desired), place, ...(path === undefined ? {} : { path }) }];
  });
}

/** Tries the stored settings. */
export function tryStoredSettings(trying: Trying): Promise<Trial[]> {
  return createSettingsTrials(
    trying,
    listTestableSettings(trying).map(addNormalPlace),
    createRecord({}),
  );
}

/** Returns the declared settings that the service has. */
export function listTestableSettings({
  desired,
  settings,
}: Pick<Trying, 'desired' | 'settings'>): Provable[] {
  const isModel = desired.fields.some(({ field }) => isWithin(field.place, MODEL_PART));
  const model: Provable[] = isModel ? [{ kind: 'model', path: MODEL_PART }] : [];
  const servers = MCP_LISTS.flatMap((list) =>
    listRecordEntries(readPath(settings.values, ['mcp_config', list])).flatMap(
      (entry): Provable[] => {
        const name = readServerName(entry);
        const isManaged = managesField(desired, 'mcp_config') && managesEntry(desired, list, entry);
        return name === null || !isManaged ? [] : [serverNamed(name, desired)];
      },
    ),
  );
  return [...model, ...servers];
}

function serverNamed(name: string, desired: Trying['desired']): Provable {
  const isByName = findDeclaredServers(desired)?.block !== undefined;
  return { kind: 'server', path: [...(isByName ? ['mcp_servers'] : NATIVE_SERVERS), name] };
}

async function createSettingsTrials(
  trying: Trying,
  about: readonly PlacedProvable[],
  diff: Value,
): Promise<Trial[]> {
  if (about.length === 0) return [];
  try {
    const found = await trying.get(SETTINGS_PATH, ENCRYPTED);
    const stored = typeof found === 'symbol' ? undefined : readPath(found, ['agent_settings']);
    const after = createRecord({ agent_settings: mergeDiff(stored ?? createRecord({}), diff) });
    return about.flatMap((one) => {
      const value = readPath(after, one.place);
      const record = isRecord(value) ? value : createRecord({});
      return one.kind === 'server'
        ? serverTrial(trying, one, record)
        : [model(trying, one, record)];
    });
  } catch (thrown) {
    const why = withoutStop(asSetpointError(thrown).message);
    return about.map((one) => createSkippedTrial(one, why));
  }
}

function model(trying: Trying, about: Provable, llm: ValueRecord): Trial {
  if (isReferenceMissing(trying, MODEL_PART)) return createSkippedTrial(about, NO_VALUE);
  return trial(about, 'model', () => trying.checks.model(NAME, llm));
}

/** One that is turned off is not used. A login by OAuth is not tried: the service would renew it, and the stored one may be void then. */
function serverTrial(trying: Trying, about: PlacedProvable, server: ValueRecord): Trial[] {
  const name = about.place.at(-1) ?? '';
  if (server['enabled'] === false) return [];
  if (isReferenceMissing(trying, about.place)) return [createSkippedTrial(about, NO_VALUE)];
  if (readPath(server, ['auth', 'strategy']) === 'oauth2')
    return [createSkippedTrial(about, 'a try would use up its login by OAuth')];
  const cost = isEmpty(server['command']) ? 'reach' : 'program';
  return [trial(about, cost, () => trying.checks.server(name, server))];
}

/** Reports whether a place contains a reference without a value. In a server identified by its address, it may be in any place. */
function isReferenceMissing({ desired }: Trying, place: Path): boolean {
  return desired.missing.some(({ path }) => {
    const [first = '', part = '', ...inside] = normalPath(path);
    if (isWithin([first, part, ...inside], place)) return true;
    const isServer = samePath([first, part], NATIVE_SERVERS) && isWithin(place, NATIVE_SERVERS);
    return isServer && inside[0]?.includes('/') === true;
  });
}

/** A record with a diff laid over it: null takes a member away. */
function mergeDiff(before: Value, diff: Value): Value {
  if (!isRecord(diff)) return diff;
  const kept = isRecord(before) ? before : createRecord({});
  const names = new Set([...Object.keys(kept), ...Object.keys(diff)]);
  return createRecord(
    [...names].flatMap((name): [string, Value][] => {
      if (!Object.hasOwn(diff, name)) return [[name, kept[name] ?? null]];
      const value = diff[name] ?? null;
      return value === null ? [] : [[name, mergeDiff(kept[name] ?? null, value)]];
    }),
  );
}
