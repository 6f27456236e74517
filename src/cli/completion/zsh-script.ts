import type { Choice } from './choices.ts';
import { HELP, VERSION, type CompletedCommand, type CompletedFlag } from './completed-commands.ts';

/** Completion for zsh, to be sourced after compinit or put into a folder of fpath as _setpoint. */
export function zshScript(commands: readonly CompletedCommand[]): string {
  return `#compdef setpoint
# zsh completion for setpoint. In ~/.zshrc, after compinit: source <(setpoint completion zsh)

# Asked for with the files that the line names so far.
_setpoint_environments() {
  local -a files names
  local i
  for (( i = 1; i < $#words; i++ )); do
    case $words[i] in
      (-f|--file) files+=(-f \${(Q)words[i+1]}) ;;
      (--file=*) files+=(-f \${(Q)words[i]#--file=}) ;;
    esac
  done
  names=(\${(f)"$($setpoint completion --list environments $files 2>/dev/null)"})
  compadd "$@" -a names
}

_setpoint_formats() {
  if compset -P '*='; then _files; else compadd "$@"; fi
}

_setpoint() {
  local setpoint=\${~\${(Q)words[1]}} context state state_descr line curcontext=$curcontext
  local -A opt_args
  local -a known
  known=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join('\n')}
  )
  _arguments -C ${[HELP, VERSION].flatMap(specs).join(' ')} '1: :->command' '*:: :->rest'
  case $state in
    (command) _describe -t commands command known ;;
    (rest)
      case $words[1] in
${commands.map(commandCase).join('\n')}
      esac
      ;;
  esac
}

if [[ $funcstack[1] == _setpoint ]]; then _setpoint "$@"; else compdef _setpoint setpoint; fi
`;
}

function commandCase({ name, flags, argument }: CompletedCommand): string {
  const own = argument === null ? [] : [quoted(`1:argument:${completing(argument)}`)];
  const lines = [...flags.flatMap(specs), ...own].map((spec) => `          ${spec}`);
  return `        (${name})\n          _arguments -s -S \\\n${lines.join(' \\\n')}\n          ;;`;
}

/** A flag as _arguments takes it, once for each of its forms; unless it is repeatable one form rules out the others. */
function specs({ names, description, repeatable, takes }: CompletedFlag): string[] {
  const words = description.replaceAll(/[[\]\\]/g, String.raw`\$&`);
  const value = takes === null ? '' : `:${names[0]?.slice(2)}:${completing(takes)}`;
  const others = repeatable ? '*' : `(${names.join(' ')})`;
  return names.map((name) => {
    const form = takes === null ? name : name.startsWith('--') ? `${name}=` : `${name}+`;
    return quoted(`${others}${form}[${words}]${value}`);
  });
}

function completing(choice: Choice): string {
  switch (choice.kind) {
    case 'words':
      return `(${choice.words.join(' ')})`;
    case 'formats':
      return `_setpoint_formats - ${choice.words.join(' ')}`;
    case 'list':
      return `_sequence compadd - ${choice.words.join(' ')}`;
    case 'environments':
      return '_setpoint_environments';
    case 'files':
      return '_files';
    case 'text':
      return ' ';
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
