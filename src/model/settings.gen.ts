// Generated from schemas/settings.schema.json by `npm run generate`. Do not edit.
/**
 * Text with references inside; $${ writes ${ itself.
 */
export type Template = string;
/**
 * One reference, ${env:NAME} or ${file:PATH}; never the secret itself.
 */
export type SecretReference = string;
/**
 * A value from outside the file: ${env:NAME}, ${env:NAME:-default} or ${file:PATH}.
 */
export type Reference = string;
/**
 * One reference, ${env:NAME} or ${file:PATH}; never the secret itself.
 */
export type SecretReference1 = string;
/**
 * One reference, ${env:NAME} or ${file:PATH}; never the secret itself.
 */
export type SecretReference2 = string;
/**
 * One reference, ${env:NAME} or ${file:PATH}; never the secret itself.
 */
export type SecretReference3 = string;
/**
 * The MCP servers an agent may use. A list that is declared is exhaustive: entries it does not name are removed, unless they are unmanaged. {} is three empty lists.
 */
export type McpConfig = {
  /**
   * MCP servers reached by server-sent events.
   */
  sse_servers?: SseServer[];
  /**
   * MCP servers started inside the runtime container.
   */
  stdio_servers?: StdioServer[];
  /**
   * MCP servers reached by streamable HTTP.
   */
  shttp_servers?: ShttpServer[];
} | null;
export type SseServer =
  | McpUrl
  | {
      url: McpUrl;
      api_key?: McpApiKey;
      /**
       * The server's name on servers that name all of them; without it, the name is made from the address. Servers of settings-v0 have none.
       */
      name?: string | null;
      transport?: ('stdio' | 'http' | 'streamable-http' | 'sse' | null) | Template;
      env?: {
        [k: string]: string | null;
      } | null;
      cwd?: string | null;
      description?: string | null;
      icon?: string | null;
      timeout?: (number | null) | Reference;
      sse_read_timeout?: (number | null) | Reference;
      keep_alive?: (boolean | null) | Reference;
      headers?: {
        [k: string]: string | null;
      } | null;
      auth?: McpAuth;
      /**
       * Whether this server is exposed to the agent.
       */
      enabled?: (boolean | null) | Reference;
    };
/**
 * The server's address: http, https, ws or wss, and a host. Spaces around it do not count.
 */
export type McpUrl = Template;
/**
 * The server's key. Absent: what the service has is kept; null: none.
 */
export type McpApiKey = string | null;
/**
 * How the server is shown who calls. api_key alone is the strategy api_key without a header name.
 */
export type McpAuth = {
  strategy: ('none' | 'api_key' | 'bearer' | 'basic' | 'header' | 'oauth2' | null) | Template;
  value?: string | null;
  header_name?: string | null;
  username?: string | null;
  password?: string | null;
  headers?: {
    [k: string]: string | null;
  } | null;
  authentication?: {
    type: ('oauth' | null) | Template;
    client_auth_method?:
      ('none' | 'client_secret_post' | 'client_secret_basic' | 'private_key_jwt' | null) | Template;
    scopes?: (string | null) | Reference | (string[] | null);
    client_name?: string | null;
    client_metadata_url?: string | null;
    client_id?: string | null;
    client_secret?: string | null;
    additional_client_metadata?: {
      [k: string]: unknown;
    } | null;
  } | null;
  state?: {
    tokens?: {
      access_token?: string | null;
      refresh_token?: string | null;
      [k: string]: unknown;
    } | null;
    client_info?: {
      client_secret?: string | null;
      [k: string]: unknown;
    } | null;
    token_expires_at?: (number | null) | Reference;
  } | null;
} | null;
/**
 * How the server is shown who calls. api_key alone is the strategy api_key without a header name.
 */
export type McpAuth1 = {
  strategy: ('none' | 'api_key' | 'bearer' | 'basic' | 'header' | 'oauth2' | null) | Template;
  value?: string | null;
  header_name?: string | null;
  username?: string | null;
  password?: string | null;
  headers?: {
    [k: string]: string | null;
  } | null;
  authentication?: {
    type: ('oauth' | null) | Template;
    client_auth_method?:
      ('none' | 'client_secret_post' | 'client_secret_basic' | 'private_key_jwt' | null) | Template;
    scopes?: (string | null) | Reference | (string[] | null);
    client_name?: string | null;
    client_metadata_url?: string | null;
    client_id?: string | null;
    client_secret?: string | null;
    additional_client_metadata?: {
      [k: string]: unknown;
    } | null;
  } | null;
  state?: {
    tokens?: {
      access_token?: string | null;
      refresh_token?: string | null;
      [k: string]: unknown;
    } | null;
    client_info?: {
      client_secret?: string | null;
      [k: string]: unknown;
    } | null;
    token_expires_at?: (number | null) | Reference;
  } | null;
} | null;
export type ShttpServer =
  | McpUrl
  | {
      url: McpUrl;
      api_key?: McpApiKey;
      /**
       * How long a call may take, in seconds, from 1 to 3600. A later addition: the oldest servers do not have it.
       */
      timeout?: (number | null) | Reference;
      /**
       * The server's name on servers that name all of them; without it, the name is made from the address. Servers of settings-v0 have none.
       */
      name?: string | null;
      transport?: ('stdio' | 'http' | 'streamable-http' | 'sse' | null) | Template;
      env?: {
        [k: string]: string | null;
      } | null;
      cwd?: string | null;
      description?: string | null;
      icon?: string | null;
      sse_read_timeout?: (number | null) | Reference;
      keep_alive?: (boolean | null) | Reference;
      headers?: {
        [k: string]: string | null;
      } | null;
      auth?: McpAuth2;
      /**
       * Whether this server is exposed to the agent.
       */
      enabled?: (boolean | null) | Reference;
    };
