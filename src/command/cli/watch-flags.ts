/** The flags of a controller and its journal, as rows of the table of flags. */
export const WATCH_FLAGS = {
  '--interval': {
    value: 'time',
    about: 'time between two reads of an environment, from 10s to 24h (default: 5m)',
  },
  '--soak': {
    value: 'time',
    about:
      'how long an environment must stay as declared after an edit before the next ring gets it (default: 1m; 0 writes an edit to all at once)',
  },
  '--git': {
    value: 'repository',
    about: 'follow a branch of this repository, a folder or an address: -f names files in it',
  },
  '--ref': {
    value: 'branch[:commit]',
    about:
      'the branch that --git follows (default: main); after an intended rewrite, with the commit to continue from',
  },
  '--all-namespaces': { about: 'watch the objects of all namespaces' },
  '--state-secret': {
    value: 'name',
    about:
      'the Secret in its namespace with the key for fingerprints of written secrets; filled if it is empty',
  },
  '--listen': {
    value: 'address[=url]',
    about:
      'serve the page, metrics and health here, such as 127.0.0.1:8080; behind a proxy, with its https address: 0.0.0.0:8080=https://setpoint.example.com',
  },
  '--probes': {
    value: 'address',
    about:
      'serve /healthz and /readyz on this separate port, without a login: 0.0.0.0:8081; 0.0.0.0:8081/metrics also serves /metrics',
  },
  '--tls': {
    value: 'cert,key',
    about: 'certificate and key of the page, two PEM files: tls.crt,tls.key',
    completion: 'files',
  },
  '--allow-actions': {
    about: 'let those who log in on the page read, plan, apply, suspend and resume',
  },
  '--notify': {
    value: 'file',
    about: 'notification settings: a file from outside the branch',
    completion: 'files',
  },
  '--lock': {
    value: 'place[=scope]',
    about:
      'where the lock of each environment is: file, or lease in a cluster (default there); a scope such as lease=team-a separates it from controllers that watch others of the same names',
    completion: { words: ['file', 'lease'] },
  },
  '--journal': {
    value: 'folder',
    about: 'record what was written in this folder, for setpoint history',
    completion: 'files',
  },
  '--until': {
    value: 'time',
    about:
      'when it ends automatically: 30m, 2h, 3d, or a time such as 2026-01-31T18:00:00Z (default: never)',
  },
  '--by': {
    value: 'name',
    about: 'your name, for the page and the history (default: the user of a pipeline)',
  },
} as const;
