import { randomUUID } from 'node:crypto';
import type { Routes } from '../call.ts';
import { type Answer, createJsonAnswer, detail } from '../http/answer.ts';
import {
  isJsonList,
  type Json,
  type JsonObject,
  readObjectMember,
  readTextMember,
  writeJson,
} from '../json.ts';
import { changedAutomation, foldTag, judgeTag, newArchive, newPrompt } from './rules.ts';
import {
  type Asked,
  handlersOf,
  listPage,
  ORGANIZATION,
  refuseId,
  refuseKey,
  type Result,
  USER,
} from './stored.ts';
import { webhookRoutes } from './webhooks.ts';

const PATH = '/api/automation/v1';
const GONE = detail(404, 'Automation not found');
const UPLOAD = 'oh-internal://uploads/';

/** The paths of an automation service, beside those of an Agent Server. Nothing is ever run. */
export function automationRoutes(): Routes {
  const list = { GET: { does: answerList }, POST: { takes: newArchive, does: createArchive } };
  return [
    ['/api/automation/server_info', { GET: async () => createJsonAnswer(200, INFO) }],
    [
      '/api/automation/sdk-version',
      { GET: async () => createJsonAnswer(200, { version: INFO.sdk_version }) },
    ],
    [PATH, handlersOf('automations', list)],
    [`${PATH}/`, handlersOf('automations', list)],
    [
      `${PATH}/preset/prompt`,
      handlersOf('automations', { POST: { takes: newPrompt, does: createPrompt } }),
    ],
    [`${PATH}/tags`, handlersOf('automations', { GET: { does: listTags } })],
    [
      `${PATH}/uploads`,
      handlersOf('uploads', {
        GET: { does: ({ things, query }) => listPage('uploads', Object.values(things), query) },
      }),
    ],
    [
      `${PATH}/uploads/{id}`,
      handlersOf('uploads', {
        DELETE: {
          does: ({ things, id }) => {
            const { [id]: found, ...left } = things;
            if (found === undefined) return detail(404, 'Upload not found');
            return { answer: { kind: 'empty' }, things: left };
          },
        },
      }),
    ],
    [
      `${PATH}/drafts`,
      {
        GET: async (call) =>
          call.authorized ? createJsonAnswer(200, { drafts: [], total: 0n }) : refuseKey(call),
      },
    ],
    [
      `${PATH}/git-sync/status`,
      {
        GET: async (call) => (call.authorized ? createJsonAnswer(200, NO_SYNC) : refuseKey(call)),
      },
    ],
    ...webhookRoutes(),
    [`${PATH}/{id}/tarball`, handlersOf('automations', { GET: { does: findArchive } })],
    [`${PATH}/{id}/runs`, handlersOf('automations', { GET: { does: listRuns } })],
    [
      `${PATH}/{id}`,
      handlersOf('automations', {
        GET: { does: (asked) => findAutomation(asked, (one) => createJsonAnswer(200, one)) },
        PATCH: { takes: changedAutomation, does: patchAutomation },
        DELETE: { does: removeAutomation },
      }),
    ],
  ];
}

const INFO = { package_version: '1.26.0', sdk_version: '1.58.1' };

const NO_SYNC: JsonObject = {
  enabled: false,
  repo_url: '',
  branch: 'main',
  path: 'automations',
  encryption_enabled: false,
  interval_seconds: 0n,
  last_synced_commit: null,
  last_synced_at: null,
  last_error: null,
  last_error_at: null,
  dirty_count: 0n,
  sync_in_progress: false,
  sync_started_at: null,
};

function answerList({ things, query }: Asked): Answer {
  const tag = query.get('tag');
  const problem = tag === null ? null : judgeTag(tag);
  if (problem !== null) return detail(422, problem);
  const others = query.get('created_by') === 'others';
  const found = Object.values(things).filter(
    ({ tags = [] }) =>
      !others && (tag === null || (isJsonList(tags) && tags.includes(foldTag(tag)))),
  );
  return listPage('automations', found, query);
}