/**
 * How the server is shown who calls. api_key alone is the strategy api_key without a header name.
 */
export type McpAuth2 = {
  strategy: ('none' | 'api_key' | 'bearer' | 'basic' | 'header' | 'oauth2' | null) | Template;
  value?: string | null;
  header_name?: string | null;
  username?: string | null;
  password?: string | null;
  headers?: {
    [k: string]: string | null;
  } | null;
  authentication?: {
    type: ('oauth' | null) | Template;
    client_auth_method?:
      ('none' | 'client_secret_post' | 'client_secret_basic' | 'private_key_jwt' | null) | Template;
    scopes?: (string | null) | Reference | (string[] | null);
    client_name?: string | null;
    client_metadata_url?: string | null;
    client_id?: string | null;
    client_secret?: string | null;
    additional_client_metadata?: {
      [k: string]: unknown;
    } | null;
  } | null;
  state?: {
    tokens?: {
      access_token?: string | null;
      refresh_token?: string | null;
      [k: string]: unknown;
    } | null;
    client_info?: {
      client_secret?: string | null;
      [k: string]: unknown;
    } | null;
    token_expires_at?: (number | null) | Reference;
  } | null;
} | null;
/**
 * How the server is shown who calls. api_key alone is the strategy api_key without a header name.
 */
export type McpAuth3 = {
  strategy: ('none' | 'api_key' | 'bearer' | 'basic' | 'header' | 'oauth2' | null) | Template;
  value?: string | null;
  header_name?: string | null;
  username?: string | null;
  password?: string | null;
  headers?: {
    [k: string]: string | null;
  } | null;
  authentication?: {
    type: ('oauth' | null) | Template;
    client_auth_method?:
      ('none' | 'client_secret_post' | 'client_secret_basic' | 'private_key_jwt' | null) | Template;
    scopes?: (string | null) | Reference | (string[] | null);
    client_name?: string | null;
    client_metadata_url?: string | null;
    client_id?: string | null;
    client_secret?: string | null;
    additional_client_metadata?: {
      [k: string]: unknown;
    } | null;
  } | null;
  state?: {
    tokens?: {
      access_token?: string | null;
      refresh_token?: string | null;
      [k: string]: unknown;
    } | null;
    client_info?: {
      client_secret?: string | null;
      [k: string]: unknown;
    } | null;
    token_expires_at?: (number | null) | Reference;
  } | null;
} | null;
/**
 * Sandboxes that run or are paused. None is ever deleted. Items by id claim theirs first, then those by spec; an item without spec counts the rest.
 */
export type SettingsFile1 = Sandbox[];
/**
 * Paths under settings that are not managed even if they are declared: a field (language) or an mcp entry (mcp_config.sse_servers[https://corp.example.com/sse]).
 */
export type SettingsFile2 = string[];

/**
 * The desired settings and sandboxes of an agent-platform service. What is absent is not managed and never changed; null clears; [] and {} are empty.
 */
export interface SettingsFile {
  /**
   * The version of this file's format.
   */
  version: 1;
  /**
   * The name of this file's environment, for -e and in every report. Without it: default, or the file's name if several files are given.
   */
  name?: string;
  /**
   * A base file this one is merged over: one file, one level, under the working directory. The base holds no server and no environments.
   */
  extends?: string;
  server?: Server;
  settings?: Settings;
  sandboxes?: SettingsFile1;
  guards?: Guards;
  unmanaged?: SettingsFile2;
  /**
   * One block for each environment, merged over the blocks above: maps merge by key, scalars and lists replace.
   */
  environments?: {
    [k: string]: Environment;
  };
}
/**
 * The service that this file is applied to, and how to reach it.
 */
export interface Server {
  /**
   * The service's base address, with a path prefix if a proxy adds one; or embedded: (kept in .setpoint/embedded.json) or embedded:PATH for the service inside setpoint, with ?dialect=app-server or ?dialect=agent-server for a later one.
   */
  url?: Template;
  /**
   * The key that the service needs. Without it, or as null, no key is sent. An environment that names a url names its own key.
   */
  api_key?: string | null;
  /**
   * How the key is sent: X-Session-API-Key, Authorization: Bearer, or both.
   */
  auth?: 'session-key' | 'bearer' | 'both';
  /**
   * Headers that an access proxy in front of the service needs; each value is one reference.
   */
  headers?: {
    [k: string]: SecretReference;
  };
  /**
   * A PEM file of certificate authorities to trust besides the built-in ones; relative to this file.
   */
  ca_file?: string;
  /**
   * How the service speaks of its settings: settings-v0 is GET and POST /api/settings, as releases up to 1.6 have it; app-server is /api/v1/settings, from 1.9 on; agent-server is GET and PATCH /api/settings of the Agent Server, from 1.31 on. auto finds out and writes nothing for it; a declared one saves that request.
   */
  dialect?: 'auto' | 'settings-v0' | 'app-server' | 'agent-server';
  /**
   * Whether plan, apply, drift and explain ask the service for the secrets that it masks, and compare them in memory. Only agent-server has a way to; only over https: or loopback. The values are never shown, saved or logged.
   */
  compare_secrets?: boolean;
}
/**
 * The fields of the service's Settings resource, and under agent_settings, conversation_settings and misc_settings what later servers have besides, in their own nesting. What is absent is not managed.
 */
