// Generated from schemas/settings.schema.json by `npm run generate`. Do not edit.
/**
 * Text with references inside; $${ writes ${ itself.
 */
export type Template = string;
/**
 * A value from outside the file: ${env:NAME}, ${env:NAME:-default}, ${file:PATH} or ${secret:NAME/PATH}. Where a list of text stands, it is split at commas.
 */
export type Reference = string;
/**
 * A token and the host that it is for; null removes it. The service shows a new token to the product before it stores it.
 */
export type GitProvider = {
  token: SecretReference;
  /**
   * The host of a product of your own, without https://; null: the public one. Left out, the one that is stored stays.
   */
  host?: string | null;
  user_id?: SecretReference1;
} | null;
/**
 * The provider's token. The server does not show it.
 */
export type SecretReference = string;
/**
 * The user that the token belongs to. It is sent with a new token, and the server does not show it.
 */
export type SecretReference1 = string;
/**
 * One reference, or a reference as value and a description beside it; null removes the secret.
 */
export type CustomSecret =
  | string
  | {
      value: SecretReference2;
      /**
       * What the secret is for. Without it, the description that the service has is kept.
       */
      description?: string;
    }
  | null;
/**
 * One reference, ${env:NAME}, ${file:PATH} or ${secret:NAME/PATH}; never the secret itself.
 */
export type SecretReference2 = string;
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
 * How the server is shown who calls. A new entry with api_key alone has the strategy api_key without a header name; one that has another keyed strategy keeps it.
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
export type ShttpServer =
  | McpUrl
  | {
      url: McpUrl;
      api_key?: McpApiKey;
      /**
       * How long a call may take, in seconds. Servers of settings-v0 take a whole number from 1 to 3600; the oldest have no timeout.
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
      auth?: McpAuth;
      /**
       * Whether this server is exposed to the agent.
       */
      enabled?: (boolean | null) | Reference;
    };
/**
 * One skill, plugin or canvas extension. It replaces the whole entry: what it leaves out has its default. Null removes it.
 */
export type Installed = {
  /**
   * Where the service fetches it from: a repository, or a folder of its own.
   */
  source?: string;
  /**
   * The branch, tag or commit. A service tells of whole commits alone; a branch or tag is compared with what was last written. Left out, it is the default branch.
   */
  ref?: string | null;
  /**
   * The folder in the source that holds it. Left out, it is the source itself.
   */
  repo_path?: string | null;
  /**
   * Whether it is in use.
   */
  enabled?: boolean;
} | null;
/**
 * One connection; null removes it.
 */
export type ProviderConnection = {
  /**
   * The provider, such as anthropic. Left out, it is custom for a new one, and what is stored otherwise.
   */
  provider?: string;
  /**
   * The key, without which the server makes no new one. The server does not show it; null clears it.
   */
  api_key?: string | null;
  /**
   * The address, for a provider of your own. Left out, the one that is stored stays; null clears it.
   */
  base_url?: string | null;
} | null;
/**
 * One profile. It replaces the whole entry: what it leaves out has its default, except the key, which stays. Its members are those of settings.agent_settings.llm. Null removes it.
 */
export type LlmProfile = {
  /**
   * The model, such as openai/gpt-5.
   */
  model?: string;
  /**
   * The provider connection whose address and key it uses, by its name in provider_connections.
   */
  connection?: string;
  /**
   * The key of the model's provider. Left out, the one that is stored stays; null takes it away.
   */
  api_key?: string | null;
  /**
   * The address of the model.
   */
  base_url?: string | null;
} | null;
/**
 * One meta profile. It replaces the whole entry: what it leaves out is taken away. Null removes it.
 */
export type MetaProfile = {
  /**
   * The LLM profile that decides, by its name.
   */
  classifier?: string;
  /**
   * The kinds of tasks in their order, and the LLM profile for each.
   */
  classes?: {
    /**
     * The kind of task, in words.
     */
    description: string;
    /**
     * The LLM profile for it, by its name.
     */
    model: string;
  }[];
  /**
   * A question of your own to the classifier, with {{ instance_text }} in it. It takes the place of classes.
   */
  prompt_template?: string | null;
  /**
   * What {{ model_table }} in the question stands for: the LLM profiles to choose from, in words.
   */
  model_table?: string | null;
} | null;
/**
 * One agent profile. It replaces the whole entry: what it leaves out has its default. Null removes it.
 */
