/** The completion script of each shell. It asks the program for candidates, so it never goes out of date. */
export const SCRIPTS = {
  bash: `# bash completion for hi: put  eval "$(hi completion bash)"  into ~/.bashrc
_hi() {
  local IFS=$'\\n' rest=$COMP_LINE typed=() at piece before word
  # Bash splits words at colons and equals signs. Join what has no space between.
  for ((at = 0; at <= COMP_CWORD; at++)); do
    piece=\${rest#"\${rest%%[![:space:]]*}"}
    if ((at > 1)) && [[ $piece == "$rest" ]]; then
      typed[\${#typed[@]} - 1]+=\${COMP_WORDS[at]}
    elif ((at > 0)); then
      typed+=("\${COMP_WORDS[at]}")
    fi
    rest=\${piece#"\${COMP_WORDS[at]}"}
  done
  # What is before the last of them is already on the line.
  before=\${typed[\${#typed[@]} - 1]}
  if [[ $COMP_WORDBREAKS == *:* ]]; then before=\${before%"\${before##*[:=]}"}; else before=\${before%"\${before##*=}"}; fi
  COMPREPLY=()
  while read -r word; do
    word=\${word%%$'\\t'*} word=\${word#"$before"}
    # Names come from servers and files, and bash puts them on the line as they are.
    [[ -z $word ]] || printf -v word %q "$word"
    COMPREPLY+=("$word")
  done < <(hi completion words -- "\${typed[@]}" 2>/dev/null)
}
complete -o default -F _hi hi
`,
  zsh: `#compdef hi
# zsh completion for hi: put  eval "$(hi completion zsh)"  into ~/.zshrc, after compinit; or this text into a file _hi in a folder of $fpath
_hi() {
  local -a lines names shown
  local line
  integer width
  lines=("\${(@f)$(hi completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    [[ -n $line ]] || continue
    names+=("\${line%%$'\\t'*}")
    (( \${#names[-1]} > width )) && width=\${#names[-1]}
  done
  for line in $lines; do
    [[ -n $line ]] && shown+=("\${(r:width:)\${line%%$'\\t'*}}  \${line#*$'\\t'}")
  done
  if (( \${#names} )); then compadd -l -d shown -a names; else _files; fi
}
if [[ \${funcstack[1]} == _hi ]]; then _hi "$@"; elif (( $+functions[compdef] )); then compdef _hi hi; fi
`,
  fish: `# fish completion for hi: put  hi completion fish | source  into ~/.config/fish/config.fish
function __hi_words
  set -l typed (commandline -opc)
  hi completion words -- $typed[2..] (commandline -ct) 2>/dev/null
end
complete -c hi -f -a '(__hi_words)'
complete -c hi -s f -l file -r -F
complete -c hi -l config -r -F
`,
} as const;

export type Shell = keyof typeof SCRIPTS;

/** The shells with a completion script. */
export const SHELLS: readonly { readonly name: Shell }[] = [{ name: 'bash' }, { name: 'zsh' }, { name: 'fish' }];
