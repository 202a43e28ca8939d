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

# PS0 is there since 4.4.
if [[ -n ${__lathe_secret-} && $- == *i* ]] && ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
  __lathe_ran=
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
    return "${__lathe_answer:-$code}"
  }

  # Runs in a subshell, between the line typed and what it prints. A line the history does not take is not told.
  __lathe_started() {
    local line
    line=$(__lathe_last)
    if [[ $line != "$__lathe_history" && $line =~ ^[[:blank:]]*[0-9]+\*?[[:blank:]]+(.*)$ ]]; then
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
  PS0='${__lathe_secret:+$(__lathe_started)}'${PS0-}
fi