export type AgentProfile = {
  /**
   * The kind of agent. One of kind acp has the members that begin with acp_, mcp_servers and secrets, and no others.
   */
  agent_kind?: 'openhands' | 'acp';
  /**
   * The LLM profile, by its name. An agent of kind openhands needs one.
   */
  llm_profile?: string;
  /**
   * The mcp servers that it may use, by name; null for all, [] for none.
   */
  mcp_servers?: (string[] | null) | Reference;
  /**
   * The custom secrets that it is given, by name; null for all, [] for none.
   */
  secrets?: (string[] | null) | Reference;
  /**
   * The meta profile by which it chooses models, by its name.
   */
  meta_profile?: string | null;
  /**
   * The class of the agent.
   */
  agent?: string;
  /**
   * The tools that it has; null for the usual ones, [] for none.
   */
  tools?:
    | {
        /**
         * The tool.
         */
        name: string;
        /**
         * What it is set up with.
         */
        params?: {};
      }[]
    | null;
  /**
   * Text that takes the place of the agent's own persona.
   */
  persona?: string | null;
  /**
   * Text that the system message ends with.
   */
  system_message_suffix?: string | null;
  /**
   * Skills that it does not get, by name.
   */
  disabled_skills?: string[] | Reference;
  /**
   * The public skills that it gets, by name; null for all, [] for none.
   */
  public_skills?: (string[] | null) | Reference;
  /**
   * How its history is shortened.
   */
  condenser?: {
    /**
     * Whether a model sums it up, or nothing does.
     */
    condenser_kind?: 'llm_summarizing' | 'no_op';
    /**
     * Whether it is shortened.
     */
    enabled?: boolean;
    /**
     * Events from which on it is.
     */
    max_size?: number;
    /**
     * Tokens from which on it is.
     */
    max_tokens?: number | null;
    /**
     * Events at its beginning that stay.
     */
    keep_first?: number;
    /**
     * The part of it that must go.
     */
    minimum_progress?: number;
    /**
     * How often it is tried again with less.
     */
    hard_context_reset_max_retries?: number;
    /**
     * How much less each time.
     */
    hard_context_reset_context_scaling?: number;
  };
  /**
   * Whether a critic judges what it does. The critic has the key of the LLM profile.
   */
  verification?: {
    /**
     * Whether there is one.
     */
    critic_enabled?: boolean;
    /**
     * When it judges.
     */
    critic_mode?: 'finish_and_message' | 'all_actions';
    /**
     * Whether the agent tries again after a low score.
     */
    enable_iterative_refinement?: boolean;
    /**
     * The lowest score that is good enough.
     */
    critic_threshold?: number;
    /**
     * How often it tries again.
     */
    max_refinement_iterations?: number;
    /**
     * The address of the critic.
     */
    critic_server_url?: string | null;
    /**
     * The model of the critic.
     */
    critic_model_name?: string | null;
  };
  /**
   * Whether it may hand a task to another model by the meta profile.
   */
  enable_classify_and_switch_llm_tool?: boolean;
  /**
   * Tools that it may run at once.
   */
  tool_concurrency_limit?: number;
  /**
   * The program behind an agent of kind acp.
   */
  acp_server?: 'claude-code' | 'codex' | 'gemini-cli' | 'kimi-code' | 'pi' | 'opencode' | 'custom';
  /**
   * The model that the program is told to use.
   */
  acp_model?: string | null;
  /**
   * The mode of its sessions.
   */
  acp_session_mode?: string | null;
  /**
   * Seconds without an update until a prompt is given up.
   */
  acp_prompt_timeout?: number;
  /**
   * Seconds that it may take to start.
   */
  acp_startup_timeout?: number;
  /**
   * The command that starts it, if it is not the usual one.
   */
  acp_command?: string | null;
  /**
   * Further arguments of the command.
   */
  acp_args?: (string[] | null) | Reference;
} | null;
/**
 * A folder that contains workspaces; null takes it off the list. The folder itself is not touched. What it leaves out stays.
 */
export type WorkspaceParent = {
  /**
   * Its name in the list. Left out, a new one has the last part of its path.
   */
  display_name?: string;
} | null;
/**
 * A folder; null takes it off the list. The folder itself is not touched. What it leaves out stays.
 */
export type Workspace = {
  /**
   * Its name in the list. Left out, a new one has the last part of its path.
   */
  display_name?: string;
  /**
   * The path of the workspace parent in which it was found; null for none.
   */
  parent?: string | null;
} | null;
/**
 * A source of events; null removes it. What it leaves out stays, and has its default in a new one.
 */
