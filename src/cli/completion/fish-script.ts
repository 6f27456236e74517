import type { Choice } from './choices.ts';
import { HELP, VERSION, type CompletedCommand, type CompletedFlag } from './completed-commands.ts';

/** Completion for fish, from 3.0 on. */
export function fishScript(commands: readonly CompletedCommand[]): string {
  return `# fish completion for setpoint: setpoint completion fish > ~/.config/fish/completions/setpoint.fish
# Whether the command of the line is the one given; without one, whether there is none yet.
function __setpoint_command_is
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        string match -q -- '-*' $word; and continue
        test "$word" = "$argv[1]"
        return
    end
    test -z "$argv[1]"
end

# Asked for with the files that the line names so far.
function __setpoint_environments
    set -l words (commandline -opc)
    set -l files
    for i in (seq 2 (count $words))
        switch $words[$i]
            case -f --file
                set -q words[(math $i + 1)]; and set -a files -f $words[(math $i + 1)]
            case '--file=*'
                set -a files -f (string replace -- --file= '' $words[$i])
        end
    end
    $words[1] completion --list environments $files 2>/dev/null
end

# Comma-separated words: those before the last comma stay, and are not offered again.
function __setpoint_list
    set -l before (string match -r -- '^.*,' (commandline -ct))
    for word in $argv
        contains -- $word (string split -- , "$before"); or echo "$before$word"
    end
end

complete -c setpoint -e
complete -c setpoint -f
${[HELP, VERSION].map((flag) => flagLine('', flag)).join('\n')}
${commands.map(({ name, summary }) => `complete -c setpoint -n __setpoint_command_is -a ${name} -d ${quoted(summary)}`).join('\n')}
${commands.flatMap(commandLines).join('\n')}
`;
}

function commandLines({ name, flags, argument }: CompletedCommand): string[] {
  const offered = argument === null ? null : completing(argument);
  const lines = flags.map((flag) => flagLine(name, flag));
  if (offered === null || offered === '') return lines;
  return [...lines, `complete -c setpoint -n '__setpoint_command_is ${name}' ${offered}`];
}

function flagLine(command: string, { names, description, takes }: CompletedFlag): string {
  const forms = names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  );
  const only = `__setpoint_command_is ${command}`.trim();
  const parts = [`-n '${only}'`, ...forms, ...valueParts(takes), `-d ${quoted(description)}`];
  return `complete -c setpoint ${parts.join(' ')}`;
}

function valueParts(takes: CompletedFlag['takes']): string[] {
  if (takes === null) return [];
  return takes.kind === 'files'
    ? ['-r', '-F']
    : ['-x', completing(takes)].filter((part) => part !== '');
}

function completing(choice: Choice): string {
  switch (choice.kind) {
    case 'words':
    case 'formats':
      return `-a '${choice.words.join(' ')}'`;
    case 'list':
      return `-a '(__setpoint_list ${choice.words.join(' ')})'`;
    case 'environments':
      return `-a '(__setpoint_environments)'`;
    case 'files':
      return '-F';
    case 'text':
      return '';
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}
