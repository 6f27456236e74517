import { isJsonList, isJsonObject, type Json, memberOf } from '../json.ts';

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

/** Where the agents of other makers keep their keys, by dialect. Source: contract "agent_kind acp: its fields". */
const ACP_FILES = {
  'app-server': [CODEX, GEMINI],
  'agent-server': [CODEX, GEMINI, KIMI, PI],
} as const;

/** Agent settings with what no default tells: the time of the first write, and the files of an agent of another maker. */
export function filledIn(agent: Json, dialect: keyof typeof ACP_FILES, now: number): Json {
  if (!isJsonObject(agent)) return agent;
  const files = memberOf(agent, 'acp_file_secrets') ?? null;
  const isUnset = isJsonList(files) && files.length === 0;
  const filed = isUnset ? { ...agent, acp_file_secrets: ACP_FILES[dialect] } : agent;
  const context = memberOf(filed, 'agent_context') ?? null;
  if (!isJsonObject(context) || memberOf(context, 'current_datetime') !== null) return filed;
  const time = new Date(now).toISOString().replace('Z', '000Z');
  return { ...filed, agent_context: { ...context, current_datetime: time } };
}