export interface Settings {
  /**
   * The language of the user interface, as a code.
   */
  language?: string | null;
  /**
   * The agent that works in new conversations.
   */
  agent?: string | null;
  /**
   * How many steps a conversation may take.
   */
  max_iterations?: (number | null) | Reference;
  /**
   * What examines an agent's actions before they run; null for nothing.
   */
  security_analyzer?: string | null;
  /**
   * Whether a person confirms an agent's actions before they run.
   */
  confirmation_mode?: (boolean | null) | Reference;
  /**
   * The model new conversations use. The store keeps it on null, so null is sent as empty text.
   */
  llm_model?: string | null;
  /**
   * The key for the model's provider. It cannot be read back; llm_api_key_set reports whether one is stored.
   */
  llm_api_key?: string | null;
  /**
   * The address of the model, for a provider of your own. The store keeps it on null, so null is sent as empty text.
   */
  llm_base_url?: string | null;
  /**
   * How many times the usual resources a remote runtime gets.
   */
  remote_runtime_resource_factor?: (number | null) | Reference;
  secrets_store?: SecretsStore;
  /**
   * Whether long conversations are condensed.
   */
  enable_default_condenser?: boolean | Reference;
  /**
   * Whether the user interface makes a sound when a conversation needs attention.
   */
  enable_sound_notifications?: boolean | Reference;
  /**
   * Whether the service suggests conversations by itself.
   */
  enable_proactive_conversation_starters?: boolean | Reference;
  /**
   * Whether issues are examined for whether an agent can solve them.
   */
  enable_solvability_analysis?: boolean | Reference;
  /**
   * Whether usage may be sent for analytics. Once given, an answer can be changed but not withdrawn: the service has no way back to null.
   */
  user_consents_to_analytics?: (boolean | null) | Reference;
  /**
   * The image that sandboxes are built from.
   */
  sandbox_base_container_image?: string | null;
  /**
   * The image that sandboxes run.
   */
  sandbox_runtime_container_image?: string | null;
  mcp_config?: McpConfig;
  /**
   * The key for the search provider. It cannot be read back; search_api_key_set reports whether one is stored.
   */
  search_api_key?: string | null;
  /**
   * The key for the sandbox provider. It cannot be read back and no flag reports whether one is stored; a write that leaves it out wipes it. Declared, as a reference or as null, it is sent with every write.
   */
  sandbox_api_key?: string | null;
  /**
   * How much one task may cost at most, in US dollars.
   */
  max_budget_per_task?: (number | null) | Reference;
  /**
   * How many events a conversation holds before it is condensed; at least 20. A later addition: the oldest servers do not have it.
   */
  condenser_max_size?: (number | null) | Reference;
  /**
   * The user's address. Hosted services overwrite it from the login.
   */
  email?: string | null;
  /**
   * Whether the address has been verified. Hosted services overwrite it from the login.
   */
  email_verified?: (boolean | null) | Reference;
  /**
   * The name that commits carry.
   */
  git_user_name?: string | null;
  /**
   * The address that commits carry.
   */
  git_user_email?: string | null;
  agent_settings?: AgentSettings;
  conversation_settings?: ConversationSettings;
  /**
   * Name of the currently active LLM profile, if one is selected.
   */
  active_profile?: (string | null) | Template;
  /**
   * Stable id of the currently active AgentProfile, if one is set.
   */
  active_agent_profile_id?: (string | null) | Template;
  /**
   * Name of the currently active meta-profile, if one is selected.
   */
  active_meta_profile?: (string | null) | Template;
  misc_settings?: MiscSettings;
  /**
   * A number that the server counts up when it asks its user something anew.
   */
  user_version?: (number | null) | Reference;
  /**
   * The names of skills that new conversations do without.
   */
  disabled_skills?: string[] | null;
  /**
   * Whether repositories are cloned with their whole history.
   */
  git_full_clone?: (boolean | null) | Reference;
  /**
   * Strategy for grouping conversations within sandboxes.
   */
  sandbox_grouping_strategy?:
    | (
        | 'NO_GROUPING'
        | 'GROUP_BY_NEWEST'
        | 'LEAST_RECENTLY_USED'
        | 'FEWEST_CONVERSATIONS'
        | 'ADD_TO_ANY'
        | null
      )
    | Template;
  /**
   * The spec that a sandbox is started from if none is named.
   */
  default_sandbox_spec_id?: string | null;
  /**
   * List of marketplace registrations for plugin resolution.
   */
  registered_marketplaces?:
    | {
        /**
         * Identifier for this marketplace registration
         */
        name: string | null;
        /**
         * Marketplace source: 'github:owner/repo', git URL, or local path
         */
        source: string | null;
        /**
         * Optional branch, tag, or commit (only for git sources)
         */
        ref?: string | null;
        /**
         * Subdirectory path within the git repository containing the marketplace (e.g., 'marketplaces/internal' for monorepos).
         */
        repo_path?: string | null;
        /**
         * Auto-load behavior for this marketplace.
         */
        auto_load?: (boolean | null) | Reference;
      }[]
    | null;
}
/**
 * The user's secrets, as references only. No known service keeps what it is sent here, so that nothing is sent, and every plan says so.
 */
