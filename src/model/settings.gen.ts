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
    };
/**
 * The server's address: http, https, ws or wss, and a host. Spaces around it do not count.
 */
export type McpUrl = Template;
/**
 * The server's key. Absent: what the service has is kept; null: none.
 */
export type McpApiKey = string | null;
export type ShttpServer =
  | McpUrl
  | {
      url: McpUrl;
      api_key?: McpApiKey;
      /**
       * How long a call may take, in seconds, from 1 to 3600. A later addition: the oldest servers do not have it.
       */
      timeout?: (number | null) | Reference;
    };
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
   * The service's base address, with a path prefix if a proxy adds one; or embedded: (kept in .setpoint/embedded.json) or embedded:PATH for the service inside setpoint.
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
   * How the service speaks of its settings: settings-v0 is GET and POST /api/settings, as releases up to 1.6 have it; app-server is /api/v1/settings, from 1.9 on. auto finds out and writes nothing for it; a declared one saves that request.
   */
  dialect?: 'auto' | 'settings-v0' | 'app-server';
}
/**
 * The fields of the service's Settings resource. What is absent is not managed.
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
}
/**
 * The user's secrets, as references only. Tokens are read back by the keys of provider_tokens_set; a server that drops what it was sent is reported as not converged.
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
   * Refuse to point llm_base_url or an mcp server at another host while the key that is stored for it stays: the key would go there.
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
