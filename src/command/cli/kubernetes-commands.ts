import { SELECTION, type CommandEntry } from './command-entry.ts';

/** The commands that are about objects of Kubernetes. */
export const KUBERNETES_COMMANDS = {
  render: {
    argument: { form: '[crd]', completion: { words: ['crd'] } },
    summary:
      'Print the settings as objects of Kubernetes, offline: SettingsTargets, and a Role for the Secrets that they name; crd: the definitions alone',
    example: 'setpoint render -e production --secret agents --namespace agents',
    flags: [
      ...SELECTION,
      '--namespace',
      '--secret',
      '--crd',
      '--krm',
      '--max-file-size',
      '--output',
      '--no-color',
      '--quiet',
    ],
    formats: ['kubernetes', 'json'],
    exits: { 0: 'done', 1: 'failed', 3: 'usage or settings not valid' },
  },
} as const satisfies Readonly<Record<string, CommandEntry>>;