export interface SecretsStore {
  /**
   * One entry for each git provider.
   */
  provider_tokens?: {
    [k: string]: {
      token: SecretReference1;
      host?: SecretReference2;
      user_id?: SecretReference3;
    };
  };
  /**
   * Secrets under names of your own.
   */
  custom_secrets?: {
    [k: string]: SecretReference;
  };
}
export interface StdioServer {
  /**
   * The server's name: letters, digits, _ and -.
   */
  name: Template;
  /**
   * The program, one word; what follows it goes into args.
   */
  command: Template;
  /**
   * The program's arguments: a list, or one line that is split as a shell splits words. Shown masked.
   */
  args?: string[] | (string | null);
  /**
   * The program's environment: a map of text, or one line A=1,B=2. Under a name of a secret (key, token, secret, password, passphrase, pwd, pass, auth, bearer, credential and the like) the value is a reference; other values are shown.
   */
  env?:
    | {
        [k: string]: string;
      }
    | (string | null);
  transport?: ('stdio' | 'http' | 'streamable-http' | 'sse' | null) | Template;
  cwd?: string | null;
  description?: string | null;
  icon?: string | null;
  timeout?: (number | null) | Reference;
  sse_read_timeout?: (number | null) | Reference;
  keep_alive?: (boolean | null) | Reference;
  headers?: {
    [k: string]: string | null;
  } | null;
  auth?: McpAuth1;
  /**
   * Whether this server is exposed to the agent.
   */
  enabled?: (boolean | null) | Reference;
}
/**
 * The agent of new conversations.
 */
