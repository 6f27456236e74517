/** The flags of the embedded service, as rows of the table of flags. */
export const SERVE_FLAGS = {
  '--port': { value: 'n', default: '3000', about: 'port; 0 takes a free one' },
  '--host': { value: 'address', default: '127.0.0.1', about: 'address to listen on' },
  '--api-key': { value: 'key', about: 'require this key (also SESSION_API_KEY)' },
  '--server-mcp': {
    value: 'file',
    about: 'JSON with mcp entries that the server owns',
    completion: 'files',
  },
  '--allow-host': {
    value: 'name',
    repeatable: true,
    about: 'answer to this Host too; repeatable',
  },
  '--dialect': {
    value: 'name',
    about:
      'the settings API that it has: settings-v0, app-server or agent-server (default: settings-v0)',
    completion: 'dialects',
  },
  '--organization': {
    value: 'name',
    about: 'keep the settings of the members of an organisation: of an app-server, in memory',
  },
  '--member': {
    value: 'role=key',
    repeatable: true,
    about: 'a member by its role (owner, admin or member) and its key; repeatable',
  },
  '--start-ms': {
    value: 'n',
    about: 'milliseconds that a sandbox is STARTING (default: 500)',
  },
  '--becomes': {
    value: 'state',
    about:
      'the state that a started sandbox reaches: running, flapping, starting, error or missing (default: running)',
    completion: 'served states',
  },
  '--max-running': {
    value: 'n',
    about: 'pause the oldest sandboxes if more would run (default: none)',
  },
  '--empty-lists': {
    value: 'n',
    about: 'answer the first n lists of sandboxes as empty (default: 0)',
  },
  '--page-size': { value: 'n', about: 'most items on a page (default: 100)' },
  '--require-ids': { about: 'list conversations only by their ids, as real servers do' },
  '--run-ms': {
    value: 'n',
    about: 'milliseconds that an agent works on an initial message (default: 2000)',
  },
  '--spec': {
    value: 'id',
    repeatable: true,
    about: 'a sandbox spec, the first is the default; repeatable',
  },
  '--git-provider': {
    value: 'name[@host]=text',
    repeatable: true,
    about:
      'a git provider that accepts every token with this text in it, such as github@git.example.com=good; repeatable (default: none, so that every token is refused)',
  },
  '--model': {
    value: 'name=text',
    repeatable: true,
    about:
      'a model that works with every key with this text in it, such as openai/gpt-5=good; repeatable (default: none works)',
  },
  '--mcp-server': {
    value: 'place=text',
    repeatable: true,
    about:
      'an mcp server that works with every secret with this text in it, by its address or its command with arguments; repeatable (default: none works)',
  },
  '--data': {
    value: 'file',
    about: 'keep the store in a file; in memory without it',
    completion: 'files',
  },
} as const;