function listTags({ things }: Asked): Answer {
  const counts = new Map<string, bigint>();
  for (const { tags = [] } of Object.values(things))
    for (const tag of isJsonList(tags) ? tags : [])
      if (typeof tag === 'string') counts.set(tag, (counts.get(tag) ?? 0n) + 1n);
  const sorted = [...counts].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return createJsonAnswer(200, { tags: sorted.map(([tag, count]) => ({ tag, count })) });
}

function listRuns(asked: Asked): Result {
  return findAutomation(asked, () => createJsonAnswer(200, { runs: [], total: 0n }));
}

/** The archive itself is not built here: only that it is gone is answered. */
function findArchive(asked: Asked): Result {
  return findAutomation(asked, (one) =>
    asked.uploads[readTextMember(one, 'tarball_path').replace(UPLOAD, '')] === undefined
      ? detail(404, 'Tarball not found (underlying upload may have been deleted)')
      : detail(501, 'The embedded service builds no archives'),
  );
}

/** Source: contract "prompt: what the server fills in", "prompt: a template answers the one that is there". */
function createPrompt(asked: Asked): Result {
  const { prompt = null, repos = null, template = null } = asked.body;
  const upload = randomUUID();
  const preset: JsonObject = {
    preset_type: 'prompt',
    prompt,
    ...(repos === null ? {} : { repos }),
    ...(template === null ? {} : { template }),
  };
  const made = storeAutomation(asked, {
    prompt,
    preset_metadata: preset,
    tarball_path: `${UPLOAD}${upload}`,
    setup_script_path: 'setup.sh',
    entrypoint: '.venv/bin/python main.py',
    tags: [],
    agent_profile_id: null,
  });
  return 'things' in made
    ? { ...made, uploads: { ...asked.uploads, [upload]: { id: upload, created_at: asked.now } } }
    : made;
}

function createArchive(asked: Asked): Result {
  const { setup_script_path = null, tags = [], agent_profile_id = null } = asked.body;
  const { tarball_path = null, entrypoint = null } = asked.body;
  return storeAutomation(asked, {
    prompt: null,
    preset_metadata: null,
    tarball_path,
    setup_script_path,
    entrypoint,
    tags,
    agent_profile_id,
  });
}

function storeAutomation({ things, body, now }: Asked, own: JsonObject): Result {
  const template = readTextMember(body['template'] ?? null, 'id');
  const same = Object.values(things).find(
    (one) =>
      template !== '' &&
      readTextMember(
        readObjectMember(readObjectMember(one, 'preset_metadata'), 'template'),
        'id',
      ) === template,
  );
  if (same !== undefined) return createJsonAnswer(200, same);
  const id = randomUUID();
  const { name = '', description = null, model = null, trigger = null, timeout = null } = body;
  const { keep_alive = null, enabled = true, observability_associations = null } = body;
  const one: JsonObject = {
    agent_profile_id: own['agent_profile_id'] ?? null,
    id,
    user_id: USER,
    org_id: ORGANIZATION,
    model,
    name,
    description,
    prompt: own['prompt'] ?? null,
    preset_metadata: own['preset_metadata'] ?? null,
    plugin_spec: null,
    trigger,
    observability_associations,
    tags: own['tags'] ?? [],
    tarball_path: own['tarball_path'] ?? null,
    setup_script_path: own['setup_script_path'] ?? null,
    entrypoint: own['entrypoint'] ?? null,
    timeout: timeout ?? 600n,
    keep_alive,
    enabled,
    state: stateOf(enabled),
    disabled_reason: null,
    disabled_detail: null,
    disabled_at: null,
    last_triggered_at: null,
    created_at: now,
    updated_at: now,
  };
  return { answer: createJsonAnswer(201, one), things: { ...things, [id]: one } };
}

function stateOf(enabled: Json): string {
  return enabled === true ? 'ACTIVE' : 'INACTIVE';
}

function findAutomation(asked: Asked, does: (one: JsonObject) => Result): Result {
  const refused = refuseId('automation_id', asked.id);
  const one = asked.things[asked.id];
  return refused ?? (one === undefined ? GONE : does(one));
}

