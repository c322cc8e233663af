import type { Shell } from '../completion/completion-scripts.js';

/**
 * What binds the two keys in each shell: Alt-H turns what stands on the command line into a command, Alt-E explains it. The text is handed over as an argument,
 * never evaluated; what fails is shown, and the line stays as it was.
 */
export const KEY_BINDINGS: Readonly<Record<Shell, string>> = {
  bash: `# Key bindings of hi for bash: put  eval "$(hi shell-init bash)"  into ~/.bashrc
# Alt-H turns what is on the command line into a command. Alt-E explains it. Neither runs anything.
# Ctrl-C stops hi, which listens to it by itself, and not bash, which would drop the line.
_hi_to_command() {
  local command interrupt
  [[ $READLINE_LINE == *[![:space:]]* ]] || return 0
  interrupt=$(trap -p INT)
  trap '' INT
  if command=$(hi shell-init bash command -- "$READLINE_LINE"); then
    READLINE_LINE=$command
    READLINE_POINT=\${#READLINE_LINE}
  fi
  eval "\${interrupt:-trap - INT}"
}
_hi_explain() {
  local interrupt
  [[ $READLINE_LINE == *[![:space:]]* ]] || return 0
  interrupt=$(trap -p INT)
  trap '' INT
  printf '%s\\n' "\${PS1@P}$READLINE_LINE"
  hi shell-init bash explain -- "$READLINE_LINE"
  eval "\${interrupt:-trap - INT}"
}
if [[ $- == *i* ]] && ((BASH_VERSINFO[0] > 4 || (BASH_VERSINFO[0] == 4 && BASH_VERSINFO[1] > 3))); then
  for _hi_keys in emacs vi-insert; do
    bind -m $_hi_keys -x '"\\eh": _hi_to_command'
    bind -m $_hi_keys -x '"\\ee": _hi_explain'
  done
  unset _hi_keys
fi
`,
  zsh: `# Key bindings of hi for zsh: put  eval "$(hi shell-init zsh)"  into ~/.zshrc
# Alt-H turns what is on the command line into a command. Alt-E explains it. Neither runs anything.
_hi_to_command() {
  emulate -L zsh
  local command
  # Ctrl-C stops hi, which listens to it by itself, and not zsh, which would drop the line.
  trap '' INT
  [[ $BUFFER == *[^[:space:]]* ]] || return 0
  zle -I
  if command=$(hi shell-init zsh command -- "$BUFFER"); then
    BUFFER=$command
    CURSOR=\${#BUFFER}
  fi
}
_hi_explain() {
  emulate -L zsh
  trap '' INT
  [[ $BUFFER == *[^[:space:]]* ]] || return 0
  zle -I
  hi shell-init zsh explain -- "$BUFFER"
  return 0
}
zle -N _hi_to_command
zle -N _hi_explain
for _hi_keys in emacs viins; do
  bindkey -M $_hi_keys '\\eh' _hi_to_command
  bindkey -M $_hi_keys '\\ee' _hi_explain
done
unset _hi_keys
`,
  fish: `# Key bindings of hi for fish: put  hi shell-init fish | source  into ~/.config/fish/config.fish
# Alt-H turns what is on the command line into a command. Alt-E explains it. Neither runs anything.
function __hi_to_command
  set -l line (commandline | string collect)
  string match -qr '\\S' -- $line; or return 0
  echo
  set -l command (hi shell-init fish command -- $line | string collect)
  if test $pipestatus[1] -eq 0
    commandline -r -- $command
    commandline -f end-of-buffer
  end
  commandline -f repaint
end
function __hi_explain
  set -l line (commandline | string collect)
  string match -qr '\\S' -- $line; or return 0
  echo
  hi shell-init fish explain -- $line
  commandline -f repaint
end
for __hi_keys in default insert
  bind -M $__hi_keys \\eh __hi_to_command
  bind -M $__hi_keys \\ee __hi_explain
end
set -e __hi_keys
`,
};
