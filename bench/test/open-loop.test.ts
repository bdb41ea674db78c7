import { once } from 'node:events'
import { type Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { shoot, shootAtOnce, shootAtRate } from '../logins/open-loop.ts'

/** A service that keeps the first call waiting until `others` more have come. */
async function startSlow(others: number) {
  const waiting: (() => void)[] = []
  let seen = 0
  const server = createServer((_, reply) => {
    if (++seen === 1) waiting.push(() => reply.end('late'))
    else reply.end('ok')
    if (seen > others) for (const go of waiting.splice(0)) go()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const shot = { port, method: 'GET', path: '/', headers: {} }
  return { fire: (agent: Agent) => shoot(shot, agent) }
}

describe('load at a rate', () => {
  test('is sent whatever the answers do', async () => {
    const { fire } = await startSlow(19)

    const answers = await shootAtRate(fire, { perSecond: 100, seconds: 0.2 })

    expect(answers.map(({ text }) => text)).toEqual(['late', ...Array(19).fill('ok')])
    const [late = 0, ...others] = answers.map(({ milliseconds }) => milliseconds)
    expect(late).toBeGreaterThan(Math.min(...others))
  })
})

describe('load at once', () => {
  test('never has more under way than it was told', async () => {
    const { fire } = await startSlow(3)
    let [now, most] = [0, 0]

    const answers = await shootAtOnce(
      async (agent) => {
        most = Math.max(most, ++now)
        const answer = await fire(agent)
        now--
        return answer
      },
      { concurrency: 2, seconds: 0.1 },
    )

    expect(most).toBe(2)
    expect(answers.length).toBeGreaterThan(2)
  })
})