export type Webhook = {
  /**
   * Its name in lists. Left out, a new one has its source as its name.
   */
  display_name?: string;
  secret?: SecretReference3;
  /**
   * The JMESPath of the name of an event in its body.
   */
  event_key_expr?: string;
  /**
   * The header that has the signature.
   */
  signature_header?: string;
  /**
   * How events are signed.
   */
  signature_scheme?: 'hmac_sha256_hex' | 'standard_webhooks' | 'slack_v0';
  /**
   * The header by which events that come twice are known; null for none. Automation services have it from 1.26.
   */
  event_id_header?: string | null;
  /**
   * Whether its events are taken. Left out, it is not managed. The secret of one that is off cannot be compared.
   */
  enabled?: boolean;
} | null;
/**
 * The secret by which its events are signed, 8 to 255 characters. A new webhook needs it. It is compared by an empty event that is signed with it; another one replaces the webhook.
 */
export type SecretReference3 = string;
/**
 * A prompt, and either cron or event; null removes it. What it leaves out stays, and has its default in a new one.
 */
export type Automation = {
  /**
   * What the agent is asked.
   */
  prompt?: string;
  /**
   * The schedule: five fields, six with seconds, or a word such as @daily. It takes the place of event; null for none.
   */
  cron?: string | null;
  /**
   * The IANA time zone of cron.
   */
  timezone?: string;
  /**
   * The event that starts it, instead of cron; null for none. What it leaves out has its default.
   */
  event?: {
    /**
     * Where it comes from: a source of webhooks, or one that the service has built in, such as github.
     */
    source: string;
    /**
     * The events, by name; * for all.
     */
    events: [string, ...string[]] | Reference;
    /**
     * A JMESPath that an event must meet.
     */
    filter?: string | null;
    /**
     * Whether each event starts a run, or goes on with the conversation of its subject.
     */
    destination?: 'dispatch_run' | 'continue_conversation';
    /**
     * The JMESPath of the subject of an event.
     */
    subject_key_expr?: string | null;
    /**
     * The JMESPath of the text that an event adds to the conversation.
     */
    turn_text_expr?: string | null;
    /**
     * Whether an event wakes the agent.
     */
    wake_agent?: boolean;
  } | null;
  /**
   * The LLM profile, by its name; null for the one of the service. It takes the place of agent_profile.
   */
  model?: string | null;
  /**
   * The agent profile, by its name; null for none. It takes the place of model.
   */
  agent_profile?: string | null;
  /**
   * The repositories that the agent works in.
   */
  repos?: {
    /**
     * The address of a repository, or owner/name with a provider.
     */
    url: string;
    /**
     * Where owner/name is.
     */
    provider?: 'github' | 'gitlab' | 'bitbucket' | 'azure_devops';
    /**
     * The branch, tag or commit.
     */
    ref?: string;
  }[];
  /**
   * How long a run may take, in seconds.
   */
  timeout?: number;
  /**
   * Whether the sandbox stays after a run. An event with destination continue_conversation needs true.
   */
  keep_alive?: boolean;
  /**
   * What it is for; null clears it. Automation services have it from 1.26.
   */
  description?: string | null;
  /**
   * Tags, in small letters. Automation services have them from 1.26.
   */
  tags?:
    | []
    | [string]
    | [string, string]
    | [string, string, string]
    | [string, string, string, string]
    | [string, string, string, string, string]
    | [string, string, string, string, string, string]
    | [string, string, string, string, string, string, string]
    | [string, string, string, string, string, string, string, string]
    | [string, string, string, string, string, string, string, string, string]
    | [string, string, string, string, string, string, string, string, string, string]
    | Reference;
  /**
   * Whether it runs by itself. Left out, a new one does, and it is not managed after that. One that the service switched off after failures is switched on only by apply --rotate.
   */
  enabled?: boolean;
} | null;
/**
 * Items that have another name than before. What the service has under the former name is renamed, so that keys, pointers and what names it go along. An entry that is done changes nothing more.
 */
export type Moved = Move[];
/**
 * The names of skills that new conversations do without. This is all that the service has: one that is not listed is removed.
 */
export type DisabledSkills = string[] | Reference;
/**
 * Sandboxes that run or are paused. None is ever deleted. Items by id claim theirs first, then those by spec; an item without spec counts the rest.
 */
export type SettingsFile2 = Sandbox[];
/**
 * Paths under settings that are not managed even if they are declared: a field (language) or an mcp entry (mcp_config.sse_servers[https://corp.example.com/sse]).
 */
export type SettingsFile3 = string[];

