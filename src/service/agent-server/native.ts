import { isRecord, type Value, type ValueRecord } from '../../model/value.ts';
import { differing } from '../set-parts.ts';

/** What the parts of a record that setpoint has no names for are if nobody has set them, as release 1.57.0 makes them. */
const DEFAULTS: ValueRecord = {
  agent_settings: {
    agent_kind: 'openhands',
    llm: {
      auth_type: 'api_key',
      openrouter_site_url: 'https://docs.all-hands.dev/',
      openrouter_app_name: 'OpenHands',
      num_retries: 5,
      retry_multiplier: 8,
      retry_min_wait: 8,
      retry_max_wait: 64,
      timeout: 300,
      stream_idle_timeout: 300,
      max_message_chars: 30000,
      api_mode: 'auto',
      stream: false,
      drop_params: true,
      disable_stop_word: false,
      caching_prompt: true,
      log_completions: false,
      log_completions_folder: 'logs/completions',
      native_tool_calling: true,
      reasoning_effort: 'high',
      enable_encrypted_reasoning: true,
      prompt_cache_retention: '24h',
      extended_thinking_budget: 200000,
      usage_id: 'default',
      is_subscription: false,
    },
    enable_classify_and_switch_llm_tool: false,
    tool_concurrency_limit: 1,
    agent_context: {
      load_user_skills: false,
      load_public_skills: false,
      marketplace_path: 'marketplaces/default.json',
      load_project_skills: false,
      load_memory: false,
    },
    condenser: {
      condenser_kind: 'llm_summarizing',
      keep_first: 2,
      minimum_progress: 0.1,
      hard_context_reset_max_retries: 5,
      hard_context_reset_context_scaling: 0.8,
    },
    verification: {
      critic_enabled: false,
      critic_mode: 'finish_and_message',
      enable_iterative_refinement: false,
      critic_threshold: 0.6,
      max_refinement_iterations: 3,
    },
  },
  conversation_settings: {
    default_runtime: 'local',
    worktree_base: 'default_branch',
    worktree_branch_prefix: 'openhands/',
    container_browser: true,
  },
};

/** The time is that of the first write, and the versions are those of the server. */
const OF_THE_SERVER = new Set(['current_datetime', 'schema_version']);

/** What somebody has set of a part that setpoint has no name for; null if it is as the server makes it. */
export function setPart(name: string, value: Value): Value {
  return differing(name, value, DEFAULTS[name], OF_THE_SERVER);
}

/** A record without the time that the server answers anew at each read until somebody has written. */
export function withoutClock(record: ValueRecord): ValueRecord {
  const settings = record['agent_settings'];
  const context = isRecord(settings) ? settings['agent_context'] : undefined;
  if (!isRecord(settings) || !isRecord(context)) return record;
  const { current_datetime: _, ...kept } = context;
  return { ...record, agent_settings: { ...settings, agent_context: kept } };
}
