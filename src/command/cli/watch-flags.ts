import { STATE_FILTERS } from '../../reconciler/model/verdict.ts';

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
  '--approved': {
    value: 'plan.json',
    about: 'a saved plan that healing must not go beyond',
    completion: 'files',
  },
  '--git': {
    value: 'repository',
    about: 'follow a branch of this repository, a folder or an address: -f names files in it',
  },
  '--ref': { value: 'branch', about: 'the branch that --git follows (default: main)' },
  '--all-namespaces': { about: 'watch the objects of all namespaces' },
  '--state-secret': {
    value: 'name',
    about:
      'the Secret in its namespace whose member key is the key of fingerprints of written secrets; created if absent',
  },
  '--git-from': {
    value: 'commit',
    about: 'the commit that the branch must continue, after it was rewritten on purpose',
  },
  '--listen': {
    value: 'address',
    about: 'serve the page, metrics and health here, such as 127.0.0.1:8080',
  },
  '--probes': {
    value: 'address',
    about: 'serve /healthz and /readyz on this separate port, without a login: 0.0.0.0:8081',
  },
  '--probe-metrics': { about: 'also serve /metrics on the port of --probes, without a login' },
  '--public-url': { value: 'url', about: 'the https address of the proxy before the page' },
  '--tls-cert': { value: 'file', about: 'certificate of the page, PEM', completion: 'files' },
  '--tls-key': { value: 'file', about: 'key of the page, PEM', completion: 'files' },
  '--allow-actions': {
    about: 'let those who log in on the page read, plan, apply, suspend and resume',
  },
  '--notify': {
    value: 'file',
    about: 'notification settings: a file from outside the branch',
    completion: 'files',
  },
  '--no-environment-metrics': { about: 'metrics without series of each environment' },
  '--lock': {
    value: 'place',
    about: 'where the lock of each environment is: file, or lease in a cluster (default there)',
    completion: { words: ['file', 'lease'] },
  },
  '--lock-scope': {
    value: 'name',
    about:
      'locks apart from those of other controllers in the same place, which watch others of the same names',
  },
  '--journal': {
    value: 'folder',
    about: 'record what was written in this folder, for setpoint history',
    completion: 'files',
  },
  '--state': {
    value: 'state',
    about: 'only those of this state, such as attention, drift or suspended (default: any)',
    completion: { words: STATE_FILTERS },
  },
  '--limit': { value: 'n', about: 'most records to show, the latest first (default: 50)' },
  '--by': {
    value: 'name',
    about: 'who does it; the page and the history show it (default: the user of a pipeline)',
  },
  '--reason': { value: 'text', about: 'why; the page and the history show it' },
  '--until': {
    value: 'time',
    about:
      'when it ends automatically: 30m, 2h, 3d, or a time such as 2026-01-31T18:00:00Z (default: never)',
  },
} as const;
