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
  '--data': {
    value: 'file',
    about: 'keep the store in a file; in memory without it',
    completion: 'files',
  },
} as const;
