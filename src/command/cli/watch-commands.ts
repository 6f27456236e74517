import { BASIC_FORMATS, REPORTING, SELECTION } from './command-entry.ts';

/** The commands of a controller and its journal, as rows of the table of commands. */
export const WATCH_COMMANDS = {
  watch: {
    summary:
      'Keep watch: read every environment again and again, remember what is found, heal where the file allows it',
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
      '--strict',
      '--git',
      '--ref',
      '--git-from',
      '--data',
      '--lock',
      '--lock-scope',
      '--listen',
      '--public-url',
      '--tls-cert',
      '--tls-key',
      '--allow-actions',
      '--no-environment-metrics',
      '--notify',
      '--approved',
      '--policy',
      '--wait',
      '--no-wait',
      '--output',
      '--no-color',
      '--quiet',
    ],
    about: {
      '--all': null,
      '--data': 'folder of the journal, the locks and the suspensions (default: .setpoint/watch)',
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
  history: {
    argument: { form: '[path]', completion: 'paths' },
    summary:
      'Show what setpoint watch and apply --journal recorded: what changed, when, by which commit',
    example: 'setpoint history -e production llm_model --data /var/lib/setpoint',
    flags: ['--env', '--data', '--limit', ...REPORTING],
    about: {
      '--data': 'folder of the journal (default: .setpoint/watch)',
      '--verbose': 'long values in full',
    },
    formats: BASIC_FORMATS,
    exits: { 0: 'done', 1: 'failed', 3: 'usage not valid, or no journal' },
  },
  suspend: {
    summary: 'Stop setpoint watch from healing an environment and from telling anybody of it',
    example: 'setpoint suspend -e production --reason "provider is moving" --until 2h',
    flags: ['--env', '--data', '--reason', '--until', '--force', '--quiet'],
    about: {
      '--data': 'folder of the controller (default: .setpoint/watch)',
      '--force': 'suspend a name that no controller has read, too',
    },
    exits: { 0: 'done', 1: 'failed', 3: 'usage not valid, or a name is not known' },
  },
  resume: {
    summary: 'End a suspension, and let setpoint watch heal again where it had stopped',
    example: 'setpoint resume -e production',
    flags: ['--env', '--data', '--quiet'],
    about: { '--data': 'folder of the controller (default: .setpoint/watch)' },
    exits: { 0: 'done', 1: 'failed', 3: 'usage not valid, or a name is not known' },
  },
} as const;
