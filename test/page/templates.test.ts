import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Invalid } from '../../src/kernel/errors.ts'
import { compileTemplate, type TemplateValues } from '../../src/page/template.ts'
import { readTemplates } from '../../src/page/templates.ts'

const nothing: TemplateValues = {
  status: undefined,
  title: undefined,
  message: undefined,
  user: undefined,
  method: undefined,
  path: undefined,
  requestId: undefined,
  contact: undefined,
  language: undefined,
  retryUrl: undefined,
  loginUrl: undefined,
  logoutUrl: undefined,
  switchUrl: undefined,
}

const render = (source: string, values: Partial<TemplateValues> = {}) =>
  compileTemplate(source, '404.html').render({ ...nothing, ...values }).text

async function problemsOf(run: () => unknown): Promise<string> {
  try {
    await run()
    return ''
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    return error.message
  }
}

function directoryOf(files: Readonly<Record<string, string | Buffer>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'postern-pages-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  return directory
}

describe('a page of the operator', () => {
  test('shows values as text, in attributes and in addresses', () => {
    const page = `<!DOCTYPE html>\n<title>{{status}} {{ title }}</title><!-- a < b -->
<p title='{{path}}' class=x>{ {{message}} }</p><br/><a href="mailto:a@b?subject={{requestId}}">x</a>
<a href="{{retryUrl}}#top">again</a>`

    expect(
      render(page, {
        status: '404',
        title: '<b>',
        path: `'"><script>`,
        message: 'a & b',
        requestId: 'x&body=y"\ud800',
        retryUrl: '/a?b=1&c="',
      }),
    ).toBe(`<!DOCTYPE html>\n<title>404 &#60;b&#62;</title><!-- a < b -->
<p title='&#39;&#34;&#62;&#60;script&#62;' class=x>{ a &#38; b }</p><br/><a href="mailto:a@b?subject=x%26body%3Dy%22%EF%BF%BD">x</a>
<a href="/a?b=1&#38;c=&#34;#top">again</a>`)
  })

  test('leaves out a part without a value, and the parts in it', () => {
    const page = '{{#user}}<p>{{user}}{{#contact}}, {{contact}}{{/contact}}</p>{{/user}}.'

    expect(render(page)).toBe('.')
    expect(render(page, { contact: 'us' })).toBe('.')
    expect(render(page, { user: 'ada' })).toBe('<p>ada</p>.')
    expect(render(page, { user: 'ada', contact: 'us' })).toBe('<p>ada, us</p>.')
  })

  test('may have style elements, whose hashes the policy allows', () => {
    // Computed with openssl dgst -sha256 -binary | base64 over "p { color: red }".
    const hash = "'sha256-ngewhhP73WDIbgwseeu52VAAJgKdGUsu1IUQQsAm8m4='"
    const { styles } = compileTemplate('<STYLE media=all>p { color: red }</Style >', 'a')

    expect(styles).toEqual([hash])
  })

  test.each([
    ['{{usr}}', 'unknown placeholder "usr" (known: status,'],
    ['{{constructor}}', 'unknown placeholder'],
    ['{{#user}}', '{{#user}} does not end'],
    ['{{/user}}', '{{/user}} ends nothing'],
    ['{{#user}}{{#path}}{{/user}}{{/path}}', '{{/user}} ends nothing'],
    ['{{user', '"<" or "{{" that begins nothing'],
    ['a < b', '"<" or "{{" that begins nothing'],
    ['<p {{user}}>', 'write each attribute as name="value"'],
    ['<p class={{user}}>', 'write each attribute as name="value"'],
    ['<p {{user}}="x">', 'write each attribute as name="value"'],
    ['<{{user}}>', '"<" or "{{" that begins nothing'],
    ['</{{user}}>', '"<" or "{{" that begins nothing'],
    ['<p title="a"class="b">', 'write each attribute as name="value"'],
    ['<p title="{{user', 'write each attribute as name="value"'],
    ['<p title="{{">', '"{{" without a placeholder'],
    ['<p title="{{#user}}x{{/user}}">', 'unknown placeholder "#user"'],
    ['<p onclick="{{user}}">', 'must not be in the attribute onclick'],
    ['<p style="color:{{user}}">', 'must not be in the attribute style'],
    ['<meta content="0;url={{path}}">', 'must not be in the attribute content'],
    ['<a href="{{path}}">', '{{path}} cannot begin an attribute with an address'],
    ['<a href="/x{{retryUrl}}">', '{{retryUrl}} must begin an attribute with an address'],
    ['<p title="{{retryUrl}}">', '{{retryUrl}} must begin an attribute with an address'],
    ['<p>{{retryUrl}}</p>', '{{retryUrl}} belongs into a quoted attribute'],
    ['<!-- {{user}} -->', 'no placeholder can be in a comment'],
    ['<!--> {{user}} -->', '"<" or "{{" that begins nothing'],
    ['<!-- a --!> {{user}} -->', '"<" or "{{" that begins nothing'],
    ['<!-- <!-- --> -->', '"<" or "{{" that begins nothing'],
    ['<![CDATA[{{user}}]]>', '"<" or "{{" that begins nothing'],
    ['<?php {{user}} ?>', '"<" or "{{" that begins nothing'],
    ['<style>p::after { content: "{{user}}" }</style>', 'no placeholder can be in <style>'],
    ['<style>p {}', '<style> does not end'],
    ['<title>{{#user}}<p>', '{{#user}} must stand between elements'],
    ['<script>{{user}}</script>', '<script> is not allowed in a page'],
    ['<svg><style>', '<svg> is not allowed in a page'],
    ['<base href="//evil.example">', '<base> is not allowed in a page'],
    ['<noscript>', '<noscript> is not allowed in a page'],
  ])('is invalid: %s', async (source, problem) => {
    const found = await problemsOf(() => compileTemplate(`<p>\n${source}`, '404.html'))

    expect(found).toMatch(/^404\.html:2: /)
    expect(found).toContain(problem)
  })

  test('with any value has the same elements and attributes', () => {
    const page = `<title>{{title}}</title><p title="{{path}}">{{user}}</p><textarea>{{message}}</textarea><a href="/x?y={{path}}">z</a>`
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom('<', '>', '"', "'", '&', '</title>', '-->', '{{user}}', '`', '=')),
    )
    fc.assert(
      fc.property(value, (given) => {
        const text = given.toString()
        const shown = render(page, { title: text, path: text, user: text, message: text })
        expect(shown.replace(/&#\d+;/g, '').match(/[<>"]/g)).toEqual(page.match(/[<>"]/g))
      }),
    )
  })
})

