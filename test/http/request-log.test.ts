import { expect, test } from 'vitest'
import type { Notes } from '../../src/gateway/arrival/notes.ts'
import type { EndedRequest } from '../../src/http/ended-request.ts'
import { logRequest } from '../../src/http/request-log.ts'
import { Fault } from '../../src/kernel/errors.ts'
import { createLog } from '../../src/log/log.ts'
import type { Decision } from '../../src/policy/engine/decision.ts'
import { createClean, createDescribeError } from '../../src/serve/describe-error.ts'
import type { Caller } from '../../src/token/caller.ts'

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

/** The lines of these requests, one after the other. */
function linesOf(requests: readonly (Partial<EndedRequest> & { readonly notes: Notes })[]) {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  for (const request of requests) {
    logRequest(log, {
      method: 'GET',
      status: 200,
      startedAt: 0,
      endedAt: 1,
      outcome: 'passed',
      error: undefined,
      reason: undefined,
      ...request,
    })
  }
  return lines.map((line) => {
    const { level, time, method, status, ms, msg, ...rest } = JSON.parse(line)
    return rest
  })
}

test('a line says what its own request was, whatever the one before was', () => {
  const rest = { roleId: '3', roleName: 'r', username: 'u', dataScope: '1' }
  const caller = (userId: string, roleKey: string): Caller => ({ userId, roleKey, ...rest })
  const ann = caller('1', 'editor')
  const twin = caller('2', 'editor')
  const role = caller('1', 'a "quoted" röle')
  const rule: Decision = { allowed: true, step: 'rule', revision: 'r-1' }
  const later: Decision = { allowed: true, step: 'rule', revision: 'r-2' }
  const usual = { caller: ann, carrier: 'header', decision: rule, upstream: 'orders' } as const
  const plain = { caller: '1', role: 'editor', carrier: 'header', step: 'rule', revision: 'r-1' }
  const whole = { ...plain, upstream: 'orders', outcome: 'passed' }

  const said = linesOf([
    { notes: { ...usual } },
    { notes: { ...usual } },
    { notes: { ...usual, caller: twin } },
    { notes: { ...usual, carrier: 'cookie' } },
    { notes: { ...usual, decision: later } },
    { notes: { ...usual, upstream: 'bills' } },
    { notes: { ...usual }, outcome: 'cut-by-client' },
    { notes: { ...usual, retries: 2 } },
    { notes: { ...usual, revoked: 'here' } },
    { notes: { ...usual }, outcome: 'not-permitted', reason: 'why' },
    { notes: { ...usual }, outcome: 'upstream-busy', error: new Fault('upstream-busy') },
    { notes: { ...usual, caller: role } },
    { notes: {}, outcome: 'token-missing' },
    { notes: { ...usual } },
  ])

  expect(said).toEqual([
    whole,
    whole,
    { ...whole, caller: '2' },
    { ...whole, carrier: 'cookie' },
    { ...whole, revision: 'r-2' },
    { ...whole, upstream: 'bills' },
    { ...whole, outcome: 'cut-by-client' },
    { ...whole, retries: 2 },
    { ...whole, ended: 'here' },
    { ...whole, outcome: 'not-permitted', reason: 'why' },
    { ...whole, outcome: 'upstream-busy' },
    { ...whole, role: 'a "quoted" röle' },
    { outcome: 'token-missing' },
    whole,
  ])
})
