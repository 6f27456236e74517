import type { Shell } from '../words.ts';

/**
 * The script that teaches a shell to complete: it passes the words of the line to `setpoint completion --complete`, which knows
 * the commands (complete.ts). None needs anything installed; bash from 3.2 and fish from 3.0 on.
 */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# bash completion for setpoint. In ~/.bashrc: source <(setpoint completion bash)
_setpoint() {
  local line cur=\${COMP_WORDS[COMP_CWORD]}
  if [[ $cur == = ]]; then cur=; fi
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files* ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur")
    else COMPREPLY+=("$line"); fi
  done < <("\${COMP_WORDS[0]}" completion --complete bash "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _setpoint setpoint
`,

  zsh: `#compdef setpoint
# zsh completion for setpoint. In ~/.zshrc, after compinit: source <(setpoint completion zsh)
_setpoint() {
  local line setpoint=\${~\${(Q)words[1]}}
  local -a offers line_words=("\${(@Q)words[2,CURRENT]}")
  line_words[-1]=\${(Q)PREFIX}
  while IFS= read -r line; do
    if [[ $line == :files* ]]; then compset -p \${line#:files }; _files; return; fi
    offers+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <($setpoint completion --complete zsh "\${line_words[@]}" 2>/dev/null)
  _describe setpoint offers
}
if [[ $funcstack[1] == _setpoint ]]; then _setpoint "$@"; else compdef _setpoint setpoint; fi
`,

  fish: `# fish completion for setpoint: setpoint completion fish > ~/.config/fish/completions/setpoint.fish
function __setpoint_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] completion --complete fish $words[2..-1] "$current" 2>/dev/null)
        if string match -q -- ':files*' $line
            set -l begin (string sub -s 8 -- $line)
            set -l before (string sub -l $begin -- "$current")
            for path in (__fish_complete_path (string sub -s (math $begin + 1) -- "$current"))
                echo $before$path
            end
        else
            echo $line
        end
    end
end
complete -c setpoint -e
complete -c setpoint -f -a '(__setpoint_complete)'
`,
};