describe('a directory of pages', () => {
  test('has a page for a status and a language, else for the status, else for all', async () => {
    const { find, shown } = await readTemplates(
      directoryOf({
        'error.html': 'any',
        'error.zh.html': 'any zh',
        '404.html': '\ufeffnone',
        '404.zh.html': 'none zh',
        '.hidden': '',
      }),
    )
    const of = (status: number, language: 'en' | 'zh') =>
      find(status, language)?.render(nothing).text

    expect(shown).toBe('4 pages')
    expect([of(404, 'en'), of(404, 'zh'), of(502, 'en'), of(502, 'zh')]).toEqual([
      'none',
      'none zh',
      'any',
      'any zh',
    ])
    expect((await readTemplates(directoryOf({ '404.html': '' }))).find(403, 'en')).toBeUndefined()
  })

  test.each<[string, Readonly<Record<string, string | Buffer>>, string]>([
    ['no page', {}, 'has no page; add one such as error.html'],
    ['a name of no page', { '40x.html': '' }, '40x.html: is no page: use error.html'],
    ['a status of no error', { '200.html': '' }, 'is no page'],
    ['a style sheet', { 'error.html': '', 'style.css': '' }, 'style.css: is no page'],
    ['other bytes than UTF-8', { 'error.html': Buffer.from([0xe9]) }, 'is not UTF-8'],
    ['a page that is too large', { 'error.html': 'x'.repeat(262_145) }, 'is larger than 256 KiB'],
    ['a broken page', { 'error.html': 'a\n{{b}}' }, 'error.html:2: unknown placeholder "b"'],
  ])('with %s is invalid', async (_, files, problem) => {
    expect(await problemsOf(() => readTemplates(directoryOf(files)))).toContain(problem)
  })

  test('that is absent or has several problems says so', async () => {
    expect(await problemsOf(() => readTemplates('/nothing/here'))).toContain(
      'cannot be read as directory of pages (ENOENT)',
    )
    const found = await problemsOf(() =>
      readTemplates(directoryOf({ '403.html': '<script>', 'a.html': '' })),
    )
    expect(found.split('\n')).toHaveLength(2)
  })
})
