import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { type Browser, chromium, type Page, type Response } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Invalid } from '../../src/kernel/errors.ts'
import { compileTemplate, type TemplateValues } from '../../src/page/template.ts'
import { violations, watchConsole } from '../support/accessibility.ts'
import { findChromium } from '../support/browser.ts'
import { startWithPage } from '../support/login-page.ts'
import { startRecordingUpstream } from '../support/recording-upstream.ts'
import { tokenOf } from '../support/tokens.ts'

const program = findChromium()
if (program === undefined) console.log('skipped: no Chromium found; set POSTERN_TEST_CHROMIUM')

const views = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [390, 1280].flatMap((width) =>
    ['en', 'zh-CN'].map((locale) => {
      // Each width and each language with and without it.
      const javaScriptEnabled = (width === 390) === (locale === 'en')
      return { colorScheme, width, locale, javaScriptEnabled } as const
    }),
  ),
)

/** Pieces of HTML, of which some orders are pages and few are good ones. */
const pieces: readonly string[] = [
  ...['<p ', '<p>', '</p>', '<a href="', '<b', 'title="', "title='", 'a=b', ' ', '\n', '"', "'"],
  ...['>', '/>', '<', '</', '<!--', '-->', '--!>', '<!-->', '<!doctype html>', '<!', '<?', '='],
  ...['<style>', '</style>', '<title>', '</title>', '<textarea>', '</textarea>', '<svg>', '/x'],
  ...['{{user}}', '{{user}}', '{{user}}', '{{path}}', '{{retryUrl}}', '{{#user}}', '{{/user}}'],
  ...['{', '}}', '<select>', '<table>', '<script>', '</script>', '<img alt="', '<br', 'x'],
]

function compiled(source: string) {
  try {
    return compileTemplate(source, 'a.html')
  } catch (error) {
    if (error instanceof Invalid) return undefined
    throw error
  }
}

