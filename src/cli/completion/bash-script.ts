import { HELP, VERSION, type CompletedCommand } from './completed-commands.ts';
import type { Choice } from './choices.ts';

/** Completion for bash, from 3.2 on. It asks setpoint itself for environments, and needs nothing else installed. */
export function bashScript(commands: readonly CompletedCommand[]): string {
  const valued = valuedFlags(commands);
  return `# bash completion for setpoint. In ~/.bashrc: source <(setpoint completion bash)
_setpoint_words() {
  local IFS=$' \\t\\n'
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

# Comma-separated words: those before the last comma stay, and are not offered again.
_setpoint_list() {
  local before= word
  if [[ $cur == *,* ]]; then before=\${cur%,*},; fi
  for word in $1; do
    if [[ ,$before != *,$word,* && $word == "\${cur##*,}"* ]]; then COMPREPLY+=("$before$word"); fi
  done
}

_setpoint_files() {
  local name
  compopt -o filenames 2>/dev/null
  while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -- "$cur")
}

# Asked for with the files that the line names so far.
_setpoint_environments() {
  local i name
  local -a files=()
  for ((i = 1; i < COMP_CWORD - 1; i++)); do
    case \${COMP_WORDS[i]} in
      -f | --file)
        if [[ \${COMP_WORDS[i + 1]} == = ]]; then i=$((i + 1)); fi
        files+=(-f "\${COMP_WORDS[i + 1]}")
        ;;
    esac
  done
  while IFS= read -r name; do
    if [[ $name == "$cur"* ]]; then COMPREPLY+=("$name"); fi
  done < <("\${COMP_WORDS[0]}" completion --list environments \${files[@]+"\${files[@]}"} 2>/dev/null)
}

# What stands behind a flag of a command: 1 where the flag takes nothing.
_setpoint_value() {
  case $1 in
${valued.map(([pattern, takes]) => `    ${pattern}) ${completing(takes)} ;;`).join('\n')}
    *) return 1 ;;
  esac
}

_setpoint_takes_value() {
  case $1 in
    ${valued.map(([pattern]) => pattern).join(' | ')}) return 0 ;;
  esac
  return 1
}

_setpoint() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} command= arguments=0 after= i
  COMPREPLY=()
  # = and : part words: --env=x is three of them, and so is json=FILE.
  if [[ $cur == = ]]; then
    cur= after=file
  elif [[ $prev == = ]]; then
    prev=\${COMP_WORDS[COMP_CWORD - 2]} after=file
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      = | :) i=$((i + 1)) ;;
      -*)
        if _setpoint_takes_value "$command \${COMP_WORDS[i]}"; then
          if [[ \${COMP_WORDS[i + 1]} == = ]]; then i=$((i + 1)); fi
          i=$((i + 1))
        fi
        ;;
      *) if [[ -z $command ]]; then command=\${COMP_WORDS[i]}; else arguments=$((arguments + 1)); fi ;;
    esac
  done
  if [[ -n $command ]] && _setpoint_value "$command $prev"; then return; fi
  if [[ -n $after ]]; then
    _setpoint_files
    return
  fi
  case $command in
    '')
      if [[ $cur == -* ]]; then _setpoint_words '${[HELP, VERSION].flatMap(({ names }) => names).join(' ')}'
      else _setpoint_words '${commands.map(({ name }) => name).join(' ')}'
      fi
      ;;
${commands.map(commandCase).join('\n')}
  esac
}

complete -F _setpoint setpoint
`;
}

/** Every flag that takes a value, as a pattern; but for --output it takes the same whatever the command. */
function valuedFlags(commands: readonly CompletedCommand[]): (readonly [string, Choice])[] {
  const all = new Map<string, Choice>();
  for (const { name, flags } of commands)
    for (const { names, takes } of flags)
      if (takes !== null) {
        const command = takes.kind === 'formats' ? name : '*';
        all.set(names.map((form) => `${command}\\ ${form}`).join(' | '), takes);
      }
  return [...all];
}

function commandCase({ name, flags, argument }: CompletedCommand): string {
  const names = flags.flatMap((flag) => flag.names).join(' ');
  const own =
    argument === null ? '' : `\n      elif ((arguments == 0)); then ${completing(argument)}`;
  return `    ${name})
      if [[ $cur == -* ]]; then _setpoint_words '${names}'${own}
      fi
      ;;`;
}

function completing(choice: Choice): string {
  switch (choice.kind) {
    case 'words':
    case 'formats':
      return `_setpoint_words '${choice.words.join(' ')}'`;
    case 'list':
      return `_setpoint_list '${choice.words.join(' ')}'`;
    case 'environments':
      return '_setpoint_environments';
    case 'files':
      return '_setpoint_files';
    case 'text':
      return ':';
  }
}
