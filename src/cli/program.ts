import { Command, Option } from 'commander';
import { endQuickly } from '../host/quick-end.ts';
import { VERSION } from '../model/version.ts';
import {
  aboutFlag,
  COMMAND_NAMES,
  commandEntry,
  isCommand,
  type CommandName,
  type Flags,
} from './command-table.ts';
import { flagSpec, type FlagName } from './flag-table.ts';
import type { Io } from './io.ts';

/** A command's work; resolves to its exit code. */
type Run<Name extends CommandName> = (
  flags: Flags<Name>,
  io: Io,
  ...args: readonly string[]
) => Promise<number>;

/** Each command's function, loaded when it runs. */
const RUN: { readonly [Name in CommandName]: () => Promise<Run<Name>> } = {
  validate: async () => (await import('./commands/validate.ts')).validateCommand,
  plan: async () => (await import('./commands/plan.ts')).planCommand,
  apply: async () => (await import('./commands/apply.ts')).applyCommand,
  drift: async () => (await import('./commands/drift.ts')).driftCommand,
  pull: async () => (await import('./commands/pull.ts')).pullCommand,
  init: async () => (await import('./commands/init.ts')).initCommand,
  get: async () => (await import('./commands/get.ts')).getCommand,
  explain: async () => (await import('./commands/explain.ts')).explainCommand,
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
  smoke: async () => (await import('./commands/smoke.ts')).smokeCommand,
  report: async () => (await import('./commands/report.ts')).reportCommand,
  comment: async () => (await import('./commands/comment.ts')).commentCommand,
  serve: async () => (await import('./commands/serve.ts')).serveCommand,
  schema: async () => (await import('./commands/schema.ts')).schemaCommand,
  completion: async () => (await import('./commands/completion.ts')).completionCommand,
  version: async () => (await import('./commands/version.ts')).versionCommand,
};

const EXAMPLES = `Examples:
  $ setpoint validate
  $ setpoint plan -e staging
  $ setpoint apply -e production --yes
  $ setpoint drift -o json`;

/**
 * The command line, made from the table of commands. `end` receives the exit code of the command that ran. If `only` names a
 * command, the others are left out.
 */
export function buildProgram(io: Io, end: (code: number) => void, only?: string): Command {
  const program = new Command('setpoint')
    .description(
      "Keeps the settings and sandboxes of an agent platform's service equal to a committed settings.yaml.",
    )
    .version(`setpoint ${VERSION}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'Show the help of a command')
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: () => {} })
    .addHelpText(
      'after',
      `\n${EXAMPLES}\n\nsetpoint COMMAND --help lists the flags and the exit codes of a command.`,
    );
  for (const name of isCommand(only) ? [only] : COMMAND_NAMES) addCommand(program, name, io, end);
  return program;
}

function addCommand(
  program: Command,
  name: CommandName,
  io: Io,
  end: (code: number) => void,
): void {
  const { argument, summary, example, flags, exits } = commandEntry(name);
  const command = program
    .command(argument === undefined ? name : `${name} ${argument.form}`)
    .summary(summary)
    .description(`${summary}.`)
    .helpCommand(false)
    .addHelpText('after', `\nExample:\n  $ ${example}\n\n${exitCodesText(exits)}`)
    .action(async () => {
      const run: (flags: never, io: Io, ...args: readonly string[]) => Promise<number> =
        await RUN[name]();
      // A command that sends requests has a time limit for them. V8 refuses the compiled form of what is loaded after this.
      if (flags.includes('--timeout')) await endQuickly();
      end(await run(command.opts<never>(), io, ...command.args));
    });
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
