/** The desktop application's front door. */
import { openLastingHost } from './host.ts'
import { dataFolder } from './platform/home.ts'
import { runDesktop } from './shell/desktop.ts'

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
