import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ErrorCode } from '../../src/h2/error-codes.ts'
import { goawayFrame, settingsFrame } from '../../src/h2/frames.ts'
import { attack as flood } from '../floods/attack.ts'
import { makeCalls } from '../floods/calls.ts'
import { figuresOf, type Sample, tablesOf } from '../floods/figures.ts'
import { createServers } from '../floods/servers.ts'

async function startServer(begin: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    begin(socket)
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const order = {
  token: 'a',
  connections: 2,
  seconds: 3,
  perSecond: 2000,
  bytesPerSecond: 1e6,
} as const

describe('an attacker', () => {
  test('counts its frames until the server ends the connection, and comes back', async () => {
    const port = await startServer((socket) => {
      let bytes = 0
      socket.write(settingsFrame([]))
      socket.on('data', (chunk) => {
        bytes += chunk.length
        if (bytes > 500) socket.end(goawayFrame(0, ErrorCode.enhanceYourCalm))
      })
    })

    const outcome = await flood({ ...order, kind: 'PING', port })

    expect(Object.keys(outcome.reasons)).toEqual(['GOAWAY enhanceYourCalm'])
    expect(outcome.connections).toBeGreaterThan(2)
    // A PING has 17 bytes.
    expect(outcome.endedAfter).toBeGreaterThan(20)
    expect(outcome.frames).toBeGreaterThan(20 * outcome.ended)
  })

  test('holds what it has, where the flood says so, and sees that nobody ends it', async () => {
    const port = await startServer((socket) => void socket.resume())

    const outcome = await flood({ ...order, kind: 'windows of zero', port })

    // SETTINGS and 100 requests each.
    expect(outcome).toMatchObject({ frames: 202, connections: 2, ended: 0, reasons: {} })
    expect(outcome.endedAfter).toBeUndefined()
  })
})

test('a good client reports calls that a server does not answer', async () => {
  const port = await startServer((socket) => void socket.destroy())

  const outcome = await makeCalls({ port, path: '/', token: 'a', perSecond: 50, seconds: 0.4 })

  expect(outcome.good).toBe(0)
  expect(outcome.milliseconds.length).toBe(20)
  expect(Object.values(outcome.bad).reduce((sum, count) => sum + count, 0)).toBe(20)
})

const calls = (milliseconds: readonly number[], good = milliseconds.length) => ({
  milliseconds,
  good,
  bad: good < milliseconds.length ? { '503': milliseconds.length - good } : {},
})
const sample: Sample = {
  server: 'it',
  kind: 'PING',
  attack: {
    frames: 10_000,
    bytes: 170_000,
    connections: 4,
    ended: 2,
    endedAfter: 1000,
    reasons: { 'GOAWAY enhanceYourCalm': 2 },
  },
  cpuSeconds: 0.02,
  growthBytes: 3e6,
  calm: calls([1, 1, 1, 2]),
  flooded: calls([2, 2, 2, 8], 3),
}

test('figures of a flood are in terms of its frames and of the calm server', () => {
  expect(figuresOf([sample])).toMatchObject({
    cpuMicrosPerFrame: 2,
    growthMb: 3,
    endedAfter: 1000,
    endedShare: 0.5,
    goodShare: 0.75,
    p50Ratio: 2,
    p99Ratio: 4,
    bad: ['503'],
  })
  const attack = { ...sample.attack, endedAfter: undefined }
  const unending = { ...sample, server: 'other', attack }
  const { ends, good } = tablesOf([figuresOf([sample]), figuresOf([unending])])
  expect(ends?.at(1)).toEqual(['PING', '1000, GOAWAY enhanceYourCalm', 'not ended'])
  expect(good?.at(1)?.at(1)).toBe('75 %; 2.0, 4.0')
})

test('the servers are Postern and others, without the forwarder that has no limits', () => {
  const stores = async () => ({ redis: '', database: '' })

  const names = createServers('', stores).map(({ name }) => name.split(',')[0])

  expect(names).toEqual(['Postern', 'nginx', 'Envoy'])
})
