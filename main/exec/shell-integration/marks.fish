# Lathe: tells the terminal where prompts, commands and their output stand. The prompt itself is left as it is.
if status is-interactive; and set -q LATHE_MARKS
    set -g __lathe_secret $LATHE_MARKS
    set -e LATHE_MARKS

    function __lathe_encoded
        string sub -l 4096 -- $argv[1] | string replace -a -- '%' '%25' | string replace -a -- ';' '%3B' | string replace -ar -- '[[:cntrl:]]' ' ' | string join -- '%0A'
    end

    function __lathe_prompt --on-event fish_prompt
        printf '\e]133;A;aid=%s;cwd=%s\a' $__lathe_secret (__lathe_encoded $PWD)
    end

    function __lathe_started --on-event fish_preexec
        printf '\e]133;C;aid=%s;cmdline=%s\a' $__lathe_secret (__lathe_encoded "$argv")
    end

    function __lathe_done --on-event fish_postexec
        printf '\e]133;D;%s;aid=%s\a' $status $__lathe_secret
    end
end
