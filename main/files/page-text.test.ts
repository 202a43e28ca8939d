import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodePage } from './page-charset.ts'
import { pageText } from './page-text.ts'

const markdown = (html: string, url = 'https://docs.test/guide/') =>
  pageText({ bytes: Buffer.from(html), charset: 'utf-8', url }).markdown

describe('X-906 a page as Markdown', () => {
  test.each([
    [
      'headings and paragraphs',
      '<h1>One <b>two</b></h1><p>a\n  b</p><p>c<h3>d</h3>',
      '# One **two**\n\na b\n\nc\n\n### d',
    ],
    [
      'inline marks',
      '<p>a <em>b </em>c <code>x`y</code> <s>d</s><br>e',
      'a *b* c ``` x`y ``` ~~d~~\ne'.replace('```', '``').replace('```', '``'),
    ],
    [
      'links are absolute',
      '<a href="../api?q=(1)"> the <b>api</b></a><a href="#top">up</a><a href="javascript:x()">run</a>',
      '[the **api**](https://docs.test/api?q=%281%29)uprun',
    ],
    ['a base of its own', '<base href="https://cdn.test/x/"><a href="y">z</a>', '[z](https://cdn.test/x/y)'],
    [
      'images with words',
      '<img src="/a.png" alt="A  cat"><img src="/b.png"><img alt="data" src="data:image/png;base64,AA">',
      '![A cat](https://docs.test/a.png)',
    ],
    [
      'lists in lists',
      '<ul><li>a<ul><li>b</li><li>c</li></ul></li><li>d</ul><ol start=3><li>x<li>y</ol>',
      '- a\n\n  - b\n  - c\n- d\n\n3. x\n4. y',
    ],
    ['quotes', '<blockquote><p>a</p><p>b</p></blockquote>', '> a\n>\n> b'],
    [
      'code',
      '<pre><code class="hljs language-ts">\nconst a = 1\n  b()\n</code></pre>',
      '```ts\nconst a = 1\n  b()\n```',
    ],
    ['code with fences in it', '<pre>```\nx\n```</pre>', '````\n```\nx\n```\n````'],
    ['definitions', '<dl><dt>Term</dt><dd>Meaning</dd></dl>', '**Term**\n\nMeaning'],
    [
      'a table',
      '<table><thead><tr><th>A<th>B</thead><tr><td>1|2<td>a<br>b</tr></table>',
      '| A | B |\n| --- | --- |\n| 1\\|2 | a b |',
    ],
    ['a table that only lays out', '<table><tr><td><p>a</p><p>b</p></td><td>c</td></tr></table>', 'a\n\nb\n\nc'],
    ['entities', '<p>&lt;b&gt; &amp;nbsp; &eacute; a&nbsp;b', '<b> &nbsp; é a\u00a0b'],
    ['a rule', 'a<hr>b', 'a\n\n---\n\nb'],
  ])('%s', (_, html, expected) => {
    expect(markdown(html)).toBe(expected)
  })

  test.each([
    '<script>bad()</script>',
    '<style>p { bad }</style>',
    '<p hidden>bad</p>',
    '<div aria-hidden="true"><p>bad<img alt=bad src=/x></div>',
    '<p style="color: red; DISPLAY : none">bad</p>',
    '<template>bad</template>',
    '<svg><title>bad</title><text>bad</text></svg>',
    '<noscript>bad</noscript>',
    '<!-- bad -->',
    '<input type=hidden value=bad>',
    '<span style="visibility:hidden"><br>bad</span>',
  ])('scripts, styles and what is hidden are not there: %s', (html) => {
    expect(markdown(`<p>before</p>${html}<p>after</p>`)).toBe('before\n\nafter')
  })

  test('its title is told apart', () => {
    const page = pageText({ bytes: Buffer.from('<title>The  page</title><p>x'), charset: null, url: 'https://a.test/' })
    expect(page).toEqual({ title: 'The page', markdown: 'x' })
  })

  test.each([
    ['header', Buffer.from('caf\xe9', 'latin1'), 'iso-8859-1', 'café'],
    [
      'page',
      Buffer.from('<meta charset="windows-1251">\xef\xf0\xe8', 'latin1'),
      null,
      '<meta charset="windows-1251">при',
    ],
    ['neither, UTF-8', Buffer.from('café'), null, 'café'],
    ['neither, not UTF-8', Buffer.from('caf\xe9', 'latin1'), null, 'café'],
    ['unknown name', Buffer.from('café'), 'x-nobody', 'café'],
  ])('bytes are read as the %s says', (_, bytes, charset, text) => {
    expect(decodePage(bytes, charset)).toBe(text)
  })
})

test('Z-242 X-906 no table, run of marks or number of elements makes it slow; what nests beyond reason is refused', () => {
  const many = 50_000
  const pages = [
    '<div>'.repeat(1_500) + 'word '.repeat(many),
    '<blockquote>'.repeat(1_500) + 'x',
    '<ul><li>'.repeat(700) + 'x',
    '<b>x</i>'.repeat(1_500) + '</i>'.repeat(many),
    `<table>${'<tr><td>a<td>b'.repeat(many)}`,
    `<table><tr>${'<td>a'.repeat(many)}`,
    '<p>a <a href="/x">b</a>'.repeat(many),
    `<pre>${'`'.repeat(many)}`,
    `<p style="${'display '.repeat(many)}">x`,
  ]
  for (const page of pages) expect(markdown(page)).toBeTypeOf('string')
  expect(() => markdown('<div>'.repeat(many))).toThrow('elements in one another')
}, 60_000)

test('Z-190 X-906 whatever comes in, no tag of it comes out but as text that was text, and nothing throws', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '<p>',
      '</p>',
      '<ul>',
      '<li>',
      '</ul>',
      '<table>',
      '<tr>',
      '<td>',
      '</table>',
      '<pre>',
      '</pre>',
      '<a href=/x>',
      '</a>',
      '<b>',
      '</b>',
      '<script>',
      '</script>',
      '<div hidden>',
      '</div>',
      '<br>',
      '<h2>',
      '</h2>',
      '<blockquote>',
      '</blockquote>',
    ),
    fc.string({ maxLength: 12 }).map((text) => text.replaceAll(/[<&>]/g, '')),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      expect(markdown(pieces.join(''))).not.toMatch(/<[a-z/]/)
    }),
    { numRuns: 500 },
  )
})

test('X-906 a long run of blanks costs its length, not the square of it', () => {
  const blanks = ' '.repeat(200_000)
  expect(markdown(`<pre>${blanks}x</pre>`)).toBe(`\`\`\`\n${blanks}x\n\`\`\``)
})
