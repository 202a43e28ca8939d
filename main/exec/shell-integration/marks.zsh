# Lathe: tells the terminal where prompts, commands and their output stand. The prompt itself is left as it is.
# zsh reads this as its .zshenv; the person's own folder is put back at once, so that all other files are read from there.
typeset -g __lathe_secret=${LATHE_MARKS-}
unset LATHE_MARKS
if (( ${+LATHE_ZDOTDIR} )); then
  ZDOTDIR=$LATHE_ZDOTDIR
  unset LATHE_ZDOTDIR
else
  unset ZDOTDIR
fi
[[ ! -r ${ZDOTDIR-$HOME}/.zshenv ]] || source ${ZDOTDIR-$HOME}/.zshenv

if [[ -o interactive && -n $__lathe_secret ]]; then
  typeset -g __lathe_ran=

  __lathe_encoded() {
    emulate -L zsh
    local text=${1[1,4096]}
    text=${text//\%/%25}
    text=${text//;/%3B}
    text=${text//$'\n'/%0A}
    text=${text//$'\t'/%09}
    builtin print -rn -- ${text//[[:cntrl:]]/ }
  }

  __lathe_done() {
    local code=$?
    emulate -L zsh
    [[ -z $__lathe_ran ]] || builtin print -rn -- $'\e]133;D;'$code';aid='$__lathe_secret$'\a'
    __lathe_ran=
  }

  __lathe_prompt() {
    emulate -L zsh
    builtin print -rn -- $'\e]133;A;aid='$__lathe_secret';cwd='"$(__lathe_encoded $PWD)"$'\a'
  }

  __lathe_started() {
    emulate -L zsh
    __lathe_ran=1
    builtin print -rn -- $'\e]133;C;aid='$__lathe_secret';cmdline='"$(__lathe_encoded $1)"$'\a'
  }

  # Once the start-up files have been read, so that what they do to these lists counts.
  __lathe_begin() {
    precmd_functions=(__lathe_done ${precmd_functions:#__lathe_begin} __lathe_prompt)
    preexec_functions+=(__lathe_started)
    unfunction __lathe_begin
    __lathe_prompt
  }
  typeset -ga precmd_functions preexec_functions
  precmd_functions+=(__lathe_begin)
fi
