import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { forge, tokenOf } from '../../test/support/tokens.ts'
import type { Peer } from './peer.ts'
import { callerRole, createTokens, firstUserId, forbidden, permitted } from './rules.ts'

interface Answer {
  readonly status: number
  readonly text: string
}

/** What the upstream says it has got. */
interface Arrived {
  readonly user: string
  readonly role: string
  readonly scope: string
  readonly credentials: string
  readonly path: string
}

/**
 * Shows that a peer does what it is measured for: the call arrives, and at one that checks it
 * arrives with the caller's identity, whatever the client claimed, and nothing else arrives. Throws
 * with what is not so.
 */
export async function prove(peer: Peer, port: number, tls: boolean): Promise<void> {
  const ask = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    askOnce({ port, tls, path, headers })
  const [token = ''] = createTokens(1)
  const bearer = (text: string) => ({ Authorization: `Bearer ${text}` })
  const seen = arrived(peer, await ask(permitted.one, { ...bearer(token), 'X-User-Id': '1' }))
  expect(peer, seen.path === permitted.one, `another path arrives: ${seen.path}`)
  if (peer.kind === 'plain') return

  expect(peer, seen.user === firstUserId, `the user arrives as ${seen.user}`)
  expect(peer, seen.role === callerRole, `the role arrives as ${seen.role}`)
  expect(peer, seen.scope === '3', `the data scope arrives as ${seen.scope}`)
  expect(peer, seen.credentials === 'no', 'the token arrives at the upstream')
  const refused = {
    'no token': await ask(permitted.one),
    'a token of another key': await ask(permitted.one, bearer(forge({ secret: 'x'.repeat(40) }))),
    'an expired token': await ask(permitted.one, bearer(tokenOf(callerRole, { exp: 1 }))),
    'a role without that rule': await ask(permitted.one, bearer(tokenOf('role-none'))),
    'a path without a rule': await ask(forbidden, bearer(token)),
  }
  for (const [what, answer] of Object.entries(refused)) {
    expect(peer, !answer.text.includes('"path"'), `${what} is let through`)
    const refusal =
      answer.status === 401 || answer.status === 403 || /"code":40[13]/.test(answer.text)
    expect(peer, refusal, `${what} is answered with ${answer.status} ${answer.text.slice(0, 80)}`)
  }
}

function arrived(peer: Peer, { status, text }: Answer): Arrived {
  expect(peer, status === 200 && text.includes('"path"'), `a call ends with ${status} ${text}`)
  return JSON.parse(text)
}

function expect({ title }: Peer, holds: boolean, complaint: string): void {
  if (!holds) throw new Error(`${title} does not do its job: ${complaint}`)
}

interface Question {
  readonly port: number
  readonly tls: boolean
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

function askOnce({ port, tls, path, headers }: Question): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const make = tls ? secureRequest : plainRequest
    // The certificate is of this run; whether it is trusted is not what is shown here.
    const options = { host: '127.0.0.1', port, path, headers, rejectUnauthorized: false }
    const sent = make({ ...options, timeout: 15_000, agent: false }, (answer) => {
      let text = ''
      answer.on('data', (chunk) => {
        text += chunk
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
      answer.on('error', reject)
    })
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')))
    sent.on('error', reject)
    sent.end()
  })
}