export interface AgentSettings {
  /**
   * Discriminator for the AgentSettings union. 'acp' selects an ACP-delegating agent.
   */
  agent_kind?: ('openhands' | 'acp' | null) | Template;
  /**
   * LLM settings for the agent.
   */
  llm?: {
    /**
     * The model new conversations use. The store keeps it on null, so null is sent as empty text.
     */
    model?: string | null;
    /**
     * The key for the model's provider. It cannot be read back; llm_api_key_set reports whether one is stored.
     */
    api_key?: string | null;
    /**
     * Optional provider connection whose shared API key and base URL are resolved and applied each time this LLM profile is loaded (read-at-use).
     */
    provider_connection_id?: string | null;
    /**
     * Authentication mode for the LLM.
     */
    auth_type?: ('api_key' | 'subscription' | null) | Template;
    /**
     * Subscription provider for subscription-backed LLM access.
     */
    subscription_vendor?: ('openai' | null) | Template;
    /**
     * The address of the model, for a provider of your own. The store keeps it on null, so null is sent as empty text.
     */
    base_url?: string | null;
    /**
     * API version (e.g., Azure).
     */
    api_version?: string | null;
    aws_access_key_id?: string | null;
    aws_secret_access_key?: string | null;
    aws_session_token?: string | null;
    aws_region_name?: string | null;
    aws_profile_name?: string | null;
    aws_role_name?: string | null;
    aws_session_name?: string | null;
    aws_bedrock_runtime_endpoint?: string | null;
    openrouter_site_url?: string | null;
    openrouter_app_name?: string | null;
    num_retries?: (number | null) | Reference;
    retry_multiplier?: (number | null) | Reference;
    retry_min_wait?: (number | null) | Reference;
    retry_max_wait?: (number | null) | Reference;
    /**
     * HTTP and hard per-attempt timeout in seconds.
     */
    timeout?: (number | null) | Reference;
    /**
     * Maximum seconds between chunks in an asynchronous streaming response.
     */
    stream_idle_timeout?: (number | null) | Reference;
    /**
     * Approx max chars in each event/content sent to the LLM.
     */
    max_message_chars?: (number | null) | Reference;
    /**
     * Sampling temperature for response generation.
     */
    temperature?: (number | null) | Reference;
    /**
     * Nucleus sampling parameter.
     */
    top_p?: (number | null) | Reference;
    top_k?: (number | null) | Reference;
    /**
     * The maximum number of input tokens.
     */
    max_input_tokens?: (number | null) | Reference;
    /**
     * The maximum number of output tokens.
     */
    max_output_tokens?: (number | null) | Reference;
    /**
     * Optional canonical model name for feature registry lookups.
     */
    model_canonical_name?: string | null;
    /**
     * LLM API endpoint mode. 'auto' resolves from model metadata and SDK fallbacks; use 'chat' or 'responses' to override endpoint selection for proxy aliases and newly released models.
     */
    api_mode?: ('auto' | 'chat' | 'responses' | null) | Template;
    /**
     * Explicit model capability overrides.
     */
    capability_overrides?: {
      [k: string]: boolean | null | string;
    } | null;
    /**
     * Optional HTTP headers to forward to LiteLLM requests.
     */
    extra_headers?: {
      [k: string]: string | null;
    } | null;
    /**
     * The cost per input token.
     */
    input_cost_per_token?: (number | null) | Reference;
    /**
     * The cost per output token.
     */
    output_cost_per_token?: (number | null) | Reference;
    ollama_base_url?: string | null;
    /**
     * Enable streaming responses from the LLM.
     */
    stream?: (boolean | null) | Reference;
    drop_params?: (boolean | null) | Reference;
    /**
     * If model is vision capable, this option allows to disable image processing (useful for cost reduction).
     */
    disable_vision?: (boolean | null) | Reference;
    /**
     * Disable using of stop word.
     */
    disable_stop_word?: (boolean | null) | Reference;
    /**
     * Enable caching of prompts.
     */
    caching_prompt?: (boolean | null) | Reference;
    /**
     * Enable logging of completions.
     */
    log_completions?: (boolean | null) | Reference;
    /**
     * The folder to log LLM completions to.
     */
    log_completions_folder?: string | null;
    /**
     * A custom tokenizer to use for token counting.
     */
    custom_tokenizer?: string | null;
    /**
     * Whether to use native tool calling.
     */
    native_tool_calling?: (boolean | null) | Reference;
    /**
     * Force using string content serializer when sending to LLM API.
     */
    force_string_serializer?: (boolean | null) | Reference;
    /**
     * If True, fetch any http(s) image URL in outgoing messages and inline it as a base64 data: URL before sending.
     */
    inline_image_urls?: (boolean | null) | Reference;
    /**
     * Provider-neutral reasoning effort.
     */
    reasoning_effort?: string | null;
    /**
     * The level of detail for reasoning summaries.
     */
    reasoning_summary?: ('auto' | 'concise' | 'detailed' | null) | Template;
    /**
     * If True, ask for ['reasoning.encrypted_content'] in Responses API include.
     */
    enable_encrypted_reasoning?: (boolean | null) | Reference;
    /**
     * Retention policy for prompt cache.
     */
    prompt_cache_retention?: string | null;
    /**
     * Legacy token budget for models confirmed to use manual Anthropic extended thinking.
     */
    extended_thinking_budget?: (number | null) | Reference;
    /**
     * The seed to use for random number generation.
     */
    seed?: (number | null) | Reference;
    /**
     * Unique usage identifier for the LLM.
     */
    usage_id?: string | null;
    /**
     * Additional key-value pairs to pass to litellm's extra_body parameter.
     */
    litellm_extra_body?: {
      [k: string]: unknown;
    } | null;
    /**
     * Modify params allows litellm to do transformations like adding a default message, when a message is empty.
     */
    modify_params?: (boolean | null) | Reference;
  };
  /**
   * Tools available to the agent.
   */
  tools?:
    | {
        /**
         * Name of the tool class, e.g., 'TerminalTool'.
         */
        name: string | null;
        /**
         * Parameters for the tool's .create() method, e.g., {'working_dir': '/app'}
         */
        params?: {
          [k: string]: unknown;
        } | null;
      }[]
    | null;
  meta_profile?: {
    [k: string]: unknown;
  } | null;
  meta_profile_llms?: {
    [k: string]: unknown;
  } | null;
  /**
   * Maximum number of tool calls to execute concurrently per agent step. 1 = sequential (default).
   */
  tool_concurrency_limit?: (number | null) | Reference;
  /**
   * MCP servers to make available to the ACP subprocess.
   */
  mcp_config?: {
    [k: string]: McpServer;
  } | null;
  /**
   * What takes the place of the agent's own description of itself.
   */
  persona?: (string | null) | Template;
  /**
   * Prompt-only context for the ACP server. secrets here are advertised to the agent (names/descriptions) and reach the subprocess env through state.secret_registry: LocalConversation seeds agent_context.secrets into the registry at conversation init (below request.secrets), so callers that build the request outside Python (e.g. canvas-local) are covered too, not just the create_request path.
   */
  agent_context?: {
    /**
     * List of available skills that can extend the user's input.
     */
    skills?:
      | {
          name: string | null;
          content: string | null;
          /**
           * Trigger determines when skill content is auto-injected.
           */
          trigger?: {
            type?: ('keyword' | 'task' | 'path' | null) | Template;
            keywords?: string[] | null;
            triggers?: string[] | null;
            paths?: string[] | null;
          } | null;
          /**
           * The source path or identifier of the skill.
           */
          source?: string | null;
          /**
           * MCP servers for the skill (repo skills only).
           */
          mcp_tools?: {
            [k: string]: {
              url?: (string | null) | Template;
              transport?: ('stdio' | 'http' | 'streamable-http' | 'sse' | null) | Template;
              command?: (string | null) | Template;
              args?: string[] | null;
              env?: {
                [k: string]: string | null;
              } | null;
              cwd?: string | null;
              description?: string | null;
              icon?: string | null;
              timeout?: (number | null) | Reference;
              sse_read_timeout?: (number | null) | Reference;
              keep_alive?: (boolean | null) | Reference;
              headers?: {
                [k: string]: string | null;
              } | null;
              auth?: {
                strategy:
                  ('none' | 'api_key' | 'bearer' | 'basic' | 'header' | 'oauth2' | null) | Template;
                value?: string | null;
                header_name?: string | null;
                username?: string | null;
                password?: string | null;
                headers?: {
                  [k: string]: string | null;
                } | null;
                authentication?: {
                  type: ('oauth' | null) | Template;
                  client_auth_method?:
                    | (
                        | 'none'
                        | 'client_secret_post'
                        | 'client_secret_basic'
                        | 'private_key_jwt'
                        | null
                      )
                    | Template;
                  scopes?: (string | null) | Reference | (string[] | null);
                  client_name?: string | null;
                  client_metadata_url?: string | null;
                  client_id?: string | null;
                  client_secret?: string | null;
                  additional_client_metadata?: {
                    [k: string]: unknown;
                  } | null;
                } | null;
                state?: {
                  tokens?: {
                    access_token?: string | null;
                    refresh_token?: string | null;
                    [k: string]: unknown;
                  } | null;
                  client_info?: {
                    client_secret?: string | null;
                    [k: string]: unknown;
                  } | null;
                  token_expires_at?: (number | null) | Reference;
                } | null;
              } | null;
              /**
               * Whether this server is exposed to the agent.
               */
              enabled?: (boolean | null) | Reference;
            };
          } | null;
          /**
           * Input metadata for the skill (task skills only)
           */
          inputs?:
            | {
                /**
                 * Name of the input parameter
                 */
                name: string | null;
                /**
                 * Description of the input parameter
                 */
                description: string | null;
              }[]
            | null;
          /**
           * Whether this skill was loaded from a SKILL.md file following the AgentSkills standard.
           */
          is_agentskills_format?: (boolean | null) | Reference;
          /**
           * Skill version (AgentSkills standard field).
           */
          version?: string | null;
          /**
           * A brief description of what the skill does and when to use it.
           */
          description?: string | null;
          /**
           * The license under which the skill is distributed.
           */
          license?: string | null;
          /**
           * Environment requirements or compatibility notes for the skill.
           */
          compatibility?: string | null;
          /**
           * Arbitrary key-value metadata for the skill.
           */
          metadata?: {
            [k: string]: string | null;
          } | null;
          /**
           * List of pre-approved tools for this skill.
           */
          allowed_tools?: string[] | null;
          /**
           * Whether this skill can only be activated by trigger matching and should not be advertised to the model for direct invocation.
           */
          disable_model_invocation?: (boolean | null) | Reference;
          /**
           * Resource directories for the skill (scripts/, references/, assets/).
           */
          resources?: {
            /**
             * Root directory of the skill (absolute path)
             */
            skill_root: string | null;
            /**
             * List of script files in scripts/ directory (relative paths)
             */
            scripts?: string[] | null;
            /**
             * List of reference files in references/ directory (relative paths)
             */
            references?: string[] | null;
            /**
             * List of asset files in assets/ directory (relative paths)
             */
            assets?: string[] | null;
          } | null;
        }[]
      | null;
    /**
     * Optional suffix to append to the system prompt.
     */
    system_message_suffix?: string | null;
    /**
     * Optional suffix to append to the user's message.
     */
    user_message_suffix?: string | null;
    /**
     * Whether to automatically load user skills from ~/.openhands/skills/ and ~/.openhands/microagents/ (for backward compatibility).
     */
    load_user_skills?: (boolean | null) | Reference;
    /**
     * Whether to automatically load skills from the public OpenHands skills repository at https://github.com/OpenHands/extensions.
     */
    load_public_skills?: (boolean | null) | Reference;
    /**
     * Relative marketplace JSON path within the public skills repository.
     */
    marketplace_path?: string | null;
    /**
     * Marketplace registrations for plugin resolution.
     */
    registered_marketplaces?:
      | {
          /**
           * Identifier for this marketplace registration
           */
          name: string | null;
          /**
           * Marketplace source: 'github:owner/repo', git URL, or local path
           */
          source: string | null;
          /**
           * Optional branch, tag, or commit for git sources
           */
          ref?: string | null;
          /**
           * Subdirectory path within the git repository containing the marketplace.
           */
          repo_path?: string | null;
          /**
           * Whether to load marketplace plugins and standalone skills at conversation start.
           */
          auto_load?: (boolean | null) | Reference | (string[] | null);
        }[]
      | null;
    /**
     * Whether to automatically load project skills from the conversation workspace (e.g. .openhands/skills/, AGENTS.md).
     */
    load_project_skills?: (boolean | null) | Reference;
    /**
     * Whether to load persistent agent memory (MEMORY.md indexes under ~/.openhands/memory/ and <workspace>/.openhands/memory/) into the system prompt.
     */
    load_memory?: (boolean | null) | Reference;
    /**
     * Names of skills to EXCLUDE from this context — a deny-list applied after every skill source is loaded (auto-loaded user/public, explicit, and lazily-loaded project skills).
     */
    disabled_skills?: string[] | null;
    /**
     * Dictionary mapping secret keys to values or secret sources.
     */
    secrets?: {
      [k: string]: string | null;
    } | null;
  };
  /**
   * Condenser settings for the agent.
   */
  condenser?: {
    /**
     * Discriminator for the condenser settings union. 'llm_summarizing' selects the default LLM summarizing condenser.
     */
    condenser_kind?: ('llm_summarizing' | 'no_op' | null) | Template;
    /**
     * Whether long conversations are condensed.
     */
    enabled?: boolean | Reference;
    /**
     * How many events a conversation holds before it is condensed; at least 20. A later addition: the oldest servers do not have it.
     */
    max_size?: (number | null) | Reference;
    /**
     * Maximum number of tokens allowed before the condenser runs.
     */
    max_tokens?: (number | null) | Reference;
    /**
     * Minimum number of initial events to preserve before condensation.
     */
    keep_first?: (number | null) | Reference;
    /**
     * Minimum fraction of events that must be condensed for condensation to be considered successful.
     */
    minimum_progress?: (number | null) | Reference;
    /**
     * Number of hard context reset attempts before raising an error.
     */
    hard_context_reset_max_retries?: (number | null) | Reference;
    /**
     * Factor used to reduce event string size after a hard context reset summarization failure.
     */
    hard_context_reset_context_scaling?: (number | null) | Reference;
  };
  /**
   * Verification settings for the agent critic.
   */
  verification?: {
    /**
     * Enable critic evaluation for the agent.
     */
    critic_enabled?: (boolean | null) | Reference;
    /**
     * When critic evaluation should run.
     */
    critic_mode?: ('finish_and_message' | 'all_actions' | null) | Template;
    /**
     * Automatically retry tasks when critic scores fall below the threshold.
     */
    enable_iterative_refinement?: (boolean | null) | Reference;
    /**
     * Critic success threshold used for iterative refinement.
     */
    critic_threshold?: (number | null) | Reference;
    /**
     * Maximum number of refinement attempts after critic feedback.
     */
    max_refinement_iterations?: (number | null) | Reference;
    /**
     * Override the critic service URL.
     */
    critic_server_url?: string | null;
    /**
     * Override the critic model name.
     */
    critic_model_name?: string | null;
    /**
     * API key used to authenticate with the critic service.
     */
    critic_api_key?: string | null;
  };
  /**
   * The agent that works in new conversations.
   */
  agent?: string | null;
  /**
   * Enable the built-in route_task_to_model tool, which routes the task to the best LLM profile using the active meta-profile.
   */
  enable_classify_and_switch_llm_tool?: (boolean | null) | Reference;
  /**
   * Name of the active meta-profile (in ~/.openhands/meta-profiles) used by the route_task_to_model tool to route tasks to LLM profiles.
   */
  active_meta_profile?: string | null;
  /**
   * Which ACP-compatible backend to launch.
   */
  acp_server?:
    | ('claude-code' | 'codex' | 'gemini-cli' | 'kimi-code' | 'pi' | 'opencode' | 'custom' | null)
    | Template;
  /**
   * Optional explicit command to launch the ACP subprocess.
   */
  acp_command?: string[] | null;
  /**
   * Additional arguments appended to the ACP server command.
   */
  acp_args?: string[] | null;
  /**
   * Model identifier for the ACP server to use (e.g. 'sonnet' or 'gpt-5.5').
   */
  acp_model?: string | null;
  /**
   * Session mode ID (e.g. bypassPermissions).
   */
  acp_session_mode?: string | null;
  /**
   * Inactivity timeout (seconds) for a single ACP prompt() round-trip.
   */
  acp_prompt_timeout?: (number | null) | Reference;
  /**
   * Timeout (seconds) for ACP server startup: spawning the subprocess, the initialize/authenticate handshake, and new_session()/load_session().
   */
  acp_startup_timeout?: (number | null) | Reference;
  /**
   * Give the ACP subprocess a per-conversation CLI data/config root instead of the shared user HOME.
   */
  acp_isolate_data_dir?: (boolean | null) | Reference;
  /**
   * Reserved 'file-content' credential secrets the SDK materialises to disk before launching the ACP subprocess (e.g.
   */
  acp_file_secrets?:
    | {
        secret_name: (string | null) | Template;
        filename: (string | null) | Template;
        env_var: (string | null) | Template;
        subdir: (string | null) | Template;
        env_points_to?: ('dir' | 'file' | null) | Template;
        warn_if_unset?: string[] | null;
      }[]
    | null;
  /**
   * Enable sub-agent delegation via TaskToolSet.
   */
  enable_sub_agents?: (boolean | null) | Reference;
  /**
   * Enable the built-in switch_llm tool for switching between saved LLM profiles.
   */
  enable_switch_llm_tool?: (boolean | null) | Reference;
}
export interface McpServer {
  url?: (string | null) | Template;
  transport?: ('stdio' | 'http' | 'streamable-http' | 'sse' | null) | Template;
  command?: (string | null) | Template;
  args?: string[] | null;
  env?: {
    [k: string]: string | null;
  } | null;
  cwd?: string | null;
  description?: string | null;
  icon?: string | null;
  timeout?: (number | null) | Reference;
  sse_read_timeout?: (number | null) | Reference;
  keep_alive?: (boolean | null) | Reference;
  headers?: {
    [k: string]: string | null;
  } | null;
  auth?: McpAuth3;
  /**
   * Whether this server is exposed to the agent.
   */
  enabled?: (boolean | null) | Reference;
}
/**
 * What new conversations are started with.
 */