/**
 * The desired settings, named items and sandboxes of an OpenHands server: the app server or the Agent Server. What is absent is not managed and never changed; null clears; [] and {} are empty.
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
   * A base file this one is merged over, or a list of them, each over those before it: one level, under the working directory. A base has no server and no environments.
   */
  extends?: string | string[];
  /** Keys and values by which -l selects environments, in the form of Kubernetes' labels. */
  labels?: SettingsFile1;
  /** The service that this file is applied to, and how to reach it. */
  server?: Server;
  /** The fields of the service's Settings resource, and under agent_settings, conversation_settings and misc_settings what later servers have besides, in their own nesting. */
  settings?: Settings;
  /** Custom secrets: values that the service hands to what runs in its sandboxes, by name. */
  secrets?: Secrets1;
  /** Skills that the service installs for its agents, by the name that their source gives them. */
  skills?: Skills;
  /** Plugins that the service installs for its agents, by the name that their source gives them. */
  plugins?: Plugins;
  /** Apps that the service installs for the pages of Agent Canvas, by the name that their source gives them. */
  canvas_extensions?: CanvasExtensions;
  /** Tokens by which the service reads and writes repositories, by the product. */
  git_providers?: GitProviders1;
  /** Addresses and keys of model providers that LLM profiles share, by name. */
  provider_connections?: ProviderConnections;
  /** Models with their settings, by name. */
  llm_profiles?: LlmProfiles;
  /** Which model answers which kind of task, by name. */
  meta_profiles?: MetaProfiles;
  /** Agents by name: the model, the mcp servers and the secrets that each works with. */
  agent_profiles?: AgentProfiles;
  /** Which profile of each kind is active, by its name. */
  active?: Active;
  /** Folders of the service whose folders Agent Canvas offers as workspaces, by path. */
  workspace_parents?: WorkspaceParents;
  /** Folders of the service that Agent Canvas offers for a conversation, by path. */
  workspaces?: Workspaces;
  /** Sources of events for automations, by source. */
  webhooks?: Webhooks;
  /** Prompts that an agent runs on a schedule or an event, by name. */
  automations?: Automations;
  /** What becomes of the items that a service has and the file does not name, for each block that names items. */
  collections?: Collections;
  /** Items that have another name than before. */
  moved?: Moved;
  /** MCP servers by name: programs and addresses. */
  mcp_servers?: McpServers;
  /** Where plugins and skills come from, by name. */
  marketplaces?: Marketplaces;
  /** The names of skills that new conversations do without. */
  disabled_skills?: DisabledSkills;
  /** Sandboxes that run or are paused. */
  sandboxes?: SettingsFile2;
  /** Seat belts against accidents: rules that stop a dangerous plan (exit 5). */
  guards?: Guards;
  /** How setpoint watch keeps watch over an environment. */
  watch?: Watch;
  /** How setpoint render makes objects of Kubernetes. */
  kubernetes?: Kubernetes;
  /** Paths under settings that are not managed even if they are declared: a field (language) or an mcp entry (mcp_config.sse_servers[https://corp.example.com/sse]). */
  unmanaged?: SettingsFile3;
  /**
   * One block for each environment, merged over the blocks above: maps merge by key, scalars and lists replace.
   */
  environments?: {
    [k: string]: Environment;
  };
}
/**
 * Keys and values by which -l selects environments, in the form of Kubernetes' labels. They are merged by key over those of the blocks above, and change nothing of a plan.
 */
