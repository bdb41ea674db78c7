import { createHash } from 'node:crypto'
import { Invalid } from '../kernel/errors.ts'
import { escapeHtml, Html } from './html.ts'

/** What a page of the operator can show. A `url` begins the value of an attribute that holds one. */
const placeholders = {
  status: 'text',
  title: 'text',
  message: 'text',
  user: 'text',
  method: 'text',
  path: 'text',
  requestId: 'text',
  contact: 'text',
  language: 'text',
  retryUrl: 'url',
  loginUrl: 'url',
  logoutUrl: 'url',
  switchUrl: 'url',
} as const

type Name = keyof typeof placeholders
export type TemplateValues = Readonly<Record<Name, string | undefined>>

export interface Template {
  readonly render: (values: TemplateValues) => Html
  /** Hashes of its style elements for the Content-Security-Policy, which allows no others. */
  readonly styles: readonly string[]
}

/** HTML as it is, a value, or the beginning or end of a part that is shown only with a value. */
type Piece = string | { readonly name: Name; readonly as: 'html' | 'url-part' | 'open' | 'close' }

const comment = /<!--(?!-?>)(?:(?!<!--|--!?>)[\s\S])*-->/y
const doctype = /<!doctype [^<>{]*>/iy
const endTag = /<\/[a-z][a-z0-9-]*\s*>/iy
const startTag = /<([a-z][a-z0-9-]*)(?=[\s/>])/iy
const attribute = /\s+([a-z][a-z0-9_:.-]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|[^\s"'=<>`{}]+))?/iy
const tagEnd = /\s*\/?>/y
const text = /[^<{]+|\{(?!\{)/y
const run = /[^<{]+|[<{]/y
const placeholder = /\{\{([#/]?)([^{}]*)\}\}/y

/** Their content is not read as HTML, or they load or run something. The strict policy allows none. */
const refusedTags =
  /^(?:script|iframe|frame|frameset|object|embed|base|template|noscript|noembed|noframes|xmp|plaintext|svg|math)$/i
/** Values would be read as a script, a style, markup or an instruction. */
const closedAttributes = /^(?:on.*|style|srcdoc|content|http-equiv)$/i
const urlAttributes = /^(?:href|src|srcset|action|formaction|poster|cite|ping)$/i

/**
 * Reads a page of the operator. Values can become text and parts of quoted attributes and nothing else, so
 * a page in which a placeholder is elsewhere, or that browsers might read otherwise, is invalid.
 */
export function compileTemplate(written: string, file: string): Template {
  // As browsers do, before they compute the hash of a style.
  const source = written.replace(/\r\n?/g, '\n')
  const pieces: Piece[] = []
  const styles: string[] = []
  const open: Name[] = []
  let at = 0

  function fail(message: string): Invalid {
    const line = source.slice(0, at).split('\n').length
    return new Invalid([{ file, line, message }])
  }

  function take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = at
    const found = pattern.exec(source) ?? undefined
    at += found?.[0].length ?? 0
    return found
  }

  function nameOf(written: string): Name {
    const name = written.trim()
    if (Object.hasOwn(placeholders, name)) return name as Name
    throw fail(`unknown placeholder "${name}" (known: ${Object.keys(placeholders).join(', ')})`)
  }

  function inText([, mark = '', written = '']: RegExpExecArray, isPart: boolean): void {
    const name = nameOf(written)
    if (mark !== '' && !isPart) throw fail(`{{${mark}${name}}} must stand between elements`)
    if (mark === '#') open.push(name)
    if (mark === '/' && open.pop() !== name) throw fail(`{{/${name}}} ends nothing`)
    const isUrl = mark === '' && placeholders[name] === 'url'
    if (isUrl) throw fail(`{{${name}}} belongs into a quoted attribute such as href`)
    pieces.push({ name, as: mark === '#' ? 'open' : mark === '/' ? 'close' : 'html' })
  }

  function inAttribute(attributeName: string, value: string): void {
    const parts = value.split(/\{\{([^{}]*)\}\}/)
    parts.forEach((part, index) => {
      if (index % 2 === 0) {
        if (part.includes('{{')) throw fail('"{{" without a placeholder')
        pieces.push(part)
        return
      }
      const name = nameOf(part)
      if (closedAttributes.test(attributeName)) {
        throw fail(`{{${name}}} must not be in the attribute ${attributeName}`)
      }
      const isFirst = index === 1 && parts[0] === ''
      const holdsUrl = urlAttributes.test(attributeName)
      const isUrl = placeholders[name] === 'url'
      if (isUrl !== (holdsUrl && isFirst)) {
        const where = isUrl ? 'must begin' : 'cannot begin'
        throw fail(`{{${name}}} ${where} an attribute with an address, such as href`)
      }
      pieces.push({ name, as: holdsUrl && !isUrl ? 'url-part' : 'html' })
    })
  }

  function attributes(): void {
    for (let from = at, found = take(attribute); found; from = at, found = take(attribute)) {
      const [whole, name = '', double, single] = found
      const value = double ?? single
      if (value === undefined) pieces.push(whole)
      else {
        at = from
        pieces.push(whole.slice(0, -value.length - 1))
        inAttribute(name, value)
        pieces.push(whole.slice(-1))
        at = from + whole.length
      }
    }
  }

  /** Up to its end tag, without another element. */
  function content(element: string): void {
    const end = new RegExp(`</${element}\\s*>`, 'iy')
    const hasValues = element !== 'style'
    const from = at
    while (take(end) === undefined) {
      const found = hasValues ? take(placeholder) : undefined
      if (found !== undefined) inText(found, false)
      else if (at >= source.length) throw fail(`<${element}> does not end`)
      else if (source.startsWith('{{', at)) throw fail(`no placeholder can be in <${element}>`)
      else pieces.push(take(run)?.[0] ?? '')
    }
    if (!hasValues) styles.push(hashOf(source.slice(from, source.lastIndexOf('<', at - 1))))
    pieces.push(`</${element}>`)
  }

  function element(): boolean {
    const start = take(startTag)
    if (start === undefined) return false
    const [whole, written = ''] = start
    const name = written.toLowerCase()
    if (refusedTags.test(name)) throw fail(`<${name}> is not allowed in a page`)
    pieces.push(whole)
    attributes()
    const end = take(tagEnd)
    if (end === undefined) throw fail(`<${name}>: write each attribute as name="value"`)
    pieces.push(end[0])
    if (name === 'style' || name === 'title' || name === 'textarea') content(name)
    return true
  }

  while (at < source.length) {
    const asItIs = take(text) ?? take(endTag) ?? take(doctype) ?? take(comment)
    if (asItIs !== undefined) {
      if (asItIs[0].includes('{{')) throw fail('no placeholder can be in a comment')
      pieces.push(asItIs[0])
      continue
    }
    const found = take(placeholder)
    if (found !== undefined) inText(found, true)
    else if (!element()) throw fail('"<" or "{{" that begins nothing; write &lt; for "<"')
  }
  if (open.length > 0) throw fail(`{{#${open.at(-1)}}} does not end`)
  return { render: (values) => new Html(rendered(pieces, values)), styles }
}

function rendered(pieces: readonly Piece[], values: TemplateValues): string {
  let text = ''
  /** How many enclosing parts are left out. */
  let hidden = 0
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      if (hidden === 0) text += piece
      continue
    }
    const value = (values[piece.name] ?? '').toWellFormed()
    if (piece.as === 'open') hidden += hidden > 0 || value === '' ? 1 : 0
    else if (piece.as === 'close') hidden -= hidden > 0 ? 1 : 0
    else if (hidden === 0) {
      text += piece.as === 'html' ? escapeHtml(value) : encodeURIComponent(value)
    }
  }
  return text
}

function hashOf(style: string): string {
  return `'sha256-${createHash('sha256').update(style).digest('base64')}'`
}
