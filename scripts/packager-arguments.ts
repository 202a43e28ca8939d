/**
 * `LATHE_UPDATE_FEED=https://…` at packaging names the folder that holds `latest*.yml` and the files of a release. Without
 * it the application looks for no updates at all (Z-227).
 */

/** What electron-builder is told in any case, and of the feed where one is named. Throws where it is not an https address. */
export function packagerArguments(address: string | undefined): string[] {
  const always = ['--config', 'electron-builder.yml', '--publish', 'never']
  if (address === undefined || address === '') return always
  const url = URL.parse(address)
  if (url?.protocol !== 'https:' || url.username !== '' || url.search !== '' || url.hash !== '')
    throw new Error('LATHE_UPDATE_FEED is to be an https address of a folder.')
  return [...always, '-c.publish.provider=generic', `-c.publish.url=${url.href}`]
}
