import {
  type Json,
  type JsonObject,
  readOwnMember,
  isJsonObject,
  isJsonList,
  readTextMember,
} from '../json.ts';

/** The address that is not stored, because it is that of OpenAI's own models. */
const OPENAI = /^https:\/\/api\.openai\.com\/?$/;
const AZURE_VERSION = '2024-12-01-preview';

/** Models whose context is too small to work with. */
const SMALL_MODELS = new Map([
  ['gpt-4', 8192n],
  ['openai/gpt-4', 8192n],
  ['ollama/llama2', 4096n],
]);
const LEAST_WINDOW = 16_384n;

/**
 * Returns the llm that the server makes of this one, or undefined if it refuses it. `sent` is the merged diff, before defaults were
 * filled in.
 */
export function settleLlm(llm: JsonObject, sent: JsonObject): JsonObject | undefined {
  if (isContextSmall(llm)) return undefined;
  const model = readTextMember(llm, 'model');
  const settled: Record<string, Json> = { ...llm };
  if (model.startsWith('azure') && readOwnMember(llm, 'api_version') === null)
    settled['api_version'] = AZURE_VERSION;
  if (model.startsWith('openai/') && OPENAI.test(readTextMember(llm, 'base_url')))
    settled['base_url'] = null;
  const timeout = readOwnMember(llm, 'timeout') ?? null;
  const idle = readOwnMember(llm, 'stream_idle_timeout');
  if (
    idle !== undefined &&
    readOwnMember(sent, 'stream_idle_timeout') === undefined &&
    timeout !== null
  )
    settled['stream_idle_timeout'] = Number(timeout);
  return settled;
}

/** Returns the context window of an llm; the smallest allowed one if unknown. */
function contextWindow(llm: JsonObject): bigint {
  const window = readOwnMember(llm, 'max_input_tokens') ?? null;
  if (typeof window === 'bigint') return window;
  return SMALL_MODELS.get(readTextMember(llm, 'model')) ?? LEAST_WINDOW;
}

export function isContextSmall(llm: JsonObject): boolean {
  return contextWindow(llm) < LEAST_WINDOW;
}

/** Returns the message of a server that refuses such an llm. Source: contract "profiles: refused values". */
export function contextProblem(llm: JsonObject): string {
  const [tokens, least] = [contextWindow(llm), LEAST_WINDOW].map((one) =>
    one.toLocaleString('en-US'),
  );
  return [
    `The configured model has a context window of ${tokens} tokens, which is below the minimum of ${least} tokens required for OpenHands to function properly.`,
    `For local LLMs (Ollama, LM Studio, etc.), increase the context window.\nFor cloud providers, verify you're using the correct model variant.`,
    'For configuration instructions, see:\n  https://docs.openhands.dev/openhands/usage/llms/local-llms',
    'To override this check (not recommended), set the environment variable:\n  ALLOW_SHORT_CONTEXT_WINDOWS=true',
  ].join('\n\n');
}

/** Returns what an mcp entry lacks or has too much of, as a sentence; undefined if it is valid. */
export function mcpProblem(entry: JsonObject): string | undefined {
  const transport = readOwnMember(entry, 'transport');
  if (transport === 'stdio' && readOwnMember(entry, 'command') === undefined)
    return "stdio MCP servers require 'command'";
  if (
    typeof transport === 'string' &&
    transport !== 'stdio' &&
    readOwnMember(entry, 'url') === undefined
  )
    return "remote MCP servers require 'url'";
  const headers = readOwnMember(entry, 'headers') ?? null;
  const named = isJsonObject(headers) ? Object.keys(headers) : [];
  if (
    readOwnMember(entry, 'auth') !== undefined &&
    named.some((name) => /^authorization$/i.test(name))
  )
    return "'auth' cannot be combined with an explicit top-level 'Authorization' header; use auth.strategy='header' instead.";
  return undefined;
}

const CODEX = {
  secret_name: 'CODEX_AUTH_JSON',
  filename: 'auth.json',
  env_var: 'CODEX_HOME',
  subdir: 'codex',
  env_points_to: 'dir',
  warn_if_unset: [],
};
const GEMINI = {
  secret_name: 'GOOGLE_APPLICATION_CREDENTIALS_JSON',
  filename: 'gcloud-credentials.json',
  env_var: 'GOOGLE_APPLICATION_CREDENTIALS',
  subdir: 'gemini-cli',
  env_points_to: 'file',
  warn_if_unset: ['GOOGLE_CLOUD_PROJECT', 'GOOGLE_CLOUD_LOCATION'],
};
const KIMI = {
  ...CODEX,
  secret_name: 'KIMI_CODE_CONFIG_TOML',
  filename: 'config.toml',
  env_var: 'KIMI_CODE_HOME',
  subdir: 'kimi-code',
};
const PI = { ...CODEX, secret_name: 'PI_AUTH_JSON', env_var: 'PI_CODING_AGENT_DIR', subdir: 'pi' };

/** The files in which the agents of other makers store their keys, by dialect. Source: contract "agent_kind acp: its fields". */
const ACP_FILES = {
  'app-server': [CODEX, GEMINI],
  'agent-server': [CODEX, GEMINI, KIMI, PI],
} as const;

/** Agent settings with values that have no default: the time of the first write, and the files of an agent of another maker. */
export function fillAgentDefaults(agent: Json, dialect: keyof typeof ACP_FILES, now: number): Json {
  if (!isJsonObject(agent)) return agent;
  const files = readOwnMember(agent, 'acp_file_secrets') ?? null;
  const isUnset = isJsonList(files) && files.length === 0;
  const filed = isUnset ? { ...agent, acp_file_secrets: ACP_FILES[dialect] } : agent;
  const context = readOwnMember(filed, 'agent_context') ?? null;
  if (!isJsonObject(context) || readOwnMember(context, 'current_datetime') !== null) return filed;
  const time = new Date(now).toISOString().replace('Z', '000Z');
  return { ...filed, agent_context: { ...context, current_datetime: time } };
}
