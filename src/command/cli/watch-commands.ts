import { STATE_FILTERS } from '../../reconciler/model/verdict.ts';
import { BASIC_FORMATS, REPORTING, SELECTION } from './command-entry.ts';

const FOLDER = { '--data': 'folder' } as const;

/** The flags that control how a controller shows and reports its findings. */
const SHOWING = ['--listen', '--probes', '--tls', '--allow-actions', '--notify'] as const;

const MAX_FAILURES =
  'an edit reaches no more environments once more than this failed, a number or a share of those that it reached (default: 10%)';

/** The commands of a controller and its journal, as rows of the table of commands. */
export const WATCH_COMMANDS = {
  watch: {
    argument: { form: '[plan.json]', completion: 'files' },
    summary:
      'Run the controller: read every environment at intervals, record what it finds, fix drift where the file allows it; with a saved plan, only what it approves',
    example: 'setpoint watch -f settings.yaml --interval 5m --data /var/lib/setpoint',
    flags: [
      ...SELECTION,
      '--all',
      '--timeout',
      '--max-file-size',
      '--dotenv',
      '--parallel',
      '--shard',
      '--interval',
      '--soak',
      '--max-failures',
      '--strict',
      '--git',
      '--ref',
      '--data',
      '--lock',
      ...SHOWING,
      '--policy',
      '--wait',
      '--output',
      '--no-color',
      '--quiet',
    ],
    takes: FOLDER,
    about: {
      '--all': null,
      '--data': 'folder of the journal, the locks and the suspensions (default: .setpoint/watch)',
      '--max-failures': MAX_FAILURES,
      '--parallel': 'environments in parallel (default: 8)',
      '--quiet': 'only warnings',
      '--strict': 'count what cannot be compared: such an environment is unknown, not in sync',
    },
    formats: BASIC_FORMATS,
    exits: {
      0: 'stopped by a signal',
      1: 'failed',
      3: 'usage, settings or references not valid',
    },
  },
  controller: {
    summary:
      'Watch the SettingsTargets of a cluster: show the plan of each in its status, and apply if the object allows it',
    example: 'setpoint controller --data /var/lib/setpoint --listen 127.0.0.1:8080',
    flags: [
      '--namespace',
      '--all-namespaces',
      '--policy',
      '--timeout',
      '--parallel',
      '--interval',
      '--soak',
      '--max-failures',
      '--strict',
      '--data',
      '--state-secret',
      '--lock',
      ...SHOWING,
      '--output',
      '--no-color',
      '--quiet',
    ],
    takes: FOLDER,
    about: {
      '--namespace': 'the namespace whose objects are watched (default: that of the pod)',
      '--data': 'folder of the journal and the suspensions (default: .setpoint/watch)',
      '--interval':
        'time between two reads of an object that does not set it, from 10s to 24h (default: 5m)',
      '--lock':
        'lease=SCOPE separates its locks from those of controllers that watch others of the same names',
      '--max-failures': MAX_FAILURES,
      '--parallel': 'objects in parallel (default: 8)',
      '--quiet': 'only warnings',
      '--strict': 'count what cannot be compared: such an object is unknown, not in sync',
    },
    formats: BASIC_FORMATS,
    exits: {
      0: 'stopped by a signal',
      1: 'failed',
      3: 'usage not valid',
    },
  },
  status: {
    argument: { form: '[state]', completion: { words: STATE_FILTERS } },
    summary:
      'List what a controller watches, the worst first: state, since when, what differs, why it is not healed; with a state, those in it',
    example: 'setpoint status attention --data /var/lib/setpoint',
    flags: ['--env', '--selector', '--data', '--server', '--timeout', '--exit-code', ...REPORTING],
    takes: FOLDER,
    about: {
      '--data': 'folder of the controller, which need not run (default: .setpoint/watch)',
      '--server': 'the address of the page of a running controller, instead of --data',
      '--exit-code': 'exit 2 if an environment in the list needs attention',
      '--verbose': 'long lines in full, and also environments in sync',
    },
    formats: BASIC_FORMATS,
    exits: {
      0: 'done',
      1: 'failed',
      2: 'an environment needs attention (with --exit-code)',
      3: 'usage not valid, or no journal',
      4: 'the page refused the token',
      9: 'timed out',
      130: 'interrupted',
    },
  },
  history: {
    argument: { form: '[path]', completion: 'paths' },
    summary:
      'Show what setpoint watch and apply --journal recorded: what changed, when, by which commit',
    example: 'setpoint history -e production llm_model --data /var/lib/setpoint',
    flags: ['--env', '--data', ...REPORTING],
    takes: FOLDER,
    about: {
      '--data': 'folder of the journal (default: .setpoint/watch)',
      '--verbose': 'all records, and long values in full',
    },
    formats: BASIC_FORMATS,
    exits: { 0: 'done', 1: 'failed', 3: 'usage not valid, or no journal' },
  },
  suspend: {
    argument: { form: '<reason>', completion: { words: [] } },
    summary: 'Stop setpoint watch from healing an environment and from sending notices about it',
    example: 'setpoint suspend -e production --until 2h "provider is moving"',
    flags: ['--env', '--data', '--until', '--by', '--force', '--quiet'],
    takes: FOLDER,
    about: {
      '--data': 'folder of the controller (default: .setpoint/watch)',
      '--force': 'also suspend a name that no controller has read',
    },
    exits: { 0: 'done', 1: 'failed', 3: 'usage not valid, or a name is not known' },
  },
  resume: {
    summary: 'End a suspension, and let setpoint watch heal again where it had stopped',
    example: 'setpoint resume -e production',
    flags: ['--env', '--data', '--by', '--quiet'],
    takes: FOLDER,
    about: { '--data': 'folder of the controller (default: .setpoint/watch)' },
    exits: { 0: 'done', 1: 'failed', 3: 'usage not valid, or a name is not known' },
  },
} as const;
