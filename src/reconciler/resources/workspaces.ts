import { WORKSPACE_PARENTS_FORM, WORKSPACES_FORM } from '../model/collection-forms.ts';
import type { CollectionForm, ListedItem } from '../model/collection.ts';
import { createRecord, isList, isRecord, type Value, type ValueRecord } from '../model/value.ts';
import { collection } from './collections/collection.ts';
import {
  createRemovalRequest,
  type Asking,
  type CollectionCodec,
  type ItemRequest,
  type ItemWork,
} from './collections/wire.ts';

/*
 * The folders that Agent Canvas offers for a conversation. The service adds a path once and changes nothing of it: a changed one is taken
 * off the list and added again. Its path is its identity; its id is what the client that added it chose, which is the path in Agent Canvas.
 */

/** Where a kind is in answers and requests, and the names of its members there. */
interface WorkspaceKind {
  readonly path: string;
  readonly listed: string;
  readonly sent: string;
  readonly members: Readonly<Record<string, string>>;
}

const LIST = '/api/workspaces';

export const WORKSPACES = collect(WORKSPACES_FORM, {
  path: LIST,
  listed: 'workspaces',
  sent: 'workspaces',
  members: { display_name: 'name', parent: 'parentPath' },
});

export const WORKSPACE_PARENTS = collect(WORKSPACE_PARENTS_FORM, {
  path: `${LIST}/parents`,
  listed: 'workspaceParents',
  sent: 'parents',
  members: { display_name: 'name' },
});

function collect(form: CollectionForm, kind: WorkspaceKind): ReturnType<typeof collection> {
  const codec: CollectionCodec = {
    list: (asking) => listWorkspaces(asking, kind),
    replaces: () => 'in-place',
    describes: true,
    requests: (work) => createWorkspaceRequests(work, kind, form.resource),
  };
  return collection(form, { 'agent-server': codec });
}

async function listWorkspaces(
  { get, unlike }: Asking,
  { listed, members }: WorkspaceKind,
): Promise<readonly ListedItem[] | null> {
  const json = await get(LIST);
  if (typeof json === 'symbol') return null;
  const entries = isRecord(json) ? json[listed] : undefined;
  if (!isList(entries)) throw unlike(LIST);
  return entries.map((entry): ListedItem => {
    const path = isRecord(entry) ? entry['path'] : undefined;
    if (!isRecord(entry) || typeof path !== 'string') throw unlike(LIST);
    const own = Object.entries(members).map(([name, its]) => [name, entry[its] ?? null] as const);
    return { name: path, members: createRecord(own) };
  });
}

function createWorkspaceRequests(
  { item, there }: ItemWork,
  kind: WorkspaceKind,
  resource: string,
): readonly ItemRequest[] {
  const { name, members } = item;
  const path = `${kind.path}?path=${encodeURIComponent(name)}`;
  const removal = createRemovalRequest(name, { method: 'DELETE', path, body: null });
  if (members === null) return there === undefined ? [] : [removal];
  const whole = createRecord([
    ['display_name', readLastFolder(name)],
    ...Object.entries(there?.members ?? {}),
    ...Object.entries(members),
  ]);
  const addition = createAdditionRequest(name, whole, kind);
  if (there === undefined) return [addition];
  const otherwise = {
    why: `The service still lists the ${resource} ${name}, which was taken off its list.`,
    hint: 'Run setpoint plan to see what the service has now.',
  };
  return [removal, { ...addition, needs: { isShown: removal.isShown, otherwise } }];
}

function createAdditionRequest(
  name: string,
  members: ValueRecord,
  { path, sent, members: names }: WorkspaceKind,
): ItemRequest {
  const own = Object.entries(names).map(([member, its]): readonly [string, Value] => [
    its,
    members[member] ?? null,
  ]);
  const entry = createRecord([
    ['id', name],
    ['path', name],
    ...own.filter(([, value]) => value !== null),
  ]);
  return {
    kind: 'store',
    name,
    shows: members,
    call: { method: 'POST', path, body: createRecord([[sent, [entry]]]) },
  };
}

/** Returns the last part of a path, which a service of Windows separates otherwise. */
function readLastFolder(path: string): string {
  return (/[^/\\]+(?=[/\\]*$)/.exec(path)?.[0] ?? path).slice(0, 256);
}
