/** The page over the shell's own scheme: listed files only, by GET, with the policy on every answer (Z-151, Z-152). */
import { readFile } from 'node:fs/promises'
import { protocol } from 'electron'
import type { PageFile } from '../transport/page-files.ts'
import { pageHeaders } from '../transport/page-policy.ts'
import { crashedPath, pageScheme, pathOnPage } from './page-origin.ts'

const html = 'text/html; charset=utf-8'
const crashScript = `const details = document.querySelector('pre')
document.querySelector('#copy').addEventListener('click', () => navigator.clipboard.writeText(details.textContent))
document.querySelector('#again').addEventListener('click', () => location.assign('/'))
`

/** What stands where the page crashed too often. `details` are for a report and name no content (Z-157). */
function crashPage(details: string): string {
  const shown = details.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Lathe</title>
<style>body{font:15px/1.6 system-ui;max-width:36rem;margin:20vh auto;padding:0 1rem;color-scheme:light dark}</style>
<h1>This window crashed three times in a minute</h1>
<p>Your sessions go on and nothing is lost. The log in the data folder has more.</p>
<pre>${shown}</pre>
<p><button id="again">Try again</button> <button id="copy">Copy details</button></p>
<script src="${crashedPath}.js"></script></html>`
}

/** To be called before the app is ready. */
export function registerPageScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: pageScheme, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ])
}

export function servePage(files: ReadonlyMap<string, PageFile>, crashDetails: () => string): void {
  const answer = (body: BodyInit | null, status: number, mediaType = 'text/plain'): Response =>
    new Response(body, { status, headers: { ...pageHeaders, 'content-type': mediaType } })
  protocol.handle(pageScheme, async ({ method, url }) => {
    const path = pathOnPage(url)
    if (path === null || method !== 'GET') return answer(null, 403)
    if (path === crashedPath) return answer(crashPage(crashDetails()), 200, html)
    if (path === `${crashedPath}.js`) return answer(crashScript, 200, 'text/javascript; charset=utf-8')
    const file = files.get(path)
    return file ? answer(await readFile(file.path), 200, file.mediaType) : answer(null, 404)
  })
}
