import { describe, expect, test } from 'vitest'
import { readUserAgent } from '../src/kernel/user-agent.ts'

const webKit = 'AppleWebKit/537.36 (KHTML, like Gecko)'

describe('a user agent', () => {
  test.each([
    [
      `Mozilla/5.0 (X11; Linux x86_64) ${webKit} Chrome/23.0.1271.97 Safari/537.11`,
      ['Chrome 23.0.1271.97', 'Linux', 'X11'],
    ],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/83.0.4103.61 Safari/537.36 Edg/83.0.478.37`,
      ['Edge 83.0.478.37', 'Windows 10', 'Windows'],
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.6; rv:121.0) Gecko/20100101 Firefox/121.0',
      ['Firefox 121.0', 'macOS 10.6', 'Macintosh'],
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 11_3_1 like Mac OS X) AppleWebKit/604.1.34 (KHTML, like Gecko) CriOS/67.0.3396.59 Mobile/15E302 Safari/604.1',
      ['Chrome 67.0.3396.59', 'iOS 11.3.1', 'iPhone'],
    ],
    [
      `Mozilla/5.0 (Linux; Android 4.2.1; Galaxy Nexus Build/JOP40D) ${webKit} Chrome/18.0.1025.166 Mobile Safari/535.19`,
      ['Chrome 18.0.1025.166', 'Android 4.2.1', 'Linux'],
    ],
    ['curl/7.28.1', ['curl 7.28.1', '', '']],
    ['python-requests/2.31.0 extra', ['python-requests 2.31.0', '', '']],
    ['', ['', '', '']],
    [' \t ', ['', '', '']],
    ['__proto__/1', ['__proto__ 1', '', '']],
    ['__proto__/1 extra', ['__proto__ 1', '', '']],
    ['constructor/1 extra', ['constructor 1', '', '']],
    ['<script>alert(1)</script>', ['', '', '']],
  ])('%j is taken apart', (text, [browser, os, platform]) => {
    expect(readUserAgent(text)).toEqual({ browser, os, platform })
  })

  test('of the largest size a header can have is read no further than a browser writes', () => {
    const padded = `curl/8.5.0 ${'x'.repeat(501)} Chrome/99.0 Edg/99.0`

    expect(readUserAgent(padded.padEnd(16_384, 'x')).browser).toBe('curl 8.5.0')
  })

  test.each(['mac os x 1_', '(', ' ', '0.', 'opera ', '_', '; ', 'msie ', '\0', '\ud800'])(
    'that repeats %j is read like any other',
    (piece) => {
      for (const start of ['', 'Mozilla/5.0 (', 'windows ', 'Android ', 'Version/']) {
        const parts = readUserAgent(`${start}${piece.repeat(16_384)}`)

        expect(Object.values(parts).every((part) => part.length <= 512)).toBe(true)
      }
    },
  )
})
