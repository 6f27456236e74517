import { SELECTION, type CommandEntry } from './command-entry.ts';

/** The commands that are about objects of Kubernetes. */
export const KUBERNETES_COMMANDS = {
  render: {
    argument: { form: '[crd|krm]', completion: { words: ['crd', 'krm'] } },
    summary:
      'Print the settings as objects of Kubernetes, offline: SettingsTargets, and a Role for the Secrets that they name; crd: the definitions alone; krm: as a KRM function for kustomize and kpt, from stdin to stdout',
    example: 'setpoint render -e production --secret agents --namespace agents',
    flags: [
      ...SELECTION,
      '--namespace',
      '--secret',
      '--max-file-size',
      '--output',
      '--no-color',
      '--quiet',
    ],
    formats: ['kubernetes', 'json'],
    exits: { 0: 'done', 1: 'failed', 3: 'usage or settings not valid' },
  },
} as const satisfies Readonly<Record<string, CommandEntry>>;
