/** The desktop application's front door, and that of the command line inside it. */
import { openLastingHost } from './host.ts'
import { dataFolder } from './platform/home.ts'
import { readyForCommands, runDesktop } from './shell/desktop.ts'

const commandLine = process.argv.indexOf('--command-line')

if (commandLine > 0) {
  // `bin/lathe` of an installed app: what follows is for the command line, as if it were a program of its own (Z-158).
  process.argv.splice(1, commandLine, 'lathe')
  void readyForCommands().then(() => import('./cli.ts'))
} else {
  const home = dataFolder()
  // Not awaited: the application is ready only once this module has been evaluated.
  void runDesktop({
    home,
    openHost: ({ desktop, keychain, signal }) =>
      openLastingHost({
        home,
        kind: 'desktop',
        attendance: 'attended',
        desktop,
        signal,
        ...(keychain === undefined ? {} : { keychain }),
      }),
  })
}
