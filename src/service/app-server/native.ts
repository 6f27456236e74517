import type { Value, ValueRecord } from '../../model/value.ts';
import { differing } from '../set-parts.ts';

/** What the parts of a record that setpoint has no names for are if nobody has set them, as release 1.11.0 makes them. */
const DEFAULTS: ValueRecord = {
  enable_proactive_conversation_starters: true,
  git_full_clone: false,
  v1_enabled: true,
  sandbox_grouping_strategy: 'NO_GROUPING',
  agent_settings: {
    schema_version: 4,
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
      max_message_chars: 30000,
      stream: false,
      drop_params: true,
      modify_params: true,
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
    enable_sub_agents: false,
    enable_switch_llm_tool: true,
    tool_concurrency_limit: 1,
    agent_context: {
      load_user_skills: false,
      load_public_skills: false,
      marketplace_path: 'marketplaces/default.json',
      load_project_skills: false,
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
  conversation_settings: { schema_version: 1 },
};

/**
 * What the server keeps by itself: profiles follow the model of the settings, and the time is that of the first store. A write
 * may change them, and nobody has set them in the settings.
 */
const OF_THE_SERVER = new Set(['llm_profiles', 'current_datetime', 'schema_version']);

/** What somebody has set of a part that setpoint has no name for; null if it is as the server makes it. */
export function setPart(name: string, value: Value): Value {
  return differing(name, value, DEFAULTS[name], OF_THE_SERVER);
}
