import { strToU8, zipSync } from 'fflate'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pdf, zip } from '../files/test-documents.ts'
import { codeOf, failureOf, makeWorkspace, type TestWorkspace } from '../files/test-workspace.ts'
import { FileTools } from './test-context.ts'

let workspace: TestWorkspace
let tools: FileTools

beforeEach(async () => {
  workspace = await makeWorkspace()
  tools = new FileTools(workspace)
})
afterEach(() => workspace[Symbol.asyncDispose]())

const read = (path: string, more: Record<string, unknown> = {}) => tools.text('read_file', { path, ...more })
const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`
const cell = (inner: string) => `<w:tc>${inner}</w:tc>`

test('FA-9 F-405 F-403 a PDF is read by pages, its type found by content, ranges clamped or refused with the valid one', async () => {
  await workspace.put('paper.txt', pdf('one', 'two', '', 'four', 'five', 'six', 'seven'))
  const all = await read('paper.txt')
  expect(all).toContain('1| --- Page 1 ---\n2| one\n3| --- Page 2 ---\n4| two\n5| --- Page 4 ---\n6| four')
  expect(all).toContain('[7 pages, 1-7 shown]')
  expect(await read('paper.txt', { pages: ' 5-9 ' })).toContain(
    '1| --- Page 5 ---\n2| five\n3| --- Page 6 ---\n4| six\n5| --- Page 7 ---\n6| seven',
  )
  expect(await failureOf(tools.call('read_file', { path: 'paper.txt', pages: '8' }))).toMatchObject({
    code: 'tool.invalid_arguments',
    message: expect.stringContaining('7 pages; use 1-7'),
  })
  await workspace.put('scan.pdf', pdf('', ''))
  expect(await read('scan.pdf')).toContain('probably scanned')
  await workspace.put('many.pdf', pdf(...Array.from({ length: 25 }, (_, at) => `page ${at + 1}`)))
  expect(await read('many.pdf')).toContain('25 pages, 1-20 shown; for the next ones use pages 21-25')
})

test('F-406 F-402 a DOCX is paragraphs and tables in order, paged like text', async () => {
  const nested = `<w:tbl><w:tr>${cell(paragraph('x'))}${cell(paragraph('y'))}</w:tr></w:tbl>`
  const table = `<w:tbl><w:tr>${cell(paragraph('a  b'))}${cell(paragraph('c'))}</w:tr><w:tr>${cell(nested)}${cell(paragraph('d'))}</w:tr></w:tbl>`
  await workspace.put(
    'a.docx',
    zip({
      'word/document.xml': `<w:document><w:body>${paragraph('Title &amp; more')}<w:p/>${paragraph(' ')}${table}${paragraph('End')}</w:body></w:document>`,
    }),
  )
  expect(await read('a.docx')).toBe(
    '1| Title & more\n2| \n3| a b\tc\n4| x | y\td\n5| \n6| End\n[end of file, 6 lines, no line end after the last]',
  )
  expect(await read('a.docx', { offset: 6 })).toContain('6| End')
  await workspace.put('blank.docx', zip({ 'word/document.xml': '<w:document/>' }))
  expect(await read('blank.docx')).toContain('holds no text')
})

test('F-407 sheets and slides come in order with their names', async () => {
  await workspace.put(
    'a.xlsx',
    zip({
      'xl/workbook.xml':
        '<workbook><sheets><sheet name="Empty" r:id="r1"/><sheet name="Sums &lt;1&gt;" r:id="r2"/></sheets></workbook>',
      'xl/_rels/workbook.xml.rels':
        '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Target="/xl/worksheets/sheet2.xml"/></Relationships>',
      'xl/sharedStrings.xml': '<sst><si><t>Total</t></si></sst>',
      'xl/worksheets/sheet1.xml': '<worksheet><sheetData/></worksheet>',
      'xl/worksheets/sheet2.xml': `<worksheet><sheetData>${row(1)}${row(7, '<c r="A7" t="s"><v>0</v></c>', '<c r="C7"><f>6*7</f><v>42</v></c>')}</sheetData></worksheet>`,
    }),
  )
  expect(await read('a.xlsx')).toContain('1| --- Sheet: Sums <1> ---\n2| Total\t\t42\n')
  const slide = (...texts: string[]) =>
    `<p:sld>${texts.map((text) => `<p:grpSp><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:grpSp>`).join('')}</p:sld>`
  await workspace.put(
    'a.pptx',
    zip({
      'ppt/presentation.xml':
        '<p:presentation><p:sldIdLst><p:sldId r:id="r9"/><p:sldId r:id="r1"/><p:sldId r:id="r2"/></p:sldIdLst></p:presentation>',
      'ppt/_rels/presentation.xml.rels':
        '<Relationships><Relationship Id="r1" Target="slides/slide1.xml"/><Relationship Id="r2" Target="slides/slide2.xml"/><Relationship Id="r9" Target="slides/slide9.xml"/></Relationships>',
      'ppt/slides/slide1.xml': slide(),
      'ppt/slides/slide2.xml': slide('Last'),
      'ppt/slides/slide9.xml': slide('First', 'of all'),
    }),
  )
  expect(await read('a.pptx')).toContain('1| --- Slide 1 ---\n2| First\n3| of all\n4| --- Slide 3 ---\n5| Last\n')
})

test('FA-9 F-403 F-404 what unpacks to too much is not opened, what is broken fails alone, and other calls go on', async () => {
  await workspace.put(
    'bomb.docx',
    zipSync({ 'word/media/x': new Uint8Array(50 * 1024 * 1024), 'word/document.xml': strToU8('<w:document/>') }),
  )
  await workspace.put('a.txt', 'fine\n')
  const [code, text] = await Promise.all([codeOf(tools.call('read_file', { path: 'bomb.docx' })), read('a.txt')])
  expect([code, text]).toEqual(['document.unsafe', '1| fine\n[end of file, 1 line]'])
  await workspace.put('cut.pdf', Buffer.from('%PDF-1.4\nnothing of it'))
  expect(await codeOf(tools.call('read_file', { path: 'cut.pdf' }))).toBe('document.failed')
  await workspace.put('plain.zip', zip({ 'a.txt': 'x' }))
  expect(await codeOf(tools.call('read_file', { path: 'plain.zip' }))).toBe('file.binary')
})

const row = (number: number, ...cells: string[]) => `<row r="${number}">${cells.join('')}</row>`
const sheet = (name: string, ...rows: string[]) =>
  zip({
    'xl/workbook.xml': `<workbook><sheets><sheet name="${name}" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows.join('')}</sheetData></worksheet>`,
  })
const inline = (reference: string, text: string) => `<c r="${reference}" t="inlineStr"><is><t>${text}</t></is></c>`
const grep = (path: string, pattern: string, more: Record<string, unknown> = {}) =>
  tools.text('grep', { path, pattern, context_before: 0, context_after: 0, ...more })

test('FA-10 F-817 F-401 F-408 a sheet is searched by the lines that are read: the hit names row and cell, a heading is none', async () => {
  await workspace.put(
    'a.xlsx',
    sheet(
      'It&apos;s S',
      row(2, inline('A2', 'x')),
      row(7, inline('A7', 'Sheet'), '<c r="C7"><f>6*7</f><v>42</v></c>'),
      row(9, inline('AB9', '42')),
    ),
  )
  expect(await grep('a.xlsx', '42')).toBe(
    "a.xlsx:3 (sheet='It''s S',row=7 C7)\n>3| Sheet\t\t42\na.xlsx:4 (sheet='It''s S',row=9 AB9)\n>4| " +
      `${'\t'.repeat(27)}42`,
  )
  expect((await read('a.xlsx')).split('\n')[2]).toBe('3| Sheet\t\t42')
  expect(await grep('a.xlsx', '--- Sheet')).toContain('Nothing found')
  expect(await grep('a.xlsx', '^', { head_limit: 2 })).toContain('[more; continue at offset 2]')
  expect(await grep('a.xlsx', '^', { output_mode: 'count' })).toBe('a.xlsx: 3\ntotal: 3 lines in 1 files')
  // Shown around a hit, a heading is not marked.
  expect(await grep('a.xlsx', 'x', { context_before: 1 })).toContain("\n 1| --- Sheet: It's S ---\n>2| x")
})

test('F-817 F-401 F-408 hits in pages, paragraphs and slides carry their place; a document is found by its content', async () => {
  await workspace.put('paper.txt', pdf('one', '', 'three Page'))
  expect(await grep('paper.txt', 'Page|one')).toBe(
    'paper.txt:2 (page=1,line=1)\n>2| one\npaper.txt:4 (page=3,line=1)\n>4| three Page\n[3 pages, 1-3 shown]',
  )
  expect(await grep('paper.txt', 'o', { pages: '1' })).toContain('[3 pages, 1-1 shown]')
  expect(await codeOf(tools.call('grep', { path: 'paper.txt', pattern: 'o', pages: '4' }))).toBe(
    'tool.invalid_arguments',
  )
  const table = `<w:tbl><w:tr>${cell(paragraph('a'))}</w:tr><w:tr>${cell(paragraph('find me'))}</w:tr></w:tbl>`
  await workspace.put(
    'a.docx',
    zip({ 'word/document.xml': `<w:document>${paragraph('Title')}<w:p/>${table}${paragraph('find it')}</w:document>` }),
  )
  expect(await grep('a.docx', 'find')).toBe(
    'a.docx:4 (paragraph=2,row=2)\n>4| find me\na.docx:6 (paragraph=3)\n>6| find it',
  )
  expect(await grep('a.docx', '^$')).toContain('Nothing found')
  tools.references.set(`attachment:${'a'.repeat(64)}`, pdf('attached'))
  expect(await grep(`attachment:${'a'.repeat(64)}`, 'attached')).toContain('(page=1,line=1)')
  await workspace.put('plain.zip', zip({ 'a.txt': 'x' }))
  expect(await grep('plain.zip', 'x')).toContain('was not searched: it is binary')
})

test('F-405 F-817 a search goes through 100 pages, a read through 20, and each names what is next', async () => {
  await workspace.put('many.pdf', pdf(...Array.from({ length: 130 }, (_, at) => `page number ${at + 1}`)))
  expect(await grep('many.pdf', 'number (30|101)$')).toBe(
    'many.pdf:60 (page=30,line=1)\n>60| page number 30\n[130 pages, 1-100 shown; for the next ones use pages 101-130]',
  )
  expect(await grep('many.pdf', 'number 101', { pages: '101-130' })).toContain('(page=101,line=1)')
})

test('F-409 a document is not edited as text', async () => {
  await workspace.put('a.pdf', pdf('one'))
  expect(await codeOf(tools.call('edit_file', { path: 'a.pdf', old_text: 'one', new_text: 'two' }))).toBe(
    'document.not_editable',
  )
})
