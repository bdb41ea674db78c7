import { parse } from 'bowser'

/** No browser sends more; the limit bounds the cost of a pattern that backtracks. */
const maxChars = 512

/** go-admin's names, where the parser has others. */
const browserNames = new Map([['Microsoft Edge', 'Edge']])
const platforms = new Map([
  ['Windows', 'Windows'],
  ['macOS', 'Macintosh'],
  ['Android', 'Linux'],
  ['Linux', 'X11'],
  ['Chrome OS', 'X11'],
])

/**
 * Reads a User-Agent header into the columns of go-admin's login log. What it does not know is empty;
 * it never throws on a client's text.
 */
export function readUserAgent(userAgent: string) {
  const text = userAgent.slice(0, maxChars)
  // The parser refuses an empty text by throwing.
  if (text.trim() === '') return { browser: '', os: '', platform: '' }
  const { browser, os, platform } = parse(text)
  const name = browser.name ?? ''
  return {
    browser:
      name === '' ? firstProduct(text) : joined(browserNames.get(name) ?? name, browser.version),
    os: joined(os.name, os.name === 'Windows' ? (os.versionName ?? os.version) : os.version),
    platform: platforms.get(os.name ?? '') ?? platform.model ?? '',
  }
}

/** Programs other than browsers name themselves first, such as curl/8.5.0. RFC 9110 10.1.5. */
function firstProduct(text: string): string {
  const [, name, version] = /^([\w.+-]{1,64})\/([\w.+-]{1,64})/.exec(text) ?? []
  return joined(name, version)
}

function joined(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(' ')
}