export interface SettingsFile1 {
  /**
   * Text: quote numbers, true and false.
   */
  [k: string]: string;
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
   * Headers that an access proxy in front of the service needs; each value is one reference, which Bearer, Basic, Token or ApiKey may precede.
   */
  headers?: {
    [k: string]: string;
  };
  /**
   * A PEM file of certificate authorities to trust in addition to those that Node trusts (built in, NODE_EXTRA_CA_CERTS, NODE_USE_SYSTEM_CA); relative to this file.
   */
  ca_file?: string;
  /**
   * The client certificate for a server that asks for one (mTLS), with its intermediate certificates: a PEM file, relative to this file, or a reference to the path or to the PEM text. Used for https: alone, together with client_key.
   */
  client_cert?: string;
  /**
   * The private key of client_cert, without a passphrase: a PEM file, relative to this file, or a reference to the path or to the PEM text. It is never sent or shown.
   */
  client_key?: string;
  /**
   * The settings API of the service: settings-v0, app-server, agent-server, or auto. settings-v0 is GET and POST /api/settings, as releases up to 1.6 have it; app-server is /api/v1/settings, from 1.9 on; agent-server is GET and PATCH /api/settings of the Agent Server, from 1.31 on. auto finds out and writes nothing for it; a declared one saves that request.
   */
  dialect?: 'auto' | 'settings-v0' | 'app-server' | 'agent-server';
  /**
   * The base address of the automation service, if it is not that of url. It is sent the same key and headers.
   */
  automation_url?: Template;
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
   * The key for the model's provider. The server does not show it; llm_api_key_set reports whether one is stored.
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
   * The key for the search provider. The server does not show it; search_api_key_set reports whether one is stored.
   */
  search_api_key?: string | null;
  /**
   * The key for the sandbox provider. The server does not show it, and no flag reports whether one is stored; a write that leaves it out wipes it. Declared, as a reference or as null, it is sent with every write.
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
  /**
   * The agent of new conversations.
   */
  agent_settings?: {
    agent_kind?: ('openhands' | 'acp' | null) | Template;
    llm?: {
      model?: string | null;
      api_key?: string | null;
      provider_connection_id?: string | null;
      auth_type?: ('api_key' | 'subscription' | null) | Template;
      subscription_vendor?: ('openai' | null) | Template;
      base_url?: string | null;
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
      timeout?: (number | null) | Reference;
      stream_idle_timeout?: (number | null) | Reference;
      max_message_chars?: (number | null) | Reference;
      temperature?: (number | null) | Reference;
      top_p?: (number | null) | Reference;
      top_k?: (number | null) | Reference;
      max_input_tokens?: (number | null) | Reference;
      max_output_tokens?: (number | null) | Reference;
      model_canonical_name?: string | null;
      api_mode?: ('auto' | 'chat' | 'responses' | null) | Template;
      capability_overrides?: {
        [k: string]: boolean | null | string;
      } | null;
      extra_headers?: {
        [k: string]: string | null;
      } | null;
      input_cost_per_token?: (number | null) | Reference;
      output_cost_per_token?: (number | null) | Reference;
      ollama_base_url?: string | null;
      stream?: (boolean | null) | Reference;
      drop_params?: (boolean | null) | Reference;
      disable_vision?: (boolean | null) | Reference;
      disable_stop_word?: (boolean | null) | Reference;
      caching_prompt?: (boolean | null) | Reference;
      log_completions?: (boolean | null) | Reference;
      log_completions_folder?: string | null;
      custom_tokenizer?: string | null;
      native_tool_calling?: (boolean | null) | Reference;
      force_string_serializer?: (boolean | null) | Reference;
      inline_image_urls?: (boolean | null) | Reference;
      reasoning_effort?: string | null;
      reasoning_summary?: ('auto' | 'concise' | 'detailed' | null) | Template;
      enable_encrypted_reasoning?: (boolean | null) | Reference;
      prompt_cache_retention?: string | null;
      extended_thinking_budget?: (number | null) | Reference;
      seed?: (number | null) | Reference;
      usage_id?: string | null;
      litellm_extra_body?: {
        [k: string]: unknown;
      } | null;
      modify_params?: (boolean | null) | Reference;
    };
    tools?:
      | {
          name: string | null;
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
    tool_concurrency_limit?: (number | null) | Reference;
    mcp_config?: {
      [k: string]: McpServer;
    } | null;
    persona?: (string | null) | Template;
    agent_context?: {
      skills?:
        | {
            name: string | null;
            content: string | null;
            trigger?: {
              type?: ('keyword' | 'task' | 'path' | null) | Template;
              keywords?: Reference | (string[] | null);
              triggers?: Reference | (string[] | null);
              paths?: Reference | (string[] | null);
            } | null;
            source?: string | null;
            mcp_tools?: {
              [k: string]: {
                url?: (string | null) | Template;
                transport?: ('stdio' | 'http' | 'streamable-http' | 'sse' | null) | Template;
                command?: (string | null) | Template;
                args?: Reference | (string[] | null);
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
                    | ('none' | 'api_key' | 'bearer' | 'basic' | 'header' | 'oauth2' | null)
                    | Template;
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
                enabled?: (boolean | null) | Reference;
              };
            } | null;
            inputs?:
              | {
                  name: string | null;
                  description: string | null;
                }[]
              | null;
            is_agentskills_format?: (boolean | null) | Reference;
            version?: string | null;
            description?: string | null;
            license?: string | null;
            compatibility?: string | null;
            metadata?: {
              [k: string]: string | null;
            } | null;
            allowed_tools?: Reference | (string[] | null);
            disable_model_invocation?: (boolean | null) | Reference;
            resources?: {
              skill_root: string | null;
              scripts?: Reference | (string[] | null);
              references?: Reference | (string[] | null);
              assets?: Reference | (string[] | null);
            } | null;
          }[]
        | null;
      system_message_suffix?: string | null;
      user_message_suffix?: string | null;
      load_user_skills?: (boolean | null) | Reference;
      load_public_skills?: (boolean | null) | Reference;
      marketplace_path?: string | null;
      registered_marketplaces?:
        | {
            name: string | null;
            source: string | null;
            ref?: string | null;
            repo_path?: string | null;
            auto_load?: (boolean | null) | Reference | (string[] | null);
          }[]
        | null;
      load_project_skills?: (boolean | null) | Reference;
      load_memory?: (boolean | null) | Reference;
      disabled_skills?: Reference | (string[] | null);
      secrets?: {
        [k: string]: string | null;
      } | null;
    };
    condenser?: {
      condenser_kind?: ('llm_summarizing' | 'no_op' | null) | Template;
      enabled?: boolean | Reference;
      max_size?: (number | null) | Reference;
      max_tokens?: (number | null) | Reference;
      keep_first?: (number | null) | Reference;
      minimum_progress?: (number | null) | Reference;
      hard_context_reset_max_retries?: (number | null) | Reference;
      hard_context_reset_context_scaling?: (number | null) | Reference;
    };
    verification?: {
      critic_enabled?: (boolean | null) | Reference;
      critic_mode?: ('finish_and_message' | 'all_actions' | null) | Template;
      enable_iterative_refinement?: (boolean | null) | Reference;
      critic_threshold?: (number | null) | Reference;
      max_refinement_iterations?: (number | null) | Reference;
      critic_server_url?: string | null;
      critic_model_name?: string | null;
      critic_api_key?: string | null;
    };
    agent?: string | null;
    enable_classify_and_switch_llm_tool?: (boolean | null) | Reference;
    active_meta_profile?: string | null;
    acp_server?:
      | ('claude-code' | 'codex' | 'gemini-cli' | 'kimi-code' | 'pi' | 'opencode' | 'custom' | null)
      | Template;
    acp_command?: Reference | (string[] | null);
    acp_args?: Reference | (string[] | null);
    acp_model?: string | null;
    acp_session_mode?: string | null;
    acp_prompt_timeout?: (number | null) | Reference;
    acp_startup_timeout?: (number | null) | Reference;
    acp_isolate_data_dir?: (boolean | null) | Reference;
    acp_file_secrets?:
      | {
          secret_name: (string | null) | Template;
          filename: (string | null) | Template;
          env_var: (string | null) | Template;
          subdir: (string | null) | Template;
          env_points_to?: ('dir' | 'file' | null) | Template;
          warn_if_unset?: Reference | (string[] | null);
        }[]
      | null;
    enable_sub_agents?: (boolean | null) | Reference;
    enable_switch_llm_tool?: (boolean | null) | Reference;
  };
  /**
   * What new conversations are started with.
   */
  conversation_settings?: {
    max_iterations?: (number | null) | Reference;
    security_analyzer?: string | null;
    worktree_base_ref?: (string | null) | Template;
    worktree_branch_prefix?: (string | null) | Template;
    container_memory?: (string | null) | Template;
    container_cpus?: (number | null) | Reference;
    confirmation_mode?: (boolean | null) | Reference;
    default_runtime?: ('local' | 'worktree' | 'docker' | null) | Template;
    worktree_base?: ('default_branch' | 'head' | 'ref' | null) | Template;
    container_browser?: (boolean | null) | Reference;
  };
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
  disabled_skills?: Reference | (string[] | null);
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
 * The user's secrets, in the words of the specification: the same as the blocks git_providers and secrets. A file uses one of the two.
 */
export interface SecretsStore {
  provider_tokens?: GitProviders;
  custom_secrets?: Secrets;
}
/**
 * What git_providers declares, in the words of the specification.
 */
export interface GitProviders {
  [k: string]: GitProvider;
}
/**
 * What secrets declares, in the words of the specification.
 */
export interface Secrets {
  [k: string]: CustomSecret;
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
  auth?: McpAuth;
  /**
   * Whether this server is exposed to the agent.
   */
  enabled?: (boolean | null) | Reference;
}
export interface McpServer {
  url?: (string | null) | Template;
  transport?: ('stdio' | 'http' | 'streamable-http' | 'sse' | null) | Template;
  command?: (string | null) | Template;
  args?: Reference | (string[] | null);
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
    disabled_skills?: Reference | (string[] | null);
    /**
     * The names of skills that the client's user has turned on.
     */
    enabled_skills?: Reference | (string[] | null);
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
 * Custom secrets: values that the service hands to what runs in its sandboxes, by name. Those that are not named are left alone.
 */
export interface Secrets1 {
  [k: string]: CustomSecret;
}
/**
 * Skills that the service installs for its agents, by the name that their source gives them. Those that are not named are left alone.
 */
export interface Skills {
  [k: string]: Installed;
}
/**
 * Plugins that the service installs for its agents, by the name that their source gives them. Those that are not named are left alone.
 */
export interface Plugins {
  [k: string]: Installed;
}
/**
 * Apps that the service installs for the pages of Agent Canvas, by the name that their source gives them. Those that are not named are left alone.
 */
export interface CanvasExtensions {
  [k: string]: Installed;
}
/**
 * Tokens by which the service reads and writes repositories, by the product. Those that are not named are kept.
 */
export interface GitProviders1 {
  [k: string]: GitProvider;
}
/**
 * Addresses and keys of model providers that LLM profiles share, by name. Those that are not named are left alone.
 */
export interface ProviderConnections {
  [k: string]: ProviderConnection;
}
/**
 * Models with their settings, by name. Those that are not named are left alone.
 */
export interface LlmProfiles {
  [k: string]: LlmProfile;
}
/**
 * Which model answers which kind of task, by name. Those that are not named are left alone.
 */
export interface MetaProfiles {
  [k: string]: MetaProfile;
}
/**
 * Agents by name: the model, the mcp servers and the secrets that each works with. Those that are not named are left alone.
 */
export interface AgentProfiles {
  [k: string]: AgentProfile;
}
/**
 * Which profile of each kind is active, by its name. It is made active after all else is written.
 */
export interface Active {
  /**
   * The LLM profile; null for none.
   */
  llm_profile?: string | null;
  /**
   * The agent profile.
   */
  agent_profile?: string | null;
  /**
   * The meta profile; null for none.
   */
  meta_profile?: string | null;
}
/**
 * Folders of the service whose folders Agent Canvas offers as workspaces, by path. Those that are not named are left alone.
 */
export interface WorkspaceParents {
  [k: string]: WorkspaceParent;
}
/**
 * Folders of the service that Agent Canvas offers for a conversation, by path. Those that are not named are left alone.
 */
export interface Workspaces {
  [k: string]: Workspace;
}
/**
 * Sources of events for automations, by source. Those that are not named are left alone.
 */
export interface Webhooks {
  [k: string]: Webhook;
}
/**
 * Prompts that an agent runs on a schedule or an event, by name. Those that are not named are left alone.
 */
export interface Automations {
  [k: string]: Automation;
}
/**
 * What becomes of the items that a service has and the file does not name, for each block that names items.
 */
export interface Collections {
  secrets?: Collection;
  git_providers?: Collection;
  provider_connections?: Collection;
  llm_profiles?: Collection;
  meta_profiles?: Collection;
  agent_profiles?: Collection;
  skills?: Collection;
  plugins?: Collection;
  mcp_servers?: Collection;
  webhooks?: Collection;
  automations?: Collection;
  canvas_extensions?: Collection;
  workspace_parents?: Collection;
  workspaces?: Collection;
}
/**
 * What becomes of the items of one block that the file does not name.
 */
export interface Collection {
  /**
   * keep: they are left alone. remove: an apply removes them, unless the guard remove_others refuses.
   */
  others?: 'keep' | 'remove';
}
/**
 * One item, by its former name and by the name that the file declares it under.
 */
export interface Move {
  /**
   * The block and the former name: llm_profiles.main, or llm_profiles["gpt-5.1"].
   */
  from: string;
  /**
   * The same block and the new name.
   */
  to: string;
}
/**
 * MCP servers by name: programs and addresses. Those that are not named are left alone; null removes one. Beside these the settings declare no mcp servers.
 */
export interface McpServers {
  [k: string]: null | McpServer;
}
/**
 * Where plugins and skills come from, by name. This is all that the service has: one that is not named is removed.
 */
export interface Marketplaces {
  [k: string]: null | Marketplace;
}
export interface Marketplace {
  /**
   * github:owner/repo, the address of a git repository, or a path on the server.
   */
  source?: string;
  /**
   * A branch, tag or commit, for git sources.
   */
  ref?: string | null;
  /**
   * The folder of the repository that holds the marketplace.
   */
  repo_path?: string | null;
  /**
   * Whether its plugins and skills are loaded when a conversation starts; a list of names loads those alone, on an Agent Server.
   */
  auto_load?: boolean | Reference | string[];
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
 * Seat belts against accidents: rules that stop a dangerous plan (exit 5). Each is turned on by its name or by protected, and off by its name; what is not turned on is a warning. apply --allow RULE lifts one for one run.
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
   * Refuse to remove what a service has and the file does not name, where collections says others: remove. A saved plan that has these removals lifts it. On unless it is turned off here.
   */
  remove_others?: boolean;
  /**
   * Refuse to write llm_api_key, search_api_key or the key of an LLM profile where every member of an organisation gets it: on a service that keeps settings for members. On unless it is turned off here.
   */
  shared_key?: boolean;
  /**
   * Refuse a changed model, key of a model or mcp server that the service has not tried and found to work: apply with --check, or apply a plan that was saved with it. A service that tries nothing can prove nothing. Not turned on by protected: a check costs something.
   */
  unproven?: boolean;
  /**
   * Turn on every rule but unproven that is not turned off by its name.
   */
  protected?: boolean;
  /**
   * Refuse every write, with this message. No flag lifts it.
   */
  frozen?: string;
}
/**
 * How setpoint watch keeps watch over an environment. Other commands ignore it.
 */
export interface Watch {
  /**
   * What is done if the service differs: detect reports it; heal also applies the file, as far as guards, policy and an approved plan allow. Default: detect.
   */
  mode?: 'detect' | 'heal';
  /**
   * How often the service is read: a number with s, m or h, from 10s to 24h. Default: that of --interval, 5m.
   */
  interval?: string;
  /**
   * When healing may write: days, hours and a time zone, such as Mon-Fri 08:00-18:00 Europe/Berlin. Default: always. An empty list: never.
   *
   * @maxItems 50
   */
  windows?: string[];
  /**
   * How often in an hour the environment may be healed of drift, whatever the paths. Then healing stops until setpoint resume, because another client keeps changing it. Default: 3.
   */
  max_heals_per_hour?: number;
  /**
   * Whether what cannot be compared, such as a secret that the service does not show, counts: an environment in which all else is as declared is unknown then, and not in sync. Default: that of --strict, false.
   */
  strict?: boolean;
  /**
   * Whether healing may remove what the service keeps by name, such as secrets, profiles, mcp servers, marketplaces and disabled skills: whether the file says null, leaves a name out of a list, or says others: remove. Without it, an environment in which one is to be removed is reported and not healed.
   */
  remove?: boolean;
}
/**
 * How setpoint render makes objects of Kubernetes. Other commands ignore it.
 */
export interface Kubernetes {
  /**
   * The namespace of the objects. Absent: the client decides, such as kubectl by its context.
   */
  namespace?: string;
  /**
   * The Secret that has the values of all references, by the names of their variables or files.
   */
  secret?: string;
  /**
   * The name of the Role that lets the Secrets be read (default: setpoint-secrets).
   */
  role?: string;
  /**
   * Where the values of single references are. A key is a reference without ${ and }.
   */
  references?: {
    [k: string]: KubernetesReference;
  };
}
/**
 * A key of a Secret.
 */
export interface KubernetesReference {
  /**
   * The Secret (default: that for all).
   */
  secret?: string;
  /**
   * The key in it (default: the name of the variable or of the file).
   */
  key?: string;
}
/**
 * What differs in this environment.
 */
export interface Environment {
  labels?: SettingsFile1;
  server?: Server;
  settings?: Settings;
  secrets?: Secrets1;
  skills?: Skills;
  plugins?: Plugins;
  git_providers?: GitProviders1;
  provider_connections?: ProviderConnections;
  llm_profiles?: LlmProfiles;
  meta_profiles?: MetaProfiles;
  agent_profiles?: AgentProfiles;
  active?: Active;
  collections?: Collections;
  moved?: Moved;
  mcp_servers?: McpServers;
  marketplaces?: Marketplaces;
  disabled_skills?: DisabledSkills;
  sandboxes?: SettingsFile2;
  guards?: Guards;
  watch?: Watch;
  kubernetes?: Kubernetes;
  unmanaged?: SettingsFile3;
  webhooks?: Webhooks;
  automations?: Automations;
  canvas_extensions?: CanvasExtensions;
  workspace_parents?: WorkspaceParents;
  workspaces?: Workspaces;
}
