/** The page over the shell's own scheme: listed files only, by GET, with the policy on every answer (Z-151, Z-152). */
import { readFile } from 'node:fs/promises'
import { protocol } from 'electron'
import type { PageFile } from '../transport/page-files.ts'
import { pageHeaders } from '../transport/page-policy.ts'
import { pageScheme, pathOnPage } from './page-origin.ts'

const crashPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Lathe</title>
<style>body{font:15px/1.6 system-ui;max-width:36rem;margin:20vh auto;padding:0 1rem;color-scheme:light dark}</style>
<h1>This window crashed three times in a minute</h1>
<p>Your sessions go on and nothing is lost. Choose View, Reload to try again. The log in the data folder has the details.</p></html>`

/** To be called before the app is ready. */
export function registerPageScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: pageScheme, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ])
}

export function servePage(files: ReadonlyMap<string, PageFile>): void {
  protocol.handle(pageScheme, async ({ method, url }) => {
    const path = pathOnPage(url)
    if (path === null || method !== 'GET') return new Response(null, { status: 403, headers: pageHeaders })
    if (path === '/crashed')
      return new Response(crashPage, { headers: { ...pageHeaders, 'content-type': 'text/html; charset=utf-8' } })
    const file = files.get(path)
    if (!file) return new Response(null, { status: 404, headers: pageHeaders })
    return new Response(await readFile(file.path), { headers: { ...pageHeaders, 'content-type': file.mediaType } })
  })
}
