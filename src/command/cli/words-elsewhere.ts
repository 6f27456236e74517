import type { Variables } from '../../reconciler/model/ports.ts';
import { didYouMean } from '../../reconciler/model/wording.ts';
import type { FlagName } from './flag-table.ts';

const UNDO = 'Take the commit back with git revert, then run setpoint apply.';

/** The names of commands in other tools, and words that a person might try. */
const COMMANDS_ELSEWHERE: Readonly<Record<string, string>> = {
  lint: 'validate',
  check: 'validate',
  test: 'validate',
  preview: 'plan',
  diff: 'plan',
  up: 'apply',
  deploy: 'apply',
  sync: 'apply',
  refresh: 'drift',
  import: 'pull',
  show: 'get',
  list: 'get',
  export: 'init, or get',
  rotate: 'apply --rotate PATH',
  secrets: 'get secrets',
  logs: 'history',
  upgrade: 'version',
  update: 'version',
  fmt: 'validate',
};

/** Tasks that other tools do by a command of their own, and setpoint by another way. */
const WAYS_ELSEWHERE: Readonly<Record<string, string>> = {
  undo: UNDO,
  rollback: UNDO,
  revert: UNDO,
  promote:
    'Merge the file of one environment into that of the next, then run setpoint apply -e NAME.',
};

/** The names of flags in other tools and of earlier versions, and what does the same here. */
export const FLAGS_ELSEWHERE: Readonly<Record<string, string>> = {
  '--auto-approve': '--yes',
  '--approve': '--yes',
  '--force': '--yes',
  '--json': '-o json',
  '--format': '-o FORMAT',
  '--environment': '--env',
  '--target': '--env',
  '-t': '--env',
  '--label': '--selector',
  '--labels': '--selector',
  '--config': '--file',
  '--url': '--server',
  '--detailed-exit-code': '--exit-code',
  '--detailed-exitcode': '--exit-code',
  '--keep-going': '--max-failures 100%',
  '--live': '--check',
  '--host': '--port ADDRESS:PORT',
  '--no-wait': '--wait 0s',
  '--tls-cert': '--tls CERT,KEY',
  '--tls-key': '--tls CERT,KEY',
  '--public-url': '--listen ADDRESS=URL',
  '--probe-metrics': '--probes ADDRESS/metrics',
  '--lock-scope': '--lock PLACE=SCOPE',
  '--git-from': '--ref BRANCH:COMMIT',
};

/** Node reads `--env-file` anywhere on its command line, before setpoint does: it loads the file, NODE_OPTIONS included. */
const TAKEN_BY_NODE =
  'Use --dotenv FILE: Node reads --env-file for itself, before setpoint starts.';

const ENDS_WITH_2 =
  'Leave it out: drift exits with 2 if there is drift, and --fail-on sets what counts.';

/** Returns the meaning of an unknown command as a sentence; null if it cannot be guessed. */
export function commandMeant(word: string): string | null {
  const way = Object.hasOwn(WAYS_ELSEWHERE, word) ? WAYS_ELSEWHERE[word] : undefined;
  const meant = Object.hasOwn(COMMANDS_ELSEWHERE, word) ? COMMANDS_ELSEWHERE[word] : undefined;
  return way ?? (meant === undefined ? null : `Did you mean ${meant}?`);
}

/** Returns the meaning of an unknown flag; `flags` are those that the command has. */
export function flagMeant(flag: string, flags: readonly FlagName[]): string | null {
  if (flag.startsWith('--env-file')) return TAKEN_BY_NODE;
  if (flag === '--exit-code' && flags.includes('--fail-on')) return ENDS_WITH_2;
  // Terraform writes long flags with one dash.
  if (/^-[a-z]{2}/.test(flag)) return flagMeant(`-${flag}`, flags);
  const elsewhere = Object.hasOwn(FLAGS_ELSEWHERE, flag) ? (FLAGS_ELSEWHERE[flag] ?? '') : '';
  const name = elsewhere.replace(/ .*/, '').replace(/^-o$/, '--output');
  return flags.some((one) => one === name)
    ? `Did you mean ${elsewhere}?`
    : didYouMean(flag, flags) || null;
}

/** Variables of earlier versions that chose what a command does, each with its flag. One that is ignored would widen a run. */
const FORMER_VARIABLES: Readonly<Record<string, FlagName>> = {
  SETPOINT_FILE: '--file',
  SETPOINT_ENV: '--env',
  SETPOINT_SELECTOR: '--selector',
  SETPOINT_SHARD: '--shard',
  SETPOINT_OUTPUT: '--output',
  SETPOINT_TIMEOUT: '--timeout',
  SETPOINT_SERVER: '--server',
};

/** Returns a variable of an earlier version that is set, with the flag that a command has for it; null if none is. */
export function findFormerVariable(
  env: Variables,
  flags: readonly FlagName[],
): { readonly name: string; readonly flag: FlagName } | null {
  const found = Object.entries(FORMER_VARIABLES).find(
    ([name, flag]) => (env[name] ?? '') !== '' && flags.includes(flag),
  );
  return found === undefined ? null : { name: found[0], flag: found[1] };
}