export interface ConversationSettings {
  /**
   * How many steps a conversation may take.
   */
  max_iterations?: (number | null) | Reference;
  /**
   * What examines an agent's actions before they run; null for nothing.
   */
  security_analyzer?: string | null;
  /**
   * Branch, tag or commit new worktrees branch from when worktree_base is ref, e.g. develop or origin/release.
   */
  worktree_base_ref?: (string | null) | Template;
  /**
   * Start of each worktree's branch name, which ends in the conversation id, e.g. openhands/ or me/.
   */
  worktree_branch_prefix?: (string | null) | Template;
  /**
   * The memory that the container of a new Docker conversation may use, as Docker takes it: 512m or 4g.
   */
  container_memory?: (string | null) | Template;
  /**
   * CPUs each new Docker conversation's container may use, from 0.01 up to the machine's CPU count.
   */
  container_cpus?: (number | null) | Reference;
  /**
   * Whether a person confirms an agent's actions before they run.
   */
  confirmation_mode?: (boolean | null) | Reference;
  /**
   * Where new conversations run: in the workspace on the host, in a new git worktree of it, or in their own Docker container (which needs a server that offers it).
   */
  default_runtime?: ('local' | 'worktree' | 'docker' | null) | Template;
  /**
   * What a new conversation worktree branches from: the repository's default branch, the checkout's current HEAD, or worktree_base_ref.
   */
  worktree_base?: ('default_branch' | 'head' | 'ref' | null) | Template;
  /**
   * Run a browser in new Docker conversations' containers.
   */
  container_browser?: (boolean | null) | Reference;
}
/**
 * What the server keeps for its clients, as it is.
 */
