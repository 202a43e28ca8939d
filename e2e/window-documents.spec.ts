/** Documents in the Files tab, read as the agent reads them. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pdf, zip } from '../main/files/test-documents.ts'
import { expect, test } from './window.ts'

test('F-1303 F-401 F-405 a PDF shows its text page by page, an Office document too, and an archive that is none says so', async ({
  open,
}) => {
  const { lab, window } = await open()
  const put = (name: string, bytes: Uint8Array) => writeFile(join(lab.workspace, name), bytes)
  await put('paper.pdf', pdf(...Array.from({ length: 25 }, (_, at) => `the ${at + 1}. page`)))
  const document =
    '<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>Quarterly figures</w:t></w:r></w:p></w:body></w:document>'
  await put('report.bin', zip({ '[Content_Types].xml': '<Types/>', 'word/document.xml': document }))
  await put('sources.zip', zip({ 'a.txt': 'nothing' }))
  await window.newSession()
  const files = await window.tab('Files')
  const show = async (path: string) => {
    await files.getByRole('searchbox', { name: 'Go to file' }).fill(path)
    await files.getByRole('list', { name: 'Found files' }).getByRole('button', { name: path }).click()
    return window.inspector.getByRole('region', { name: path, exact: true })
  }

  const paper = await show('paper.pdf')
  await expect(paper).toContainText('the 1. page')
  await expect(paper).toContainText('without the layout')
  await expect(paper).toContainText('Pages 1 to 20 of 25')
  for (const colorScheme of ['light', 'dark'] as const) {
    await window.page.emulateMedia({ colorScheme })
    await window.page.screenshot({ path: test.info().outputPath(`document-${colorScheme}.png`) })
  }
  await paper.getByRole('button', { name: 'Later pages' }).click()
  await expect(paper).toContainText('the 25. page')
  await expect(paper.getByRole('button', { name: 'Later pages' })).toBeDisabled()
  await paper.getByRole('button', { name: 'Earlier pages' }).click()
  await expect(paper).toContainText('the 1. page')

  await expect(await show('report.bin')).toContainText('Quarterly figures')
  await expect(await show('sources.zip')).toContainText('A binary file of')
})
