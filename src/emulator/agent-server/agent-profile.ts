import { randomUUID } from 'node:crypto';
import { detail, createJsonAnswer } from '../http/answer.ts';
import {
  isJsonList,
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  readObjectMember,
  readTextMember,
  writeJson,
} from '../json.ts';
import { fit } from '../native/fit.ts';
import type { SchemaNode, Snapshot } from '../native/schema.ts';
import { mergeVerdicts, bad, refuseValue, good, type Location, type Verdict } from '../rules.ts';
import type { LoadResult } from './named.ts';
import { type AgentServerKind, createRecordReading } from './record.ts';

const VERSION = 4n;

const text = { type: 'string' };
const textOrNull = { type: ['string', 'null'], default: null };
const texts = { type: 'array', items: text, default: [] };
const textsOrNull = { type: ['array', 'null'], items: text, default: null };

const BASE = {
  schema_version: { type: 'integer', default: 4 },
  agent_kind: { type: 'string', enum: ['openhands', 'acp'], default: 'openhands' },
  id: text,
  name: text,
  revision: { type: 'integer', minimum: 0, default: 0 },
  mcp_server_refs: textsOrNull,
  secret_refs: textsOrNull,
};

/** The members of each kind of agent profile. What has the same rules in the settings is taken from there. */
function profileNode({ $defs }: Snapshot, kind: string): SchemaNode {
  const settings = (of: string) => $defs[of]?.properties ?? {};
  if (kind === 'acp') {
    const {
      acp_server = {},
      acp_prompt_timeout = {},
      acp_startup_timeout = {},
    } = settings('ACPAgentSettings');
    const own = { acp_model: textOrNull, acp_session_mode: textOrNull };
    const timeouts = { acp_prompt_timeout, acp_startup_timeout };
    const command = { acp_command: textOrNull, acp_args: textsOrNull };
    return { properties: { ...BASE, acp_server, ...own, ...timeouts, ...command } };
  }
  const {
    agent = {},
    tools = {},
    persona = {},
    condenser = {},
    verification = {},
    tool_concurrency_limit = {},
  } = settings('OpenHandsAgentSettings');
  return {
    required: ['llm_profile_ref'],
    properties: {
      ...BASE,
      llm_profile_ref: { ...text, minLength: 1 },
      agent,
      tools,
      persona,
      system_message_suffix: textOrNull,
      disabled_skills: texts,
      public_skills: textsOrNull,
      condenser,
      verification,
      enable_classify_and_switch_llm_tool: { type: 'boolean', default: false },
      meta_profile_ref: { ...textOrNull, minLength: 1 },
      tool_concurrency_limit,
    },
  };
}

/**
 * The profile that a body stands for, complete, or the refusal, which does not repeat what was sent.
 * Source: contract "agent profiles: refused values", "agent profiles: acp".
 */
export function readAgentProfile(
  kind: AgentServerKind,
  body: JsonObject,
  name: string,
): LoadResult {
  const sent = migrateProfile(body);
  if (sent === undefined) return { refused: detail(422, 'Invalid agent profile') };
  const verdict = fitAgentProfile(kind, { ...withoutNullParams(sent), name });
  if (verdict.kind === 'good' && isJsonObject(verdict.value)) return { thing: verdict.value };
  if (verdict.kind !== 'bad') return { refused: detail(422, 'Invalid agent profile') };
  return {
    refused: createJsonAnswer(422, {
      detail: verdict.problems.map(({ loc, type, msg }) => ({ loc, type, msg })),
    }),
  };
}

/** Members that earlier versions had. */
const GONE = ['enable_sub_agents', 'enable_switch_llm_tool'];

/** A profile of an earlier version as one of this; undefined if it is of none. */
function migrateProfile(body: JsonObject): JsonObject | undefined {
  const version = readOwnMember(body, 'schema_version') ?? null;
  if (version === null || version === VERSION) return { ...body, schema_version: VERSION };
  if (typeof version !== 'bigint' || version < 1n || version > VERSION) return undefined;
  const dropped = version === 1n ? ['skills', ...GONE] : GONE;
  const left = Object.entries(body).filter(([member]) => !dropped.includes(member));
  return { ...Object.fromEntries(left), schema_version: VERSION };
}