export interface MiscSettings {
  /**
   * What Agent Canvas keeps of its user; the server does not check it.
   */
  app_preferences?: {
    /**
     * The language of the user interface, as a code.
     */
    language?: string | null;
    /**
     * Whether usage may be sent for analytics. Once given, an answer can be changed but not withdrawn: the service has no way back to null.
     */
    user_consents_to_analytics?: (boolean | null) | Reference;
    /**
     * Whether the user interface makes a sound when a conversation needs attention.
     */
    enable_sound_notifications?: boolean | Reference;
    /**
     * The name that commits carry.
     */
    git_user_name?: string | null;
    /**
     * The address that commits carry.
     */
    git_user_email?: string | null;
    /**
     * The LLM profile that names conversations.
     */
    title_llm_profile?: string | null;
    /**
     * The names of skills that the client's user has turned off.
     */
    disabled_skills?: string[] | null;
    /**
     * The names of skills that the client's user has turned on.
     */
    enabled_skills?: string[] | null;
    [k: string]: unknown;
  };
  /**
   * The one member of misc_settings that the server reads.
   */
  telemetry?: {
    consent?: ('granted' | 'denied' | 'unset' | null) | Template;
    managed?: (boolean | null) | Reference;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Either a number of running sandboxes (running, with spec and surplus), or one sandbox by its id (with state).
 */
export interface Sandbox {
  /**
   * The sandbox spec this item counts and starts; without it, every sandbox that no other item claims, and the server's default spec.
   */
  spec?: string;
  /**
   * How many run, at least; with surplus: pause, exactly. Paused ones are resumed, oldest first, before new ones are started.
   */
  running?: number;
  /**
   * What happens to those above the number: they are kept, or paused. Never deleted.
   */
  surplus?: 'keep' | 'pause';
  /**
   * One sandbox, by its id.
   */
  id?: string;
  /**
   * The state of the sandbox named by id.
   */
  state?: 'running' | 'paused';
  /**
   * What to do if a sandbox to be paused has a running conversation: leave it alone, or pause it anyway.
   */
  when_busy?: 'skip' | 'pause';
}
/**
 * Seat belts against accidents: rules by which a plan refuses itself (exit 5). Each is turned on by its name or by protected, and off by its name; what is not turned on is a warning. apply --allow RULE lifts one for one run.
 */
export interface Guards {
  /**
   * The most changes that one apply may make.
   */
  max_changes?: number;
  /**
   * Refuse to remove a stored secret: a key, a token, an mcp entry or a part of one that holds a secret.
   */
  clear_secret?: boolean;
  /**
   * Refuse a write that cannot preserve something that the service holds and nobody can read back.
   */
  lose_unreadable?: boolean;
  /**
   * Refuse to point llm_base_url or an mcp server at another host, or llm_model at another provider whose address the service infers, while the key that is stored for it stays: the key would go there.
   */
  move_endpoint?: boolean;
  /**
   * Refuse to add or change what the service runs: stdio mcp servers and container images.
   */
  run_code?: boolean;
  /**
   * Refuse to turn off confirmation_mode, or to clear security_analyzer or set it to none.
   */
  disable_safety?: boolean;
  /**
   * Refuse to overwrite what somebody changed on the service since the file was last applied; detected with --base.
   */
  overwrite_drift?: boolean;
  /**
   * Refuse the first write to a service that has nothing stored: it may be the wrong one.
   */
  empty_store?: boolean;
  /**
   * Refuse to change agent_settings.agent_kind, with which the service resets all of agent_settings. On unless it is turned off here.
   */
  reset_agent?: boolean;
  /**
   * Refuse to write to a service that has no secret any more although some were written from here: an Agent Server answers so if it cannot decrypt them. On unless it is turned off here.
   */
  secrets_gone?: boolean;
  /**
   * Turn on every rule that is not turned off by its name.
   */
  protected?: boolean;
  /**
   * Refuse every write, with this message. No flag lifts it.
   */
  frozen?: string;
}
/**
 * What differs in this environment.
 */
export interface Environment {
  server?: Server;
  settings?: Settings;
  sandboxes?: SettingsFile1;
  guards?: Guards;
  unmanaged?: SettingsFile2;
}
