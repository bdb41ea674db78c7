import { describe, expect, test } from 'vitest'
import { createLog } from '../../src/log/log.ts'
import { createTextLines } from '../../src/log/log-text.ts'

function textLog(colours = false) {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line), dropped: () => 7 }
  return { lines, log: createLog('info', createTextLines(destination, colours)) }
}

const request = {
  requestId: 'r1',
  method: 'GET',
  path: '/api/v1/orders/7',
  status: 200,
  ms: 3.2,
  caller: '42',
  role: 'clerk',
  outcome: 'passed',
}

describe('a log line for people', () => {
  test('has time, level, message and what belongs to it', () => {
    const { log, lines } = textLog()

    log.warn({ reason: 'it is away', port: 8000, list: [1] }, 'database unreachable')

    expect(lines.join('')).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} WARN {2}database unreachable reason="it is away" port=8000 list=\[1\]\n$/,
    )
  })

  test('says of a request what was called, what came of it, how long it took and for whom', () => {
    const { log, lines } = textLog()

    log.info(request, 'request')

    expect(lines.join('')).toMatch(
      / INFO {2}GET \/api\/v1\/orders\/7 200 passed 3\.2ms 42 requestId=r1 role=clerk\n$/,
    )
  })

  test('says of a decision what came of it, and why', () => {
    const { log, lines } = textLog()

    log.decisions({
      timestamp: '2026-01-02T03:04:05.678Z',
      subject: { user_id: '42', role_key: 'clerk' },
      method: 'GET',
      path: '/x',
      result: 'deny',
      reason: 'no-rule',
    })

    expect(lines).toEqual(['03:04:05.678 INFO  deny GET /x no-rule 42 clerk\n'])
  })

  test('has the stack of a bug on lines of its own', () => {
    const { log, lines } = textLog()

    log.error({ ...request, outcome: 'bug', err: new Error('oh\u001b[2J') }, 'request')

    expect(lines.join('')).toMatch(/\n {4}Error: oh\\u\{1b\}\[2J\n {4}at /)
  })

  test.each([
    ['the escape that clears the screen', '\u001b[2J', '\\u{1b}[2J'],
    ['the same in one character', '\u009b2J', '\\u{9b}2J'],
    ['a line end', 'a\nINFO forged', 'a\\u{a}INFO forged'],
    ['a carriage return', 'a\rb', 'a\\u{d}b'],
    ['what turns text around', 'a\u202eb', 'a\\u{202e}b'],
    ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
  ])('shows %s that a client sends, and does not do it', (_, sent, shown) => {
    const { log, lines } = textLog(true)

    log.info({ ...request, path: sent, role: sent }, 'request')

    const [text = ''] = lines
    expect(text).toContain(`GET ${shown}`)
    expect(withoutColours(text)).toMatch(/^[ -~]+\n$/)
  })

  test('has colours only where they are wanted', () => {
    const [plain, painted] = [textLog(false), textLog(true)]

    plain.log.info(request, 'request')
    painted.log.info(request, 'request')

    expect(plain.lines.join('')).not.toContain('\u001b')
    expect(painted.lines.join('')).toContain('\u001b[32m200 passed\u001b[0m')
  })

  test('is counted when it is dropped', () => {
    expect(textLog().log.dropped()).toBe(7)
  })
})

/** Those that we write ourselves. */
function withoutColours(text: string): string {
  return text.split(/\u001b\[\d+m/).join('')
}