function patchAutomation(asked: Asked): Result {
  return findAutomation(asked, (one) => {
    const { body, things, id, now } = asked;
    const { plugin, repos, state: _, ...sent } = body;
    if (plugin !== undefined)
      return detail(422, 'Only plugin-spec automations can update plugin source');
    const whole = { ...one, ...sent };
    const refused = refuseModel(whole, body) ?? refuseSandbox(whole);
    if (refused !== null) return refused;
    const built = rebuild(asked, one, repos);
    if (built === null)
      return detail(
        422,
        "This automation's repositories cannot be changed: its preset tarball could not be rebuilt",
      );
    const isContinued =
      readTextMember(readObjectMember(whole, 'trigger'), 'destination') === CONTINUED;
    const isProfile = (body['agent_profile_id'] ?? null) !== null;
    const after: JsonObject = {
      ...whole,
      ...built.members,
      ...(isProfile ? { model: null } : {}),
      ...(isContinued ? { keep_alive: true } : {}),
      ...switched(one, body, now),
      updated_at: now,
    };
    return {
      answer: createJsonAnswer(200, after),
      things: { ...things, [id]: after },
      uploads: built.uploads,
    };
  });
}

const CONTINUED = 'continue_conversation';

function refuseModel(whole: JsonObject, { model = null }: JsonObject): Answer | null {
  const { agent_profile_id: profile = null } = whole;
  return profile !== null && model !== null
    ? detail(422, 'An agent profile already specifies the model')
    : null;
}

function refuseSandbox({ trigger = null, keep_alive }: JsonObject): Answer | null {
  return readTextMember(trigger, 'destination') === CONTINUED && keep_alive === false
    ? detail(
        400,
        `keep_alive cannot be false when destination is '${CONTINUED}': deleting the sandbox would destroy the conversation the next event continues`,
      )
    : null;
}

/**
 * The archive is built again for another prompt, and for repositories. Without the one that is there nothing can be built, which only a change of
 * repositories says. Source: contract "patch: the prompt rebuilds the archive", "patch: the prompt after the archive is gone: stored, not run".
 */
function rebuild(
  { body, uploads, now }: Asked,
  one: JsonObject,
  repos: Json | undefined,
): { readonly members: JsonObject; readonly uploads: Asked['uploads'] } | null {
  const { prompt } = body;
  const isText = typeof prompt === 'string' && prompt !== one['prompt'];
  const path = readTextMember(one, 'tarball_path');
  const { repos: before = null, ...preset } = readObjectMember(one, 'preset_metadata');
  const own = repos === undefined ? before : repos;
  if (!isText && writeJson(own) === writeJson(before)) return { members: {}, uploads };
  const metadata: JsonObject = {
    ...preset,
    ...(isText ? { prompt } : {}),
    ...(own === null ? {} : { repos: own }),
  };
  if (uploads[path.replace(UPLOAD, '')] === undefined)
    return repos === undefined ? { members: { preset_metadata: metadata }, uploads } : null;
  const id = randomUUID();
  return {
    members: { preset_metadata: metadata, tarball_path: `${UPLOAD}${id}` },
    uploads: { ...uploads, [id]: { id, created_at: now } },
  };
}

/** Source: contract "state: off and on, created off has no reason". */
function switched(one: JsonObject, { enabled }: JsonObject, now: string): JsonObject {
  if (enabled === undefined) return {};
  if (enabled === true)
    return { state: 'ACTIVE', disabled_reason: null, disabled_detail: null, disabled_at: null };
  if (one['enabled'] === false) return { state: 'INACTIVE' };
  const disabled_detail = { reason: 'manual', source: 'user' };
  return { state: 'INACTIVE', disabled_reason: 'manual', disabled_detail, disabled_at: now };
}

function removeAutomation(asked: Asked): Result {
  return findAutomation(asked, () => {
    const { [asked.id]: _, ...things } = asked.things;
    return { answer: { kind: 'empty' }, things };
  });
}
