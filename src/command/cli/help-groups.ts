import type { CommandName } from './command-table.ts';
import type { FlagName } from './flag-table.ts';

/* Under which headings the help lists commands and flags, in the order of the headings. */

const COMMAND_GROUPS: Groups<CommandName> = [
  ['Every day:', ['validate', 'plan', 'apply', 'drift', 'pull', 'init']],
  ['Look:', ['get', 'explain', 'doctor']],
  ['Controller:', ['watch', 'status', 'history', 'suspend', 'resume']],
];

/** The flags that many commands have in common. What only a few take is between these, under `Options:`. */
const FLAG_GROUPS: Groups<FlagName> = [
  ['Which environments:', ['--file', '--env', '--selector', '--all', '--shard']],
  ['The service:', ['--server', '--dotenv', '--timeout', '--wait-ready']],
  [
    'Safety:',
    ['--yes', '--dry-run', '--if-empty', '--check', '--base', '--policy', '--without', '--allow'],
  ],
];
const LAST_FLAGS: Groups<FlagName> = [
  ['Result:', ['--exit-code', '--detailed-exitcode', '--fail-on', '--strict', '--output', '--out']],
  ['Text:', ['--no-color', '--quiet', '--verbose']],
  ['Limits:', ['--max-failures', '--keep-going', '--parallel', '--max-file-size']],
];

type Groups<Name> = readonly (readonly [heading: string, names: readonly Name[]])[];

/** A name with its heading. */
export interface Grouped<Name> {
  readonly name: Name;
  readonly heading: string;
}

export function groupedCommands(names: readonly CommandName[]): readonly Grouped<CommandName>[] {
  return grouped(names, COMMAND_GROUPS, 'Other:', []);
}

export function groupedFlags(names: readonly FlagName[]): readonly Grouped<FlagName>[] {
  return grouped(names, FLAG_GROUPS, 'Options:', LAST_FLAGS);
}

/** Names in the order of their headings: under one heading they keep theirs. */
function grouped<Name>(
  names: readonly Name[],
  first: Groups<Name>,
  rest: string,
  last: Groups<Name>,
): readonly Grouped<Name>[] {
  const named = new Set([...first, ...last].flatMap(([, group]) => group));
  const others = names.filter((name) => !named.has(name));
  return [...first, [rest, others] as const, ...last].flatMap(([heading, group]) =>
    names.filter((name) => group.includes(name)).map((name) => ({ name, heading })),
  );
}
