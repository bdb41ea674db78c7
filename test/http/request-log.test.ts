import { expect, test } from 'vitest'
import { Fault } from '../../src/errors.ts'
import { logRequest } from '../../src/http/request-log.ts'
import { createLog } from '../../src/log.ts'
import { createClean, createDescribeError } from '../../src/serve/describe-error.ts'

const secret = 'kV7w-2Qz9_mB4tRxP0sLdY6hJnC8fGuE1aWi'

function lineOf(error: Error, outcome: string, reason: string | undefined) {
  const lines: string[] = []
  const clean = createClean([secret])
  const describe = createDescribeError(clean)
  const log = createLog('info', { write: (line) => void lines.push(line) }, { describe, clean })
  const times = { startedAt: 0, endedAt: 1 }
  logRequest(log, { ...times, method: 'GET', status: 503, notes: {}, outcome, error, reason })
  return lines.join('')
}

test.each([
  ['a fault', new Fault('database'), 'database', `no login with postgres://me:${secret}@db`],
  ['a bug', new Error(`unexpected ${secret}`), 'bug', undefined],
])('the line of %s has no secret of the configuration', (_, error, outcome, reason) => {
  const line = lineOf(error, outcome, reason)

  expect(JSON.parse(line)).toMatchObject({ level: 'error', outcome, msg: 'request' })
  expect(line).toContain('[redacted]')
  expect(line).not.toContain(secret)
})
