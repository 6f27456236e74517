import { Command, Option } from 'commander';
import { VERSION } from '../../reconciler/model/version.ts';
import {
  aboutFlag,
  COMMAND_NAMES,
  commandEntry,
  isCommand,
  type CommandName,
} from './command-table.ts';
import { flagSpec, type FlagName } from './flag-table.ts';
import type { Io } from './io.ts';

const EXAMPLES = `Examples:
  $ setpoint validate
  $ setpoint plan -e staging
  $ setpoint apply -e production --yes
  $ setpoint drift -o json`;

/** Takes a command line that is valid: the flags are those of the command, by their names and defaults in the table. */
export type TakeLine = (name: CommandName, flags: never, args: readonly string[]) => Promise<void>;

/** The command line, made from the table of commands. If `only` names a command, the others are left out. */
export function buildProgram(out: Io['stdout'], take: TakeLine, only?: string): Command {
  const program = new Command('setpoint')
    .description(
      "Keeps the settings and sandboxes of an agent platform's service equal to a committed settings.yaml.",
    )
    .version(`setpoint ${VERSION}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'Show the help of a command')
    .exitOverride()
    .configureOutput({ writeOut: (text) => out.write(text), writeErr: () => {} })
    .addHelpText(
      'after',
      `\n${EXAMPLES}\n\nsetpoint COMMAND --help lists the flags and the exit codes of a command.`,
    );
  for (const name of isCommand(only) ? [only] : COMMAND_NAMES) addCommand(program, name, take);
  return program;
}

function addCommand(program: Command, name: CommandName, take: TakeLine): void {
  const { argument, summary, example, flags, exits } = commandEntry(name);
  const command = program
    .command(argument === undefined ? name : `${name} ${argument.form}`)
    .summary(summary)
    .description(`${summary}.`)
    .helpCommand(false)
    .addHelpText('after', `\nExample:\n  $ ${example}\n\n${exitCodesText(exits)}`)
    .action(() => take(name, command.opts<never>(), command.args));
  for (const flag of flags) command.addOption(optionOf(name, flag));
}

function optionOf(command: CommandName, flag: FlagName): Option {
  const { short, value, repeatable, default: byDefault } = flagSpec(flag);
  const forms = short === undefined ? flag : `${short}, ${flag}`;
  const about = aboutFlag(command, flag);
  const option = new Option(value === undefined ? forms : `${forms} <${value}>`, about ?? '');
  if (about === null) option.hideHelp();
  if (byDefault !== undefined) option.default(byDefault);
  if (repeatable === true)
    option.argParser((text: string, before: readonly string[] | undefined) => [
      ...(before ?? []),
      text,
    ]);
  return option;
}

function exitCodesText(exits: Readonly<Record<number, string>>): string {
  const lines = Object.entries(exits).map(
    ([code, meaning]) => `  ${code === '130' ? '130, 143' : code} ${meaning}`,
  );
  return `Exit codes:\n${lines.join('\n')}`;
}
