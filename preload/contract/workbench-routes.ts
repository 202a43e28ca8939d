/** The host itself, its settings, and the workspaces it knows. */
import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { Browser, BrowserRights } from './browsers.ts'
import { WorkbenchEvent, Workspace } from './events.ts'
import { Id } from './ids.ts'
import { act, done, Path, route, stream } from './route.ts'
import { Settings } from './settings.ts'
import { Update } from './update.ts'

export const HostInfo = z.object({
  kind: z.enum(['desktop', 'web']),
  version: z.string(),
  platform: z.string(),
  home: z.string(),
  dataFolder: z.string(),
  capabilities: z.array(z.enum(['open_folder_dialog', 'reveal', 'open_external', 'keychain', 'windows', 'updates'])),
  banner: z.string().nullable(),
  /** What the window is shown in, where a web host serves it. */
  browser: Browser.nullable(),
})
export type HostInfo = z.infer<typeof HostInfo>

export const workbenchRoutes = {
  host: {
    info: route.output(HostInfo),
    /** Every workbench-scope event from now on (T-215): subscribe first, then read the lists. */
    watch: route.input(z.object({ ...stream })).output(eventIterator(WorkbenchEvent)),
    reveal: route.input(z.object({ path: Path })).output(done),
    openExternal: route.input(z.object({ url: z.string().max(8_192) })).output(done),
    chooseFolder: route.output(z.object({ path: z.string().nullable() })),
    update: route.output(Update),
    /** Looks for a newer version now and downloads it; answers what is known after that. */
    lookForUpdate: route.output(Update),
    /** `now`: where something runs, the application names it and asks first; it may stay as it is. */
    installUpdate: route.input(z.object({ ...act, when: z.enum(['now', 'quit']) })).output(done),
  },
  /** Who signed in to the web host; nobody where there is none. */
  browsers: {
    list: route.output(z.array(Browser)),
    /** Narrowed, the address it came by lets nobody in any more. */
    setRights: route.input(z.object({ ...act, id: Id, rights: BrowserRights })).output(done),
    signOut: route.input(z.object({ ...act, id: Id })).output(done),
    /** An address that lets a browser in with these rights. Throws `host.not_here` where no web host serves. */
    address: route.input(z.object({ rights: BrowserRights })).output(z.object({ url: z.string() })),
  },
  streams: {
    /** Credit: how many frames of `stream` the client has taken in all. */
    ack: route.input(z.object({ ...stream, taken: z.number().int().nonnegative() })).output(done),
  },
  settings: {
    get: route.output(Settings),
    set: route.input(z.object({ ...act, settings: Settings.partial() })).output(Settings),
    preferences: route.output(z.record(z.string(), z.unknown())),
    setPreferences: route
      .input(z.object({ ...act, preferences: z.record(z.string().max(64), z.unknown()) }))
      .output(z.record(z.string(), z.unknown())),
  },
  workspaces: {
    list: route.output(z.array(Workspace)),
    /** `trust`: the person named it themselves, on a command line (Z-4). */
    open: route.input(z.object({ ...act, path: Path, trust: z.boolean().optional() })).output(Workspace),
    /** The person's answer to "Trust this folder?"; it counts for the folders below as well. */
    trust: route.input(z.object({ ...act, path: Path, trusted: z.boolean() })).output(Workspace),
    openDemo: route.input(z.object({ ...act })).output(Workspace),
    forget: route.input(z.object({ ...act, path: Path })).output(done),
    /** Sessions of a folder that moved: all of them at once (S-54). */
    locate: route.input(z.object({ ...act, path: Path, to: Path })).output(Workspace),
    /** Folders below `path`, for choosing one where there is no native dialog. */
    browse: route.input(z.object({ path: Path.nullable() })).output(
      z.object({
        path: z.string(),
        parent: z.string().nullable(),
        folders: z.array(z.object({ name: z.string(), path: z.string(), git: z.boolean() })),
      }),
    ),
  },
}