function fitAgentProfile(kind: AgentServerKind, sent: JsonObject): Verdict {
  const tag = readOwnMember(sent, 'agent_kind');
  const discriminator = '_agent_profile_discriminator()';
  if (tag === null)
    return bad(
      'union_tag_not_found',
      [],
      `Unable to extract tag using discriminator ${discriminator}`,
      sent,
    );
  if (tag !== undefined && tag !== 'openhands' && tag !== 'acp') {
    const msg = `Input tag '${typeof tag === 'string' ? tag : writeJson(tag)}' found using ${discriminator} does not match any of the expected tags: 'openhands', 'acp'`;
    return bad('union_tag_invalid', [], msg, sent);
  }
  const at = [tag ?? 'openhands'];
  if (tag !== 'acp' && GONE.some((name) => readOwnMember(sent, name) !== undefined))
    return refuseValue('Retired tool switches were removed; select tools instead.', at, sent);
  const node = profileNode(kind.snapshot, at[0] ?? '');
  const id = uuidRule(readOwnMember(sent, 'id'), [...at, 'id']);
  const known = { ...sent, id: id.kind === 'good' ? id.value : '' };
  const reading = { ...createRecordReading(kind), maps: 'instances' } as const;
  const extras = Object.entries(sent)
    .filter(([name]) => !Object.hasOwn(node.properties ?? {}, name))
    .map(([name, one]) =>
      bad('extra_forbidden', [...at, name], 'Extra inputs are not permitted', one),
    );
  const fitted = fit(reading, node, known, at);
  const whole = mergeVerdicts([id, fitted, ...extras, ...checkTools(sent, at)]);
  return whole.kind === 'good' ? tidyProfile(fitted) : whole;
}

const ROUTER = 'route_task_to_model';

/** The tools of the server itself, by the names of their classes. */
const BUILT_IN: ReadonlyMap<string, string> = new Map([
  ['FinishTool', 'finish'],
  ['ThinkTool', 'think'],
  ['InvokeSkillTool', 'invoke_skill'],
  ['SwitchLLMTool', 'switch_llm'],
  ['VisionInspectTool', 'inspect_image_with_vision'],
  ['ClassifyAndSwitchLLMTool', ROUTER],
]);

function resolveToolName(name: string): string {
  return BUILT_IN.get(name) ?? name;
}

/** Only the router takes parameters. */
const WITHOUT_PARAMETERS = new Set([...BUILT_IN.values()].filter((name) => name !== ROUTER));

/** Source: contract "agent profiles: a built-in tool with params", "agent profiles: a tool with an empty name". */
function checkTools(sent: JsonObject, at: Location): Verdict[] {
  const tools = readOwnMember(sent, 'tools') ?? null;
  if (!isJsonList(tools)) return [];
  return tools.flatMap((tool, index): Verdict[] => {
    if (!isJsonObject(tool)) return [];
    const name = readOwnMember(tool, 'name');
    if (name === '')
      return [
        refuseValue('Tool name cannot be empty', [...at, 'tools', BigInt(index), 'name'], name),
      ];
    if (typeof name !== 'string' || !hasParameters(tool)) return [];
    if (!WITHOUT_PARAMETERS.has(resolveToolName(name))) return [];
    return [refuseValue(`Tool '${name}' does not accept parameters`, [...at, 'tools'], tools)];
  });
}

/** A tool without parameters may say so by null. */
function withoutNullParams(sent: JsonObject): JsonObject {
  const tools = readOwnMember(sent, 'tools') ?? null;
  if (!isJsonList(tools)) return sent;
  const isNull = (tool: Json): tool is JsonObject =>
    isJsonObject(tool) && readOwnMember(tool, 'params') === null;
  return { ...sent, tools: tools.map((tool) => (isNull(tool) ? { ...tool, params: {} } : tool)) };
}

/** A key of a critic is not stored, nor the same tool twice. */
function tidyProfile(verdict: Verdict): Verdict {
  if (verdict.kind !== 'good' || !isJsonObject(verdict.value)) return verdict;
  const verification = readOwnMember(verdict.value, 'verification') ?? null;
  if (!isJsonObject(verification)) return verdict;
  const tools = onceEach(readOwnMember(verdict.value, 'tools') ?? null);
  return good({ ...verdict.value, tools, verification: withoutCriticKey(verification) });
}

/** Removes repeated tools: of two with one name the first with parameters stays. */
function onceEach(tools: Json): Json {
  if (!isJsonList(tools)) return tools;
  const byName = new Map<string, Json>();
  for (const tool of tools) {
    if (!isJsonObject(tool)) continue;
    const name = resolveToolName(readTextMember(tool, 'name'));
    const kept = byName.get(name);
    if (kept === undefined || (!hasParameters(kept) && hasParameters(tool)))
      byName.set(name, { ...tool, name });
  }
  return [...byName.values()];
}

function hasParameters(tool: Json): boolean {
  return isJsonObject(tool) && Object.keys(readObjectMember(tool, 'params')).length > 0;
}

export function withoutCriticKey(verification: JsonObject): JsonObject {
  const { critic_api_key: _, ...kept } = verification;
  return kept;
}

/** An id that a client may send; the server accepts others. A new one if there is none. */
function uuidRule(value: Json | undefined, at: Location): Verdict {
  if (value === undefined) return good(randomUUID());
  if (typeof value !== 'string')
    return bad('uuid_type', at, 'UUID input should be a string, bytes or UUID object', value);
  const bare = value.replaceAll('-', '');
  const wrong = /[^\da-f-]/i.exec(value);
  if (wrong === null && bare.length === 32) return good(value);
  const why =
    wrong === null
      ? `invalid length: found ${value.length}`
      : `invalid character: found \`${wrong[0]}\` at ${wrong.index}`;
  return bad('uuid_parsing', at, `Input should be a valid UUID, ${why}`, value);
}
