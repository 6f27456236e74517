/** The flags of the embedded service, as rows of the table of flags. */
export const SERVE_FLAGS = {
  '--port': {
    value: '[address:]n',
    default: '3000',
    about:
      'port, 0 takes a free one; with an address such as 0.0.0.0:3000 it listens there instead of 127.0.0.1',
  },
  '--api-key': { value: 'key', about: 'require this key (also SESSION_API_KEY)' },
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
