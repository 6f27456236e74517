/** For each rule a recorded case that is otherwise without it. */
export const SHOWN_BY: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'agent-server': {
    'settings: pointers are stored as they are sent':
      'profiles: the active one deleted while others are left',
    'settings: another kind of agent begins with none of its settings':
      'agent_kind acp: the mcp servers taken along',
    'settings: a diff of the agent is merged, and null gives the default back':
      'X-Expose-Secrets: "encrypted"',
    'settings: a diff of the conversation is merged, and null is a value':
      'X-Expose-Secrets: "encrypted"',
    'settings: misc_settings are merged, and null at the top is a value':
      'X-Expose-Secrets: "encrypted"',
    'settings: an agent of another maker has no meta profile':
      'meta profiles: create, activate, overwrite, delete',
    'settings: the pointer to a meta profile turns its tool on and copies nothing; null takes both away':
      'meta profiles',
    'settings: active_profile merges the llm of the profile, unless an llm is sent beside it':
      'profiles: names that differ in case are two',
    'mcp: a server is stored anew': '/mcp/{key}: masks',
    'mcp: a diff of a server is merged; null and blank inside auth say nothing':
      'mcp: a header changed keeps the others',
    'mcp: a server is removed': '/mcp/{key}: names',
    'secrets: what is put again loses a description that is not sent':
      'secrets: a description cannot be changed without the value',
    'secrets: one is removed': 'secrets: names of values that the server reads by itself',
    'connections: one is made, under an id of the server and of the provider custom by itself':
      'connections: the order, two with one name',
    'connections: what is not sent stays, and blank takes the key away':
      'agent profiles: an llm profile whose connection is broken or without a key',
    'connections: one is removed': 'connections: in use by two profiles and the settings',
    'llm profiles: a profile is replaced whole, with its secrets':
      'profiles: the list, its order and members',
    'llm profiles: one with a connection has no key and no address of its own':
      'provider connections: used by a profile',
    'llm profiles: one is renamed': 'profiles: the active one renamed',
    'llm profiles: a rename takes the pointer along':
      'profiles: renamed while a profile list is declared: key, pointer and agent profiles go along',
    'llm profiles: agent profiles follow a rename, and no meta profile does':
      'agent profiles: a renamed llm profile is followed, the revision stays',
    'llm profiles: one is removed': 'profiles: names that differ in case are two',
    'llm profiles: a removal clears the pointer, and the llm stays':
      'profiles: the active one deleted while others are left',
    'llm profiles: activation moves the pointer': 'profiles: activated twice',
    'llm profiles: activation replaces the llm of the settings, key and address too':
      'profiles: the active one overwritten, the settings keep the old llm',
    'meta profiles: a profile is replaced whole': 'meta profiles: a member left out falls back',
    'meta profiles: activation copies the profile into the settings':
      'meta profiles: the active one deleted',
    'meta profiles: activation turns the tool on':
      'meta profiles: create, activate, overwrite, delete',
    'meta profiles: one is removed': 'meta profiles: names',
    'meta profiles: removal of the active one clears copy, pointer and tool':
      'meta profiles: the active one deleted',
    'agent profiles: a profile is replaced whole': 'mcp: removing one that an agent profile names',
    'agent profiles: the id stays, and the revision counts stores':
      'agent profiles: saved twice the same counts the revision',
    'agent profiles: the key of a critic is dropped':
      'mcp: removing one that an agent profile names',
    'agent profiles: a tool is kept once': 'agent profiles: tools twice',
    'agent profiles: one is renamed, and keeps id and revision':
      'agent profiles: the active one renamed: the pointer is its id',
    'agent profiles: activation moves the pointer alone':
      'agent profiles: renamed, id and pointer stay',
    'agent profiles: one is removed':
      'agent profiles: the default deleted while another is active stays away',
    'agent profiles: with the active one settings of another maker go, but for the mcp servers':
      'agent profiles: deleting the active one while acp resets agent_settings',
    'agent profiles: without the active one another takes over, default if need be made anew':
      'agent profiles: the default deleted comes back',
    'agent profiles: the list makes one active while none is': 'agent profiles: names',
    'llm: azure brings api_version': 'profiles: what the server fills in',
    'acp: an agent of another maker has the files of its keys by itself':
      'agent_kind acp: the mcp servers taken along',
    'mcp: members that are none, and empty maps, go': 'X-Expose-Secrets: "encrypted"',
    'tools: parameters that are none are empty': 'agent profiles: a tool with params null',
    'llm: the address of OpenAI itself is stored as none': 'profiles: what the server fills in',
    'llm: timeout brings stream_idle_timeout where none is stored or sent':
      'llm.timeout: a stored stream_idle_timeout does not follow it',
    'types: what is left out has its default': 'X-Expose-Secrets: "encrypted"',
    'types: an unknown member is dropped, unless the server has stored it':
      'dotted keys are not paths',
    'types: a blank secret is none': 'llm.api_key: "   " after a value',
  },
  'app-server': {
    'settings: what is not sent stays; what is sent at the top is stored as it is':
      'two sparse writers keep each other',
    'settings: v1_enabled is true again with each store that does not send it':
      'store every field, then load',
    'settings: profiles are taken once settings are stored':
      'profiles: an active one that is edited',
    'settings: null leaves the consent and disabled skills as they are':
      'disabled skills: replaced whole, null keeps, [] empties',
    'settings: a blank key is none': 'search_api_key: empty string after a value',
    'settings: sandbox_api_key is stored as its own mask, and lost': 'store every field, then load',
    'settings: another kind of agent begins with none of its settings': 'profiles: while acp',
    'settings: a diff of the agent is merged, but its mcp servers are replaced whole':
      'store every field, then load',
    'settings: a diff of the conversation is merged, and null gives the default back':
      'store every field, then load',
    'settings: marketplaces are stored whole, as personal ones': 'registered_marketplaces',
    'settings: a store after which the llm is not that of the active profile ends it':
      'profiles: an active one that is edited',
    'settings: a store fills in the address of the provider, which stays':
      'unknown members of the diffs',
    'llm profiles: a profile is replaced whole; without a body it is the llm of the settings':
      'profiles: saved twice the same',
    'llm profiles: the key alone stays where none is sent':
      'profiles: the active one saved with the same values loses the pointer',
    'llm profiles: include_secrets false takes the key away':
      'profiles: include_secrets false clears the key',
    'llm profiles: a store of the active one from a body ends it':
      'profiles: the active one saved with the same values loses the pointer',
    'llm profiles: a store of any ends one whose llm is not that of the settings':
      'pointer, active with base_url: itself saved from the settings with include_secrets false',
    'llm profiles: one is renamed in its place': 'profiles: the order is that of creation',
    'llm profiles: a rename takes the pointer along':
      'pointer, active without base_url: itself renamed, then a store of settings',
    'llm profiles: activation replaces the llm of the settings, key and all':
      'profiles: an active one that is edited',
    'llm profiles: activation fills in the address of the provider':
      'pointer, active without base_url: nothing else',
    'llm profiles: one is removed': 'profiles: deleted twice',
    'llm profiles: with the active one gone the first of those left takes over, key and all':
      'profiles: the active one deleted: the first of those left takes over, key and all',
    'secrets: what is stored again keeps a description that is not sent':
      'secrets: created before any settings',
    'secrets: another name or description keeps the value, and moves to the end':
      'secrets: renamed without a description',
    'secrets: one is removed': 'secrets: case matters',
    'git providers: the map is replaced, and an empty token keeps the stored one':
      'providers: one confirmed',
    'git providers: all are removed': 'providers: deleted, the custom secrets stay',
    'llm: azure brings api_version':
      'pointer, active without base_url: a store of settings, model azure/x',
    'acp: an agent of another maker has the files of its keys by itself': 'profiles: while acp',
    'mcp: members that are none, and empty maps, go': 'store every field, then load',
    'types: what is left out has its default': 'registered_marketplaces',
    'types: an unknown member is dropped, unless the server has stored it':
      'marketplaces: defaults and every member',
    'types: a blank secret is none': 'llm.api_key: "" after a value',
  },
  'settings-v0': {
    'settings: a store replaces the record': 'two sparse writers wipe each other',
    'settings: the model, its address, keys and the consent stay where none is sent':
      'a sparse store resets what it leaves out',
    'settings: secrets_store is dropped': 'secrets_store with a provider token',
    'secrets: what is stored again keeps a description that is not sent': 'secrets: create, list',
    'secrets: another name or description keeps the value, and moves to the end':
      'secrets: renamed by PUT, the value goes along',
    'secrets: one is removed': 'secrets: deleted',
    'git providers: the map is replaced, and an empty token keeps the stored one':
      'git providers: an empty token, one left out',
    'mcp: blanks around an address go': 'mcp_config: url with blanks around',
    'types: what is left out has its default': 'mcp_config: empty object',
    'types: an unknown member is dropped, unless the server has stored it':
      'mcp: an entry with a name',
    'types: a blank secret is none': 'llm_api_key: blanks after a value',
  },
};
