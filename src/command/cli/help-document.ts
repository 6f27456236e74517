import { ERRORS } from '../../reconciler/model/error.ts';
import { FORMAT_VERSION } from '../../reconciler/model/plan.ts';
import { aboutFlag, COMMAND_NAMES, commandEntry } from './command-table.ts';
import { flagSpec } from './flag-table.ts';

/** The document that `setpoint help -o json` prints: the tables of commands, flags, formats, exit codes and errors, for programs and agents. */
export function helpDocument(): object {
  return {
    format_version: FORMAT_VERSION,
    kind: 'help',
    commands: COMMAND_NAMES.map((name) => {
      const { argument, summary, example, flags, formats = [], exits } = commandEntry(name);
      return {
        name,
        argument: argument?.form ?? null,
        summary,
        example,
        flags: flags.map((flag) => {
          const { short = null, value = null, repeatable = false } = flagSpec(flag);
          return { name: flag, short, value, repeatable, about: aboutFlag(name, flag) };
        }),
        formats,
        exits,
      };
    }),
    errors: Object.entries(ERRORS).map(([code, entry]) => ({ code, ...entry })),
  };
}
