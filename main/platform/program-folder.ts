/** Where Lathe's own files are, from source and from any depth of the build. */
import { access } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const depthMax = 6

/** The folder that holds `assets/`: the checkout, or the installed app's. Throws where the installation lacks it. */
export async function programFolder(): Promise<string> {
  let folder = import.meta.dirname
  for (let depth = 0; depth < depthMax; depth++, folder = dirname(folder)) {
    const found = await access(join(folder, 'assets', 'demo-workspace')).then(
      () => true,
      () => false,
    )
    if (found) return folder
  }
  throw new Error('The installation is not complete: the folder "assets" is missing.')
}
