import { banner, code, prose, sentence, table } from './markdown.mjs';

/** docs/reference/commands.md, from the commands as commander has them. */
export function commandsPage(program) {
  const commands = shownCommands(program);
  const names = commands.map((command) => [
    `[${code(command.name())}](#${command.name()})`,
    prose(sentence(command.summary())),
  ]);
  return [
    banner('src/command/cli'),
    '# Commands\n',
    '`setpoint help COMMAND` shows the same in a terminal. Data goes to stdout, messages to stderr. One format goes to stdout, `-o json=FILE`',
    'writes another to a file beside it; `-o json` prints a [document](documents.md) on failure too. Next to flags there are',
    '[environment variables](environment-variables.md), and every command ends with one of the [exit codes](exit-codes.md).\n',
    table(['command', 'what it does'], names),
    '',
    ...commands.map(section),
  ].join('\n');
}

function section(command) {
  const usage = `setpoint ${command.name()} ${command.usage()}`.trim();
  const flags = command.options.filter(({ hidden }) => !hidden);
  const example = exampleOf(command);
  const exits = exitsOf(command).map(([codes, text]) => `**${codes}** ${prose(text)}`);
  return [
    `## ${command.name()}\n`,
    `${prose(sentence(command.summary()))}\n`,
    `Usage: ${code(usage)}\n`,
    ...(example === null ? [] : [`Example: ${code(example)}\n`]),
    ...(flags.length === 0
      ? []
      : [
          table(
            ['flag', 'what it does'],
            flags.map((flag) => [code(flag.flags), meaning(flag)]),
          ),
          '',
        ]),
    ...(exits.length === 0 ? [] : [`[Exit codes](exit-codes.md): ${exits.join(' · ')}\n`]),
  ].join('\n');
}

function meaning({ description, defaultValue }) {
  return `${prose(description)}${defaultValue === undefined ? '' : ` (default: ${defaultValue})`}`;
}

function shownCommands(program) {
  const help = program.createHelp();
  return help.visibleCommands(program).filter((command) => command.name() !== 'help');
}

/** The whole help of a command, as it is printed. */
function helpOf(command) {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

/** The exit codes that the help of a command lists, each with its meaning. */
function exitsOf(command) {
  const [, listed = ''] = helpOf(command).split('\nExit codes:\n');
  const lines = listed.matchAll(/^ {2}(\d[\d, ]*) ([a-z].*)$/gm);
  return [...lines].map(([, codes, text]) => [codes, text]);
}

function exampleOf(command) {
  return /\nExamples?:\n +\$ (.+)/.exec(helpOf(command))?.[1] ?? null;
}

/** What each exit code means, whatever the command. The help of a command has what it means there. */
const EXIT_CODES = {
  0: 'done, or in sync',
  1: 'failed in a way that no other code names, or not confirmed at the prompt',
  2: 'differences: `drift`, `plan --exit-code`, `pull --check`',
  3: 'command line, settings or references not valid, or no terminal and no `--yes`; nothing was written',
  4: 'the service refused the key',
  5: 'a guard or the policy refused the plan; with `plan --exit-code`, it would',
  6: 'the saved plan or snapshot is for another address, does not cover what apply would do, or is too old; nothing was sent',
  7: 'applied in part: the settings are as declared, the sandboxes are not all',
  8: 'applied, but not converged: the service does not show what it was sent',
  9: 'timed out',
  '130, 143': 'interrupted, even if the write in flight was finished and verified',
};

/** docs/reference/exit-codes.md, from the help, the table of errors and what happened at each of them (errors.json). */
export function exitCodesPage(program, errors, meanings) {
  const listed = new Set(
    shownCommands(program)
      .flatMap(exitsOf)
      .map(([codes]) => codes),
  );
  const unknown = [...listed].filter((codes) => !Object.hasOwn(EXIT_CODES, codes));
  if (listed.size < 5 || unknown.length > 0)
    throw new Error(`the helps list exit codes that have no meaning here: ${unknown.join(', ')}`);
  const odd = Object.keys({ ...errors, ...meanings }).filter(
    (name) => !errors[name] || !meanings[name],
  );
  if (odd.length > 0)
    throw new Error(`errors.json and the table of errors differ in: ${odd.join(', ')}`);
  const rows = Object.entries(EXIT_CODES).map(([codes, text]) => [
    codes,
    text,
    errorsWith(codes, errors),
  ]);
  return [
    banner('src/command/cli and src/reconciler/model/error.ts'),
    '# Exit codes\n',
    table(['code', 'meaning', 'errors'], rows),
    '',
    'If several environments end differently, the command exits with the first of 130 or 143, 7, 8, 1, 9, 4, 6, 5, 3, 2, 0. The',
    'codes that a command can end with are in its section of [commands](commands.md).\n',
    '## Errors\n',
    'The code of an error is in `error.code` of JSON documents and never changes its meaning. The message may be more precise.',
    'A command that could not begin has `error.next`: the command that shows more. Give it the files and environments of the one that failed.',
    '[Troubleshooting](../troubleshooting.md) has the ones that people meet most.\n',
    table(
      ['error', 'exit', 'what happened', 'what to do', 'next'],
      Object.entries(errors).map(([name, { exit, hint, next }]) => [
        code(name),
        String(exit),
        meanings[name],
        prose(hint),
        next === undefined ? '' : code(next),
      ]),
    ),
    '',
  ].join('\n');
}

/** docs/diagnostics.md, from the table of diagnostics. */
export function diagnosticsPage(diagnostics) {
  return [
    banner('src/reconciler/model/diagnostic.ts'),
    '# Diagnostics\n',
    'What `setpoint validate` can find in a settings file. It reports all problems at once, each with',
    'its line, column and remedy. The codes are stable, the sentences are not.\n',
    table(
      ['code', 'meaning'],
      Object.entries(diagnostics).map(([name, meaning]) => [code(name), meaning]),
    ),
    '',
  ].join('\n');
}

function errorsWith(codes, errors) {
  const numbers = codes.split(', ').map(Number);
  const names = Object.entries(errors).filter(([, { exit }]) => numbers.includes(exit));
  return names.map(([name]) => code(name)).join(', ');
}
