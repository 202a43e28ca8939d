# Lathe: tells the terminal where prompts, commands and their output stand. The prompt itself is left as it is.
# bash reads this in the place of the start-up files, which therefore come first.
__lathe_secret=${LATHE_MARKS-}
__lathe_login=${LATHE_LOGIN_SHELL-}
unset LATHE_MARKS LATHE_LOGIN_SHELL
if [[ -n $__lathe_login ]]; then
  [[ ! -r /etc/profile ]] || . /etc/profile
  if [[ -r ~/.bash_profile ]]; then
    . ~/.bash_profile
  elif [[ -r ~/.bash_login ]]; then
    . ~/.bash_login
  elif [[ -r ~/.profile ]]; then
    . ~/.profile
  fi
else
  [[ ! -r ~/.bashrc ]] || . ~/.bashrc
fi
unset __lathe_login

# That a command begins is told by PS0, which is there since 4.4; before, by a DEBUG trap, unless the person has one.
__lathe_begins=PS0
((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)) || __lathe_begins=DEBUG
if [[ -n ${__lathe_secret-} && $- == *i* ]] && [[ $__lathe_begins == PS0 || -z $(builtin trap -p DEBUG) ]]; then
  __lathe_ran=
  __lathe_ready=
  __lathe_history=
  # What comes behind in a PROMPT_COMMAND of one text finds the last command's answer only if it is given again.
  __lathe_answer=

  __lathe_encoded() {
    local text=${1:0:4096}
    text=${text//'%'/%25}
    text=${text//';'/%3B}
    text=${text//$'\n'/%0A}
    text=${text//$'\t'/%09}
    builtin printf %s "${text//[[:cntrl:]]/ }"
  }

  __lathe_last() { HISTTIMEFORMAT= builtin history 1; }

  __lathe_done() {
    local code=$?
    [[ -z $__lathe_ran ]] || builtin printf '\e]133;D;%s;aid=%s\a' "$code" "$__lathe_secret"
    __lathe_ran=
    return "${__lathe_answer:-$code}"
  }

  __lathe_prompt() {
    local code=$?
    __lathe_history=$(__lathe_last)
    builtin printf '\e]133;A;aid=%s;cwd=%s\a' "$__lathe_secret" "$(__lathe_encoded "$PWD")"
    __lathe_ran=1
    __lathe_ready=1
    return "${__lathe_answer:-$code}"
  }

  # Runs in a subshell of its own, between the line typed and what it prints. A line the history does not take is not told.
  __lathe_started() {
    # Before 4.0 an expression with parentheses is understood in a variable only.
    local line numbered='^[[:blank:]]*[0-9]+\*?[[:blank:]]+(.*)$'
    line=$(__lathe_last)
    if [[ $line != "$__lathe_history" && $line =~ $numbered ]]; then
      builtin printf '\e]133;C;aid=%s;cmdline=%s\a' "$__lathe_secret" "$(__lathe_encoded "${BASH_REMATCH[1]}")"
    else
      builtin printf '\e]133;C;aid=%s\a' "$__lathe_secret"
    fi
  }

  case $(builtin declare -p PROMPT_COMMAND 2>/dev/null) in
    'declare -a'*)
      __lathe_answer=0
      PROMPT_COMMAND=(__lathe_done "${PROMPT_COMMAND[@]}" __lathe_prompt)
      ;;
    'declare -x'*)
      # Shells started from this one are given the text, but not what it calls.
      PROMPT_COMMAND='case ${__lathe_secret+x} in x) __lathe_done;; *) (exit $?);; esac'$'\n'$PROMPT_COMMAND$'\n''case ${__lathe_secret+x} in x) __lathe_prompt;; esac'
      ;;
    *)
      if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
        __lathe_answer=0
        PROMPT_COMMAND=(__lathe_done ${PROMPT_COMMAND:+"$PROMPT_COMMAND"} __lathe_prompt)
      else
        PROMPT_COMMAND=__lathe_done$'\n'${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}__lathe_prompt
      fi
      ;;
  esac
  if [[ $__lathe_begins == PS0 ]]; then
    PS0='${__lathe_secret:+$(__lathe_started)}'${PS0-}
  else
    # Ahead of every command: the first behind a prompt is the one that was typed, unless it completes or edits a line.
    __lathe_debug() {
      if [[ $BASH_COMMAND == *__lathe_* ]]; then
        __lathe_ready=
      elif [[ -n $__lathe_ready && -z ${COMP_LINE+x}${READLINE_LINE+x} ]]; then
        __lathe_ready=
        builtin printf %s "$(__lathe_started)"
      fi
      # `$_` is as the last command left it.
      : "$1"
    }
    builtin trap '__lathe_debug "$_"' DEBUG
  fi
fi
unset __lathe_begins