describe.skipIf(program === undefined)('pages for refusals and faults in Chromium', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] })
  })
  afterAll(() => browser?.close())

  test.each(views)(
    'are accessible: $colorScheme, $width px, $locale, JavaScript: $javaScriptEnabled',
    async ({ colorScheme, width, locale, javaScriptEnabled }) => {
      const service = await startRecordingUpstream()
      onTestFinished(() => service.close())
      const postern = await startWithPage({
        config: {
          application: { mode: 'dev' },
          pages: { contact: 'help@shop.example' },
          upstreams: {
            service: {
              ...{ targets: [service.origin], connections: 1, maxShare: 100 },
              ...{ queueTimeoutMs: 200, headersTimeoutMs: 4000 },
            },
          },
        },
        routes: [
          { path: '/app', upstream: 'service' },
          { path: '/few', upstream: 'backend', limit: { requests: 1, seconds: 3600 } },
          { path: '/small', upstream: 'backend', bodyBytes: 1 },
        ],
        rules: [
          'editor, /app/open*, *',
          'editor, /nothing, GET',
          'editor, /few, GET',
          'editor, /small, POST',
        ],
      })
      const context = await browser.newContext({
        ...{ colorScheme, locale, javaScriptEnabled },
        viewport: { width, height: 720 },
        extraHTTPHeaders: { Authorization: `Bearer ${tokenOf('editor')}` },
      })
      const page = await context.newPage()
      const problems = watchConsole(page)
      const origin = `http://127.0.0.1:${postern.publicPort}`

      async function examine(at: Page, status: number, answer: Response | null) {
        expect([at.url(), answer?.status()]).toEqual([at.url(), status])
        expect(await at.textContent('main')).toContain('help@shop.example')
        expect([status, await violations(at, javaScriptEnabled)]).toEqual([status, []])
        const overflow = 'document.documentElement.scrollWidth > innerWidth'
        expect([status, await at.evaluate(overflow)]).toEqual([status, false])
        const { POSTERN_TEST_SCREENSHOTS: folder } = process.env
        const name = `${status}-${colorScheme}-${width}-${locale}`
        if (folder !== undefined) await at.screenshot({ path: `${folder}/${name}.png` })
      }
      const opens = async (path: string, status: number) =>
        examine(page, status, await page.goto(origin + path))

      await opens('/app/closed', 403)
      await opens('/nothing', 404)
      await page.goto(`${origin}/few`)
      await opens('/few', 429)

      const form = `<form method="post" action="${origin}/small"><button name="a" value="b">Send</button></form>`
      service.answerWith((socket) => {
        const head = `Content-Type: text/html\r\nContent-Length: ${form.length}`
        socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${form}`)
      })
      await page.goto(`${origin}/app/open/form`)
      const sent = page.waitForResponse(`${origin}/small`)
      await page.click('button')
      await page.waitForURL(`${origin}/small`)
      await examine(page, 413, await sent)

      service.answerWith((socket) => socket.destroy())
      await opens('/app/open', 502)
      const waits = Promise.withResolvers<void>()
      service.answerWith(() => waits.resolve())
      const slow = await context.newPage()
      const late = slow.goto(`${origin}/app/open/slow`)
      await waits.promise
      await opens('/app/open', 503)
      await examine(slow, 504, await late)
      expect(problems).toEqual([])
      await context.close()
    },
  )

  test('of the operator show their styles, run no script and link back', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'postern-pages-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    writeFileSync(
      join(directory, 'error.html'),
      `<!doctype html>\r\n<html lang="{{language}}"><title>{{title}}</title><style>\r\nh1 { color: rgb(1, 2, 3) }\r\n</style>
<h1 onclick="document.title = 'run'" style="color: red">{{status}}</h1><p id="user">{{user}}</p>
<a href="javascript:document.title='run'">run</a>{{#retryUrl}}<a id="again" href="{{retryUrl}}">again</a>{{/retryUrl}}`,
    )
    const postern = await startWithPage({
      config: { application: { mode: 'dev' }, pages: { directory } },
    })
    const context = await browser.newContext({
      extraHTTPHeaders: { Authorization: `Bearer ${tokenOf('editor')}` },
    })
    const page = await context.newPage()
    await page.goto(`http://127.0.0.1:${postern.publicPort}/api/v1/sys-user?a=%22%3E%3Cb%3E`)

    expect(await page.evaluate("getComputedStyle(document.querySelector('h1')).color")).toBe(
      'rgb(1, 2, 3)',
    )
    expect(await page.textContent('#user')).toBe('editor-user')
    await page.click('h1')
    await page.click('text=run')
    expect(await page.title()).not.toBe('run')
    await page.click('#again')
    expect(page.url()).toMatch(/\/api\/v1\/sys-user\?a=%22%3E%3Cb%3E$/)
    await context.close()
  })

  test('of the operator have the same elements and attributes, whatever the values', async () => {
    const page = await browser.newPage()
    const sources = fc.sample(
      fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 9 }),
      { numRuns: 60_000 },
    )
    const hostile = [
      `"><img src=x onerror=x>`,
      `' onload='x`,
      ` onload=x `,
      `--><script>x</script><!--`,
      `</title></textarea></style><script>x</script>`,
      `javascript:x`,
      '&quot;&lt;script&gt;',
      '\u0000<b>',
      '`<b>',
    ]
    const none = Object.fromEntries(
      ['status', 'title', 'message', 'method', 'requestId', 'contact', 'language'].map((name) => [
        name,
        undefined,
      ]),
    ) as unknown as TemplateValues
    const pairs = sources.flatMap((parts) => {
      const template = parts.join('').includes('{{') ? compiled(parts.join('')) : undefined
      if (template === undefined) return []
      const usual = template.render({ ...none, user: 'x', path: 'x', retryUrl: '/x' }).text
      return hostile.map((value) => [
        usual,
        template.render({ ...none, user: value, path: value, retryUrl: `/${value}` }).text,
      ])
    })
    expect(pairs.length).toBeGreaterThan(5000)
    const different = await page.evaluate(
      `(${(given: string) => {
        interface Element {
          readonly tagName: string
          readonly attributes: Iterable<{ readonly name: string }>
        }
        const { DOMParser } = globalThis as unknown as {
          readonly DOMParser: new () => {
            parseFromString(
              text: string,
              type: string,
            ): { querySelectorAll(all: string): Iterable<Element> }
          }
        }
        const shape = (text: string) =>
          [...new DOMParser().parseFromString(text, 'text/html').querySelectorAll('*')]
            .map(({ tagName, attributes }) => [tagName, ...[...attributes].map(({ name }) => name)])
            .join()
        return (JSON.parse(given) as [string, string][]).filter(([a, b]) => shape(a) !== shape(b))
      }})(${JSON.stringify(JSON.stringify(pairs))})`,
    )
    expect(different).toEqual([])
    await page.close()
  })
})
