/** What `--help` says: one page for the command line, and one for each command with all of its options. */

export const helpTopics = ['lathe', 'run', 'serve', 'sessions', 'doctor'] as const
export type HelpTopic = (typeof helpTopics)[number]

const codes = `Exit codes
  0    completed
  1    failed
  2    wrong usage
  3    an approval or an answer was needed, and nobody could give it
  130  stopped, by Ctrl+C or --timeout`

const pages: Readonly<Record<HelpTopic, string>> = {
  lathe: `Usage: lathe COMMAND [OPTIONS]

Commands
  run PROMPT      one turn of an agent in this folder: text on stdout, progress on stderr
  serve           the window, for a browser on this machine
  sessions VERB   list, show, export, import, delete, search
  doctor          checks the installation and names a fix for each fault
  help COMMAND    all options of a command, as COMMAND --help does

Options
  --json          JSON Lines on stdout, with every command
  --version, -v   the version
  --help, -h      this page

Examples
  lathe run "fix the failing test"
  lathe run --model demo/tour "show me around"       without any model connected
  lathe serve --workspace ~/code/shop

${codes}

LATHE_HOME is the data folder, where the environment names one; config.json in it names the providers.`,

  run: `Usage: lathe run [OPTIONS] PROMPT

One turn of a session. PROMPT is what the agent is asked, in quotes.
  -               reads it from stdin
  @src/app.ts     in it mentions a file or folder of the workspace; @"two words.md" with blanks
  /status, ...    runs a command as the window has it; /help there lists them
  !LINE           runs your own shell line in the session; its output on stdout

Options
  --workspace DIR         the folder to work in; the current one without it
  --session ID            goes on in that session; the first 8 characters are enough if no other begins so
  --continue              goes on in the newest session of the folder
  --model PROVIDER/MODEL  for this turn and the session; demo/tour needs no connection
  --agent NAME            who does it: an agent of yours or of the folder; built-in is Lathe's own
  --approve MODE          ask    before commands and edits; on a terminal it is asked there (the default)
                          edits  edits in the workspace are allowed, what would ask otherwise is denied
                          all    everything that is not forbidden is allowed
                          none   reads only
  --attach FILE           a file that goes with the prompt; as often as needed
  --timeout SECONDS       stops the turn after so long
  --json                  one header line, then the session's events up to its turn.settled
  --                      what follows is no option

Examples
  lathe run "what does @src/cart.ts do?"
  git diff | lathe run --approve none -
  lathe run --continue --approve edits "now the tests"

${codes}`,

  serve: `Usage: lathe serve [OPTIONS]

Serves the window on the loopback address. It prints one line with the address and a token that is new with each start;
open it in a browser on this machine. Ctrl+C settles what runs and ends it. Where another Lathe has the data folder, its
sessions are served, and taken over when it ends.

Options
  --port N          the port; any free one without it
  --workspace DIR   opens this folder as a workspace
  --watch-link      prints one more address: whoever opens it can watch, and change nothing
  --json            the lines are all there is

Exit codes
  0    ended
  1    the port is taken, or the data folder cannot be used
  2    wrong usage`,

  sessions: `Usage: lathe sessions VERB [OPTIONS]

Verbs
  list                    the sessions, newest first
    --workspace DIR         only of this folder
    --archived              only those archived
    --limit N               so many at most; 100 without it
  show ID                 the transcript
    --items N               only the last N entries
  export ID               writes the session to stdout, without keys and without the name of your home folder
    --format md|json|html   Markdown without it; json is what import takes
    --out FILE              writes it to this file
    --exact                 with json: as it is stored, secrets known only by their form included
  import FILE             takes in a session exported as JSON, and prints its id
    --copy                  once more, where this file was imported before
  delete ID...            deletes; each can be restored in the window for 7 days
    --purge                 for good
  search QUERY            full text: "phrases", -word, workspace: kind: before: after: is:failed has:changes
    --limit N               so many hits at most; 20 without it

ID may be the first 8 characters or more, if no other session begins so. Every verb takes --json.

Exit codes
  0    done; a search that finds nothing too
  1    failed: no such session, a file that cannot be read
  2    wrong usage`,

  doctor: `Usage: lathe doctor [OPTIONS]

Looks at the data folder, configuration, database, search, checkpoints, keys, ripgrep, git, terminals and disk. Each is
ok, warn or fail, the last two with a fix. Nothing is changed without an option that says so.

Options
  --fix                 mends what can be mended without losing anything: rights of the data folder, what a dead process
                        left, the list and the search index, space of what was deleted
  --empty-checkpoints   removes all checkpoints; each is made anew with the next turn
  --json                one line a check

Exit codes
  0    nothing fails
  1    a check fails, or Lathe runs and must be quit first
  2    wrong usage`,
}

export function helpPage(topic: HelpTopic): string {
  return pages[topic]
}

/** The topic a word names; null where it names none. */
export function helpTopic(word: string | undefined): HelpTopic | null {
  return helpTopics.find((topic) => topic === word) ?? null
}
